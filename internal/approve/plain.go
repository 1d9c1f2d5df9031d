package approve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/approve/view"
	"github.com/clawai/clawai/internal/term"
)

// plainFacts is how many lines are shown at once where nothing scrolls.
const plainFacts = 40

// askPlain shows the page as plain text and reads one typed word: for terminals
// that cannot move the cursor and for screen readers. Anything but the full word
// of a choice denies. a form's own accessible mode is not used: it takes end of
// file for the preset answer and knows no deadline.
func askPlain(ctx context.Context, tty *term.Tty, p page, grace time.Duration) (string, error) {
	width, _, err := tty.Size()
	if err != nil || width < minWidth {
		width = 0
	}
	rest, need := p.facts(width)
	var sight view.Sight
	for all := len(rest); ; {
		if err := tty.Recheck(); err != nil {
			return "", err
		}
		var shown []string
		shown, rest = cut(rest, plainFacts)
		sight.See(all-len(rest), need)
		if err := writePlain(tty, p, shown, len(rest)); err != nil {
			return "", errors.Join(term.ErrHungUp, err)
		}
		if err := settle(ctx, tty, grace); err != nil {
			return "", err
		}
		if _, err := io.WriteString(tty, "> "); err != nil {
			return "", errors.Join(term.ErrHungUp, err)
		}
		line, err := tty.ReadLine(ctx)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return "", cause
			}
			return "", err
		}
		if line == wordMore && len(rest) > 0 {
			continue
		}
		if p.lets(line) && !sight.End() {
			if _, err := io.WriteString(tty, "Nothing was answered: read on first.\n"); err != nil {
				return "", errors.Join(term.ErrHungUp, err)
			}
			continue
		}
		return word(p, line), nil
	}
}

// settle waits, and then throws away what was typed before the question could
// be read.
func settle(ctx context.Context, tty *term.Tty, grace time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(grace):
		return tty.Flush()
	}
}

func cut(lines []string, n int) (head, tail []string) {
	n = min(n, len(lines))
	return lines[:n], lines[n:]
}

func writePlain(w io.Writer, p page, facts []string, hidden int) error {
	var b strings.Builder
	b.WriteByte('\n')
	for _, line := range facts {
		b.WriteString(line + "\n")
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "%d more lines are not shown yet; type %q for them\n", hidden, wordMore)
	}
	b.WriteString(p.decision + " Type one word and press Return:\n")
	for _, c := range p.choices {
		fmt.Fprintf(&b, "  %-8s %s\n", c.word, c.label)
	}
	b.WriteString("Anything else denies. " + p.footer + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// word is the choice a typed line names; the first one, deny, if it names none.
func word(p page, line string) string {
	for _, c := range p.choices {
		if line == c.word {
			return c.word
		}
	}
	return p.choices[0].word
}
