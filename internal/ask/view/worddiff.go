package view

import (
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/text/term"
)

// around is the maximum number of unchanged words that are shown before and after a change.
const around = 6

// DiffWords compares two texts word by word. It returns lines without control characters, with the removed words, the
// added words, and a few unchanged words around them.
func DiffWords(was, is string) []DiffLine {
	edits := compareLines(strings.Fields(was), strings.Fields(is))
	var lines []DiffLine
	changed := false
	for from := 0; from < len(edits); {
		to := from
		for to < len(edits) && edits[to].op == edits[from].op {
			to++
		}
		op := edits[from].op
		changed = changed || op != ' '
		run := make([]string, 0, to-from)
		for _, e := range edits[from:to] {
			run = append(run, term.VisibleText(e.line))
		}
		if op == ' ' {
			run = contextWords(run, from > 0, to < len(edits))
		}
		if len(run) > 0 {
			lines = append(lines, DiffLine{op, strings.Join(run, " ")})
		}
		from = to
	}
	if !changed {
		return []DiffLine{{'#', "the words are the same; blanks or line ends differ"}}
	}
	return lines
}

// contextWords returns those words in the list run that are shown. All words in this list are unchanged. If the
// parameter after is true, the words come after a change. If the parameter before is true, the words come
// before a change.
func contextWords(run []string, after, before bool) []string {
	switch {
	case after && before && len(run) > 2*around:
		left := fmt.Sprintf("… %d words …", len(run)-2*around)
		return append(append(run[:around:around], left), run[len(run)-around:]...)
	case after && !before && len(run) > around:
		return append(run[:around:around], "…")
	case !after && before && len(run) > around:
		return append([]string{"…"}, run[len(run)-around:]...)
	}
	return run
}
