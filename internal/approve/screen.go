package approve

import (
	"context"
	"io"
	"regexp"
	"strings"
	"sync"

	"charm.land/lipgloss/v2"
)

// environment is what bubbletea knows of ours: a terminal that can do the little
// that all of them can, and no colours, whose number it would look up by
// starting "tmux info".
func environment() []string { return []string{"TERM=vt100", "NO_COLOR=1"} }

// chatter is what bubbletea writes beside the picture: questions to the
// terminal, whose answers would reach the program behind us when we end first,
// and keyboard modes that a killed process would leave behind.
var chatter = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b\[(\?[0-9;]*\$p|\?u|[=>][0-9;]*[um])`)
})

// screen is the terminal as bubbletea's output. It is no file to bubbletea
// either, which would look up its size from a goroutine that nobody waits for.
type screen struct{ w io.Writer }

func (s *screen) Write(p []byte) (int, error) {
	if _, err := s.w.Write(chatter().ReplaceAll(p, nil)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// keyboard is the terminal as bubbletea's input. It is not given as a file, for
// bubbletea's way of cancelling a read leaves a goroutine behind. When the
// terminal hangs up, bubbletea would wait on; this ends the question.
type keyboard struct {
	read    func(p []byte) (int, error) // ends with the question
	end     context.CancelCauseFunc
	reading sync.Mutex
}

func (k *keyboard) Read(p []byte) (int, error) {
	k.reading.Lock()
	defer k.reading.Unlock()
	n, err := k.read(p)
	if err == nil {
		return n, nil
	}
	k.end(err)
	return 0, io.EOF
}

// stop returns when nothing reads the terminal any more.
func (k *keyboard) stop() {
	k.end(nil)
	k.reading.Lock()
	defer k.reading.Unlock()
}

// wrap cuts lines into rows of at most width cells. What is cut off goes on
// indented behind a mark, so that it is not taken for a line of its own. Width 0 cuts nothing.
func wrap(lines []string, width int) []string {
	const mark = "    ↳ "
	var rows []string
	for _, line := range lines {
		row, used := strings.Builder{}, 0
		for _, r := range line {
			w := cells(r)
			if width > 0 && used+w > width {
				rows = append(rows, row.String())
				row.Reset()
				row.WriteString(mark)
				used = lipgloss.Width(mark)
			}
			row.WriteRune(r)
			used += w
		}
		rows = append(rows, row.String())
	}
	return rows
}

// clip cuts one line of our own text to the width.
func clip(s string, width int) string { return wrap([]string{s}, width)[0] }

// cells is the width of one character on the screen.
func cells(r rune) int {
	if r < 0x80 {
		return 1
	}
	return lipgloss.Width(string(r))
}
