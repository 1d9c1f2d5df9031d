package program

import (
	"bytes"
	"io"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/text/term"
)

// prose writes what people read: on a terminal it breaks long lines at spaces, as clawai does. For
// other programs it changes no line, and what only they read goes to w.
type prose struct {
	w     io.Writer
	width int    // columns of a line; 0 if w is not a terminal
	rest  []byte // the start of a line whose end is not written yet
}

// newProse returns a writer to w. The caller calls finishLine at the end.
func newProse(w io.Writer) *prose {
	width, _ := term.ScreenSize(w)
	return &prose{w: w, width: width}
}

func (p *prose) Write(text []byte) (int, error) {
	p.rest = append(p.rest, text...)
	end := bytes.LastIndexByte(p.rest, '\n') + 1
	lines := view.FoldLines(string(p.rest[:end]), p.width)
	p.rest = p.rest[end:]
	if _, err := io.WriteString(p.w, lines); err != nil {
		return 0, err
	}
	return len(text), nil
}

// finishLine writes what came after the last line.
func (p *prose) finishLine() error {
	_, err := io.WriteString(p.w, view.FoldLines(string(p.rest), p.width))
	p.rest = nil
	return err
}
