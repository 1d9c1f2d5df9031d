package view

import (
	"unicode"

	"golang.org/x/text/width"
)

// continued begins a row that goes on with the line above it.
const continued = "    ↳ "

// Wrap cuts harmless lines into rows of at most cells cells; 0 cuts nothing. What is
// cut off goes on behind a mark, so that it is not taken for a line of its own.
func Wrap(lines []string, cells int) []string {
	if cells <= 0 {
		return lines
	}
	cells = max(cells, len(continued)) // and room for a few characters
	var rows []string
	for _, line := range lines {
		start, used := 0, 0
		mark := ""
		for i, r := range line {
			w := Cells(r)
			if used+w > cells {
				rows = append(rows, mark+line[start:i])
				mark, start, used = continued, i, 6
			}
			used += w
		}
		rows = append(rows, mark+line[start:])
	}
	return rows
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
