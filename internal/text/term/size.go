package term

import (
	"io"
	"os"

	xterm "golang.org/x/term"
)

// ScreenSize returns the number of columns and lines of w, or zeros if w is not a terminal.
func ScreenSize(w io.Writer) (width, height int) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, 0
	}
	width, height, err := xterm.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}
