package ask

import (
	"context"
	"time"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/text/term"
)

// askPlain shows the page line by line and reads the word of a choice. All other input denies.
func askPlain(ctx context.Context, tty *term.Tty, p dialog.Page, grace time.Duration) (string, error) {
	width, _, err := tty.Size()
	if err != nil || width < dialog.MinWidth {
		width = 0
	}
	l := dialog.Lines{Out: tty, In: tty.ReadLine, Flush: tty.Flush, Recheck: tty.Recheck, Width: width, Grace: grace}
	return l.Ask(ctx, &p)
}
