package view

import (
	"unicode"

	"golang.org/x/text/width"
)

// Continued begins a row that continues the line above it. The text after it belongs to the line,
// so that a blank at the end of a row stays visible.
const Continued = "    ↳"

// Wrap splits harmless lines into rows of at most cells cells; 0 splits nothing. Words stay whole
// if a row has a blank in its last two thirds. A continuation row begins with a mark, so that a
// reader does not take it for a separate line; the rows without marks are the original line.
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

// rowEnd returns the end of a row of at most cells cells: before the last blank in its last two
// thirds if it would cut a word, and inside an escape only if the escape is wider than the row.
func rowEnd(line string, cells int) int {
	used, end, blank := 0, 0, 0
	for unit := range textUnits(line) {
		w := Width(unit)
		switch {
		case used+w <= cells:
		case end == 0:
			return cells // an escape, which is ASCII
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

// Cells returns the number of terminal cells of a character of harmless text.
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

// Width returns the number of terminal cells of harmless text.
func Width(s string) (n int) {
	for _, r := range s {
		n += Cells(r)
	}
	return n
}

// Cut removes the end of harmless text of more than n cells, and marks the cut.
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
