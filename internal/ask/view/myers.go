package view

import "slices"

// maxSteps is the maximum number of different lines before the comparison gives up; the cost
// grows with its square.
const maxSteps = 1000

// edit is one line of a comparison.
type edit struct {
	op   byte // '+', '-' or ' '
	line string
}

// compareLines returns the lines of a and b in one order: at each difference first the removed
// lines, then the added ones. It finds the fewest changes (E. Myers, "An O(ND) Difference
// Algorithm and Its Variations", 1986). If there are more than maxSteps, everything between the
// first and the last change counts as changed.
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

// compareMiddle compares lines whose first and last lines differ; so no unchanged line precedes
// the first change.
func compareMiddle(a, b []string) []edit {
	reached := walkDiagonals(a, b)
	if reached == nil {
		return appendAll(appendAll(nil, '-', a), '+', b)
	}
	var edits []edit // in reverse order: the walk starts at the end
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

// diagonals holds how far each diagonal k (lines of a minus lines of b) has come, in lines of a;
// k runs from -d to d.
type diagonals []int32

func (v diagonals) furthestX(k int) int { return int(v[k+len(v)/2]) }

// isDown reports whether the d-th change on the best way to diagonal k is an added line;
// otherwise it is a removed line.
func (v diagonals) isDown(k, d int) bool {
	return k == -d || k != d && v.furthestX(k-1) < v.furthestX(k+1)
}

// walkDiagonals returns how far each diagonal comes with 0, 1, 2, ... changes, until both ends
// are reached; nil when that takes more than maxSteps.
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
