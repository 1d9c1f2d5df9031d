// Package termtest is a terminal for tests. It supports only the sequences that clawai's screens
// may use, and reports all others as problems.
package termtest

import (
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
)

// Emulator is a terminal. Its cells contain the characters that a person would see. It reports a
// problem for each title, clipboard access, query, mode or style that is not allowed. Several
// goroutines may use it at the same time.
type Emulator struct {
	Colors   bool // colors of text are allowed
	mu       sync.Mutex
	rows     int
	cols     int
	cells    [][]rune
	looks    [][]Look // looks of the cells
	look     Look     // look of the next character
	x, y     int
	alt      bool
	insert   bool
	main     [][]rune
	mainLook [][]Look
	mainX    int
	mainY    int
	partial  []byte
	problems []string
	changed  chan struct{}
	top      int // first row of the scrolling region
	bottom   int
	styles   map[string]bool
	modes    map[string]bool // modes that a shell does not expect at the end
}

// New returns a terminal with an empty screen.
func New(rows, cols int) *Emulator {
	e := &Emulator{rows: rows, cols: cols, styles: map[string]bool{}, modes: map[string]bool{}, changed: make(chan struct{})}
	e.cells, e.looks, e.bottom = blank(rows, cols), plain(rows, cols), rows
	return e
}

// Styled reports whether the output has used a style. p is a parameter of the sequence SGR.
func (e *Emulator) Styled(p string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.styles[p]
}

func blank(rows, cols int) [][]rune {
	cells := make([][]rune, rows)
	for i := range cells {
		cells[i] = []rune(strings.Repeat(" ", cols))
	}
	return cells
}

// Resize changes the size of the screen. It keeps the content that still fits.
func (e *Emulator) Resize(rows, cols int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	next, looks := blank(rows, cols), plain(rows, cols)
	for i := range min(rows, e.rows) {
		copy(next[i], e.cells[i])
		copy(looks[i], e.looks[i])
	}
	e.rows, e.cols, e.cells, e.looks = rows, cols, next, looks
	e.top, e.bottom = 0, rows
	e.x, e.y = min(e.x, cols-1), min(e.y, rows-1)
}

// Text returns the rows as lines, without spaces at their ends.
func (e *Emulator) Text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.textLocked()
}

func (e *Emulator) textLocked() string {
	var b strings.Builder
	for _, row := range e.cells {
		b.WriteString(strings.TrimRight(strings.ReplaceAll(string(row), "\x00", ""), " ") + "\n")
	}
	return b.String()
}

// Wait waits until the function seen returns true for the screen's text. It returns false if this
// does not happen within the limit.
func (e *Emulator) Wait(limit time.Duration, seen func(string) bool) bool {
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

// Complaint returns an error with all problems so far. It is also a problem if the alternate screen
// is still on or the cursor is hidden.
func (e *Emulator) Complaint() error {
	// The last output of a process may arrive late.
	e.Wait(5*time.Second, func(string) bool { return !e.alt && len(e.modes) == 0 })
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.alt {
		e.problems = append(e.problems, "left on the alternate screen")
	}
	for m := range e.modes {
		e.problems = append(e.problems, "left with mode "+m+" changed")
	}
	if len(e.problems) > 0 {
		return fmt.Errorf("terminal: %s", strings.Join(e.problems, "; "))
	}
	return nil
}

// HangUp imitates a lost connection. After that, Complaint does not check the alternate screen and
// the modes.
func (e *Emulator) HangUp() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.alt = false
	clear(e.modes)
}

// Write draws the output p on the screen.
func (e *Emulator) Write(p []byte) {
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

// step handles the first character or sequence in p, and returns its length in bytes. It returns 0
// if the sequence is incomplete.
func (e *Emulator) step(p []byte) int {
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

func (e *Emulator) put(r rune) {
	w := lipgloss.Width(string(r))
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
		copy(e.looks[e.y][e.x+w:], e.looks[e.y][e.x:])
	}
	e.cells[e.y][e.x], e.looks[e.y][e.x] = r, e.look
	if w == 2 {
		e.cells[e.y][e.x+1], e.looks[e.y][e.x+1] = 0, e.look
	}
	e.x += w
}

func (e *Emulator) lineFeed() {
	switch {
	case e.y == e.bottom-1:
		e.scroll(e.top, 1)
	case e.y < e.rows-1:
		e.y++
	}
}

func (e *Emulator) reverseLineFeed() {
	if e.y == e.top {
		e.scroll(e.top, -1)
		return
	}
	e.y = max(0, e.y-1)
}

// scroll moves rows up by n rows: all rows from the index `from` to the end of the scrolling
// region. If n is negative, it moves them down.
func (e *Emulator) scroll(from, n int) {
	roll(e.cells[from:e.bottom], n, func() []rune { return blank(1, e.cols)[0] })
	roll(e.looks[from:e.bottom], n, func() []Look { return plain(1, e.cols)[0] })
}

func roll[T any](region []T, n int, fresh func() T) {
	for ; n > 0; n-- {
		copy(region, region[1:])
		region[len(region)-1] = fresh()
	}
	for ; n < 0; n++ {
		copy(region[1:], region)
		region[0] = fresh()
	}
}
