package view

import (
	"unicode"

	"golang.org/x/text/width"
)

// Continued begins a row that goes on with the line above it. What stands behind it is
// the line's own text, so that a blank at which a row ended is still to be seen.
const Continued = "    ↳"

// Wrap cuts harmless lines into rows of at most cells cells; 0 cuts nothing. Words stay
// whole where a row has a blank in its last two thirds. What is cut off goes on behind a
// mark, so that it is not taken for a line of its own, and rows without their marks are
// the line again.
func Wrap(lines []string, cells int) []string {
	if cells <= 0 {
		return lines
	}
	cells = max(cells, Width(Continued)+3) // room for a few characters
	var rows []string
	for _, line := range lines {
		mark := ""
		for {
			end := rowEnd(line, cells-Width(mark))
			rows = append(rows, mark+line[:end])
			if line = line[end:]; line == "" {
				break
			}
			mark = Continued
		}
	}
	return rows
}

// rowEnd gives where a row of at most cells cells ends: before the last blank of its last
// two thirds if a word would be cut, and within an escape only if that is wider than the row.
func rowEnd(line string, cells int) int {
	used, end, blank := 0, 0, 0
	for unit := range textUnits(line) {
		w := Width(unit)
		switch {
		case used+w <= cells:
		case end == 0:
			return cells // an escape: ASCII
		case unit != " " && blank > 0:
			return blank
		default:
			return end
		}
		if unit == " " && used > cells/3 {
			blank = end
		}
		used += w
		end += len(unit)
	}
	return len(line)
}

// Cells is how many cells of a terminal a character of harmless text takes.
func Cells(r rune) int {
	switch {
	case r < 0x80:
		return 1
	case unicode.Is(unicode.M, r) && !unicode.Is(unicode.Mc, r):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Width is how many cells harmless text takes.
func Width(s string) (n int) {
	for _, r := range s {
		n += Cells(r)
	}
	return n
}

// Cut takes away the end of harmless text of more than n cells, and shows that it did.
func Cut(s string, n int) string {
	if Width(s) <= n {
		return s
	}
	used := 0
	for i, r := range s {
		if used += Cells(r); used >= n {
			return s[:i] + "…"
		}
	}
	return s
}
