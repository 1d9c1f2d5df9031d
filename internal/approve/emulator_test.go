//go:build linux || darwin

package approve

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// emulator is a terminal that can do the little a question may use and
// complains about everything else: a title, a clipboard, a query, a mode that
// is not on its list. What a person would see is its cells.
type emulator struct {
	mu       sync.Mutex
	rows     int
	cols     int
	cells    [][]rune
	x, y     int
	alt      bool
	insert   bool
	main     [][]rune
	mainX    int
	mainY    int
	partial  []byte
	problems []string
	changed  chan struct{}
}

func newEmulator(rows, cols int) *emulator {
	e := &emulator{rows: rows, cols: cols, changed: make(chan struct{})}
	e.cells = blank(rows, cols)
	return e
}

func blank(rows, cols int) [][]rune {
	cells := make([][]rune, rows)
	for i := range cells {
		cells[i] = []rune(strings.Repeat(" ", cols))
	}
	return cells
}

func (e *emulator) resize(rows, cols int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	next := blank(rows, cols)
	for i := range min(rows, e.rows) {
		copy(next[i], e.cells[i])
	}
	e.rows, e.cols, e.cells = rows, cols, next
	e.x, e.y = min(e.x, cols-1), min(e.y, rows-1)
}

func (e *emulator) text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.textLocked()
}

func (e *emulator) textLocked() string {
	var b strings.Builder
	for _, row := range e.cells {
		b.WriteString(strings.TrimRight(strings.ReplaceAll(string(row), "\x00", ""), " ") + "\n")
	}
	return b.String()
}

// wait returns true as soon as the screen satisfies seen.
func (e *emulator) wait(limit time.Duration, seen func(string) bool) bool {
	end := time.After(limit)
	for {
		e.mu.Lock()
		ok, changed := seen(e.textLocked()), e.changed
		e.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-changed:
		case <-end:
			return false
		}
	}
}

// complaint is what the question did that it must not do.
func (e *emulator) complaint() error {
	// What the process wrote last may still be on its way.
	e.wait(5*time.Second, func(string) bool { return !e.alt })
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.alt {
		e.problems = append(e.problems, "left on the alternate screen")
	}
	if len(e.problems) > 0 {
		return fmt.Errorf("terminal: %s", strings.Join(e.problems, "; "))
	}
	return nil
}

// gone is a terminal that nobody can leave in order.
func (e *emulator) gone() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.alt = false
}

func (e *emulator) Write(p []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.partial = append(e.partial, p...)
	for len(e.partial) > 0 {
		n := e.step(e.partial)
		if n == 0 {
			break
		}
		e.partial = e.partial[n:]
	}
	close(e.changed)
	e.changed = make(chan struct{})
}

// step takes one character or sequence; 0 when it is not complete yet.
func (e *emulator) step(p []byte) int {
	switch c := p[0]; {
	case c == 0x1b:
		return e.escape(p)
	case c == '\r':
		e.x = 0
	case c == '\n':
		e.lineFeed()
	case c == '\b':
		e.x = max(0, e.x-1)
	case c == 0x07:
		e.problems = append(e.problems, "bell")
	case c == '\t':
		e.x = min(e.cols-1, (e.x/8+1)*8)
	case c < 0x20 || c == 0x7f:
		e.problems = append(e.problems, fmt.Sprintf("control %#x", c))
	default:
		if !utf8.FullRune(p) {
			return 0
		}
		r, n := utf8.DecodeRune(p)
		e.put(r)
		return n
	}
	return 1
}

func (e *emulator) put(r rune) {
	w := cells(r)
	if w == 0 || r == utf8.RuneError || !unicode.IsGraphic(r) {
		e.problems = append(e.problems, fmt.Sprintf("character %U", r))
		return
	}
	if e.x+w > e.cols {
		e.x = 0
		e.lineFeed()
	}
	if e.insert {
		copy(e.cells[e.y][e.x+w:], e.cells[e.y][e.x:])
	}
	e.cells[e.y][e.x] = r
	if w == 2 {
		e.cells[e.y][e.x+1] = 0
	}
	e.x += w
}

func (e *emulator) lineFeed() {
	if e.y < e.rows-1 {
		e.y++
		return
	}
	e.cells = append(e.cells[1:], []rune(strings.Repeat(" ", e.cols)))
}

func (e *emulator) escape(p []byte) int {
	if len(p) < 2 {
		return 0
	}
	if p[1] != '[' {
		e.problems = append(e.problems, fmt.Sprintf("escape %q", p[:min(len(p), 20)]))
		return 2
	}
	for i := 2; i < len(p); i++ {
		if p[i] >= 0x40 && p[i] <= 0x7e {
			e.csi(string(p[2:i]), p[i])
			return i + 1
		}
	}
	return 0
}

func (e *emulator) csi(params string, final byte) {
	if strings.HasPrefix(params, "?") && (final == 'h' || final == 'l') {
		e.mode(params[1:], final == 'h')
		return
	}
	if strings.Trim(params, "0123456789;") != "" {
		e.problems = append(e.problems, fmt.Sprintf("sequence CSI %s%c", params, final))
		return
	}
	var args [2]int
	for i, a := range strings.SplitN(params, ";", 2) {
		args[i], _ = strconv.Atoi(a)
	}
	n := max(1, args[0])
	switch final {
	case 'A':
		e.y = max(0, e.y-n)
	case 'B':
		e.y = min(e.rows-1, e.y+n)
	case 'C':
		e.x = min(e.cols-1, e.x+n)
	case 'D':
		e.x = max(0, e.x-n)
	case 'H':
		e.y, e.x = min(e.rows, n)-1, min(e.cols, max(1, args[1]))-1
	case 'J':
		e.erase(args[0])
	case 'K':
		e.eraseLine(args[0])
	case 'm': // bold and its end; colour would show here
		if params != "" && params != "0" && params != "1" && params != "22" {
			e.problems = append(e.problems, "style "+params)
		}
	default:
		if params == "4" && (final == 'h' || final == 'l') {
			e.insert = final == 'h'
			return
		}
		e.problems = append(e.problems, fmt.Sprintf("sequence CSI %s%c", params, final))
	}
}

func (e *emulator) mode(m string, on bool) {
	switch m {
	case "25", "2004", "7": // cursor, bracketed paste, wrap
	case "1049":
		if on && !e.alt {
			e.main, e.mainX, e.mainY = e.cells, e.x, e.y
			e.cells = blank(e.rows, e.cols)
		}
		if !on && e.alt {
			e.cells, e.x, e.y = e.main, e.mainX, e.mainY
		}
		e.alt = on
	default:
		e.problems = append(e.problems, "mode "+m)
	}
}

func (e *emulator) erase(how int) {
	e.eraseLine(how)
	for i := range e.cells {
		if how == 2 || how == 0 && i > e.y || how == 1 && i < e.y {
			e.cells[i] = []rune(strings.Repeat(" ", e.cols))
		}
	}
}

func (e *emulator) eraseLine(how int) {
	for i := range e.cells[e.y] {
		if how == 2 || how == 0 && i >= e.x || how == 1 && i <= e.x {
			e.cells[e.y][i] = ' '
		}
	}
}
