package approve

import (
	"context"
	"time"

	"github.com/clawai/clawai/internal/approve/screen"
	"github.com/clawai/clawai/internal/term"
)

// askPlain shows the page line by line and reads one typed word. Anything but the
// full word of a choice denies.
func askPlain(ctx context.Context, tty *term.Tty, p screen.Page, grace time.Duration) (string, error) {
	width, _, err := tty.Size()
	if err != nil || width < screen.MinWidth {
		width = 0
	}
	l := screen.Lines{Out: tty, In: tty.ReadLine, Flush: tty.Flush, Recheck: tty.Recheck, Width: width, Grace: grace}
	return l.Ask(ctx, &p)
}
