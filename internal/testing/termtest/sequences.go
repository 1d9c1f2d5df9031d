package termtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func (e *Emulator) escape(p []byte) int {
	if len(p) < 2 {
		return 0
	}
	if p[1] == 'M' {
		e.reverseLineFeed()
		return 2
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

func (e *Emulator) csi(params string, final byte) {
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
	case 'r':
		e.top, e.bottom = n-1, e.rows
		if args[1] > 0 {
			e.bottom = min(args[1], e.rows)
		}
		e.x, e.y = 0, 0
	case 'L':
		e.scroll(e.y, -n)
	case 'M':
		e.scroll(e.y, n)
	case 'S':
		e.scroll(e.top, n)
	case 'T':
		e.scroll(e.top, -n)
	case 'P', '@':
		e.shift(n, final == '@')
	case 'm':
		e.style(params)
	default:
		if params == "4" && (final == 'h' || final == 'l') {
			e.insert = final == 'h'
			return
		}
		e.problems = append(e.problems, fmt.Sprintf("sequence CSI %s%c", params, final))
	}
}

// shift removes n characters at the cursor from its row. If the parameter `in` is true, it inserts n
// spaces instead.
func (e *Emulator) shift(n int, in bool) {
	shift(e.cells[e.y][e.x:], n, in, ' ')
	shift(e.looks[e.y][e.x:], n, in, Look{})
}

func shift[T any](row []T, n int, in bool, none T) {
	gap := slices.Repeat([]T{none}, min(n, len(row)))
	if in {
		copy(row, append(gap, row...))
		return
	}
	copy(row, append(row[len(gap):len(row):len(row)], gap...))
}

func (e *Emulator) mode(m string, on bool) {
	switch m {
	case "25", "2004", "7": // cursor, bracketed paste, line wrap
		if delete(e.modes, m); on == (m == "2004") {
			e.modes[m] = true
		}
	case "1049":
		if on && !e.alt {
			e.main, e.mainLook, e.mainX, e.mainY = e.cells, e.looks, e.x, e.y
			e.cells, e.looks = blank(e.rows, e.cols), plain(e.rows, e.cols)
		}
		if !on && e.alt {
			e.cells, e.looks, e.x, e.y = e.main, e.mainLook, e.mainX, e.mainY
		}
		e.alt = on
	default:
		e.problems = append(e.problems, "mode "+m)
	}
}

func (e *Emulator) erase(how int) {
	e.eraseLine(how)
	for i := range e.cells {
		if how == 2 || how == 0 && i > e.y || how == 1 && i < e.y {
			e.cells[i], e.looks[i] = blank(1, e.cols)[0], plain(1, e.cols)[0]
		}
	}
}

func (e *Emulator) eraseLine(how int) {
	for i := range e.cells[e.y] {
		if how == 2 || how == 0 && i >= e.x || how == 1 && i <= e.x {
			e.cells[e.y][i], e.looks[e.y][i] = ' ', Look{}
		}
	}
}
