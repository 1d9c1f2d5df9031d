package dialog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/text/term"
)

const (
	// atOnce is how many lines of facts are printed before the person must type "more".
	atOnce = 40
	// more is the word that the person types to see more lines.
	more = "more"
)

// Lines asks on a terminal that prints line after line. It works on simple terminals, with screen
// readers, and with input that is no terminal. It replaces the accessible mode of huh, which has no
// deadline and treats the end of the input as the selected answer.
type Lines struct {
	Out     io.Writer
	In      func(ctx context.Context) (string, error) // reads a line
	Flush   func() error                              // discards input that was not read yet
	Recheck func() error                              // checks that we may write to the terminal; nil: always
	Width   int                                       // facts are wrapped to this width, in cells; 0: they are not wrapped
	Grace   time.Duration                             // input that is typed within this time after the question appears is discarded
	Again   bool                                      // ask again after an invalid choice; false: an invalid choice denies
}

// Ask shows p and returns the word of the choice that the person typed. An empty line stands for
// the first choice. After an invalid or unavailable choice, Ask asks again if Again is set, and
// otherwise returns the first choice.
func (l *Lines) Ask(ctx context.Context, p *Page) (string, error) {
	var rest []string
	need := 0
	if p.Facts != nil {
		rest, need = p.Facts(l.Width)
	}
	var sight view.Sight
	var said string // our message about the last input
	for all, n := len(rest), min(atOnce, len(rest)); ; {
		shown := rest[:n]
		rest, n = rest[n:], 0
		sight.NoteVisible(all-len(rest), need)
		if err := l.writePage(p, said, shown, len(rest)); err != nil {
			return "", err
		}
		line, err := l.Read(ctx, "> ")
		if err != nil {
			return "", err
		}
		said = ""
		c := p.findChoice(func(c *Choice) bool { return c.Word == line })
		switch {
		case line == more && len(rest) > 0:
			n = min(atOnce, len(rest))
		case c != nil && c.Closed == "" && c.Lets && !sight.SawEnd():
			n, said = min(atOnce, len(rest)), "Nothing was answered: read to the end first. Here are the next lines:"
		case c != nil && c.Closed == "":
			return c.Word, nil
		case !l.Again || line == "":
			return p.Choices[0].Word, nil
		case c != nil:
			said = "Nothing was answered: " + c.Closed + "."
		default:
			said = term.VisibleValue(line) + " is not an answer; nothing was answered."
		}
	}
}

func (l *Lines) writePage(p *Page, said string, facts []string, hidden int) error {
	if l.Recheck != nil {
		if err := l.Recheck(); err != nil {
			return err
		}
	}
	var b strings.Builder
	b.WriteString(said + "\n")
	for _, line := range facts {
		b.WriteString(line + "\n")
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "%d more lines are not shown yet; type %q for them\n", hidden, more)
	}
	b.WriteString(p.Decision + " Type one word and press Return:\n")
	for _, list := range [][]Choice{offeredChoices(p.Choices), offeredChoices(p.Others)} {
		for _, c := range list {
			fmt.Fprintf(&b, "  %-8s %s\n", c.Word, c.Label)
		}
	}
	rest := "Anything else"
	if l.Again {
		rest = "Return alone"
	}
	for _, hint := range append([]string{rest + ": " + p.Choices[0].Brief}, p.Hints...) {
		b.WriteString(strings.ToUpper(hint[:1]) + hint[1:] + ". ")
	}
	b.WriteString("\n")
	if _, err := io.WriteString(l.Out, b.String()); err != nil {
		return errors.Join(term.ErrHungUp, err)
	}
	return nil
}

// Read reads one line. It ignores input that was typed before the person could read the question.
func (l *Lines) Read(ctx context.Context, prompt string) (string, error) {
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case <-time.After(l.Grace):
	}
	if err := l.Flush(); err != nil {
		return "", err
	}
	if _, err := io.WriteString(l.Out, prompt); err != nil {
		return "", errors.Join(term.ErrHungUp, err)
	}
	line, err := l.In(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	return line, err
}
