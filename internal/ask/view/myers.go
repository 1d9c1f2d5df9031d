package view

import "slices"

// maxSteps is the number of differing lines after which the comparison gives up. The time grows
// with the square of this number.
const maxSteps = 1000

// edit is one line in the result of a comparison.
type edit struct {
	op   byte // '+', '-' or ' '
	line string
}

// compareLines returns the lines of a and b in one list. At each difference the removed lines come
// first, then the added lines. It finds the smallest number of changes (E. Myers, "An O(ND)
// Difference Algorithm and Its Variations", 1986). If there are more than maxSteps changes, all
// lines from the first to the last change count as changed.
func compareLines(a, b []string) []edit {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	edits := make([]edit, 0, len(a)+len(b)-head-tail)
	edits = appendAll(edits, ' ', a[:head])
	edits = append(edits, compareMiddle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	return appendAll(edits, ' ', a[len(a)-tail:])
}

func appendAll(edits []edit, op byte, lines []string) []edit {
	for _, line := range lines {
		edits = append(edits, edit{op, line})
	}
	return edits
}

// compareMiddle compares two lists of lines without a common start and a common end.
func compareMiddle(a, b []string) []edit {
	reached := walkDiagonals(a, b)
	if reached == nil {
		return appendAll(appendAll(nil, '-', a), '+', b)
	}
	var edits []edit // in reverse order, because the loop below starts at the end
	x, y := len(a), len(b)
	for d := len(reached) - 1; d > 0; d-- {
		k, before := x-y, reached[d-1]
		from := k - 1
		if before.isDown(k, d) {
			from = k + 1
		}
		fromX := before.furthestX(from)
		for x > fromX && y > fromX-from {
			x, y = x-1, y-1
			edits = append(edits, edit{' ', a[x]})
		}
		if x == fromX {
			y--
			edits = append(edits, edit{'+', b[y]})
		} else {
			x--
			edits = append(edits, edit{'-', a[x]})
		}
	}
	slices.Reverse(edits)
	return edits
}

// diagonals holds, for each diagonal k, how many lines of a have been compared on it. k is the
// number of lines of a minus the number of lines of b, and runs from -d to d.
type diagonals []int32

func (v diagonals) furthestX(k int) int { return int(v[k+len(v)/2]) }

// isDown reports whether the d-th change on the best path to diagonal k adds a line; otherwise it
// removes a line.
func (v diagonals) isDown(k, d int) bool {
	return k == -d || k != d && v.furthestX(k-1) < v.furthestX(k+1)
}

// walkDiagonals returns the furthest points of all diagonals after 0, 1, 2, ... changes, until the
// ends of a and b are reached. It returns nil if that takes more than maxSteps changes.
func walkDiagonals(a, b []string) []diagonals {
	var reached []diagonals
	last := diagonals{}
	for d := range maxSteps + 1 {
		now := make(diagonals, 2*d+1)
		for k := -d; k <= d; k += 2 {
			x := 0
			if d > 0 {
				if last.isDown(k, d) {
					x = last.furthestX(k + 1)
				} else {
					x = last.furthestX(k-1) + 1
				}
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			now[k+d] = int32(x)
			if x >= len(a) && x-k >= len(b) {
				return append(reached, now)
			}
		}
		reached, last = append(reached, now), now
	}
	return nil
}
