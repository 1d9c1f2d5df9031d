package view

import (
	"unicode"

	"golang.org/x/text/width"
)

// Continued begins a row that continues the line above it. All characters after it belong to the
// line, so a blank at the end of a row is also visible.
const Continued = "    ↳"

// Wrap splits lines without control characters into rows of at most cells cells; 0 splits nothing. A word stays whole
// if the row has a blank in its last two thirds. A continued row begins with Continued, so that a
// reader does not take it for a new line. Without these marks, the rows together are the original
// line.
func Wrap(lines []string, cells int) []string {
	if cells <= 0 {
		return lines
	}
	cells = max(cells, Width(Continued)+3) // leave room for a few characters after Continued
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

// rowEnd returns the end of the next row of at most cells cells. To keep a word whole, the row ends
// before the last blank in its last two thirds. An escape stays whole unless it is wider than the
// row.
func rowEnd(line string, cells int) int {
	used, end, blank := 0, 0, 0
	for unit := range textUnits(line) {
		w := Width(unit)
		switch {
		case used+w <= cells:
		case end == 0:
			return cells // the row ends inside an escape, which is ASCII: one cell for each byte
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

// Cut shortens harmless text to at most n cells. It marks the place where text was cut.
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
