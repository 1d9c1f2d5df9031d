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
	// atOnce is how many lines are shown before the person must ask for more.
	atOnce = 40
	// more is the word that asks for more.
	more = "more"
)

// Lines asks on a terminal that prints line after line: for terminals that cannot move the
// cursor, for screen readers, and for input that is no terminal. huh's own accessible mode is not
// used, because it takes end of file for the preset answer and has no deadline.
type Lines struct {
	Out     io.Writer
	In      func(ctx context.Context) (string, error) // reads a line
	Flush   func() error                              // discards unread input
	Recheck func() error                              // checks that output is allowed; nil: it always is
	Width   int                                       // facts are wrapped to this width; 0: no wrap
	Grace   time.Duration                             // input typed within this time after the question is shown is discarded
	Again   bool                                      // an invalid choice asks again; otherwise it denies
}

// Ask shows p and returns the typed word of a choice. Return alone is the first choice. An
// invalid or unavailable choice also is the first choice, or asks again.
func (l *Lines) Ask(ctx context.Context, p *Page) (string, error) {
	var rest []string
	need := 0
	if p.Facts != nil {
		rest, need = p.Facts(l.Width)
	}
	var sight view.Sight
	var said string // reply to the last input
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

// Read reads one line that was typed after the person could read the question.
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
