package view

import (
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/term"
)

// Limits on a question's text in bytes: for Whole of one value and of all values, and for
// everything else that grows with the call.
const (
	maxWhole      = 64 << 10
	maxWholeTotal = 1 << 20
	maxShown      = 4 << 20
)

// maxIndent is the maximum number of leading blanks in a line of Whole or of a change; a longer
// run is escaped from its fourth blank on.
const maxIndent = 40

// EachLine yields the lines of the entire value, whatever its size; each line is made on demand.
func (a *Arg) EachLine() iter.Seq[string] {
	if a.Hidden == 0 {
		return slices.Values(a.Whole)
	}
	return func(yield func(string) bool) {
		for line := range strings.SplitSeq(a.text, "\n") {
			if !yield(lineText(line)) {
				return
			}
		}
	}
}

// builder makes the values of one question and counts their cost.
type builder struct {
	values int // number of values made
	whole  int // bytes of text in Whole
	shown  int // bytes of everything else
	diff   int // lines left for changes
}

// makeValue makes one value of s: the text of a string (Type "string") or the token of another
// value.
func (m *builder) makeValue(where, kind, s string) (Arg, error) {
	a := Arg{Path: where, Type: kind, Value: term.VisibleValue(s), Marks: findMarks(s)}
	switch kind {
	case "string":
		a.Clean = cleanPath(s)
	case "name":
	default: // such a value has no quotes of its own: VisibleValue has added them
		a.Value = strings.ReplaceAll(a.Value, `"`, "")
	}
	a.Folded = isFolded(s)
	a.Whole, a.Hidden = m.wholeLines(s)
	if a.Hidden > 0 {
		a.text = s
	}
	m.values++
	m.shown += len(a.Path) + len(a.Value) + len(a.Clean)
	if m.values > maxValues || m.shown > maxShown {
		return a, ErrTooMany
	}
	return a, nil
}

// isFolded reports whether term.VisibleValue leaves out the middle of s.
func isFolded(s string) bool { return len(s) > 300 && utf8.RuneCountInString(s) > 300 }

// cleanPath returns, in quotes, the clean form of a path with .. or repeated slashes; "" for
// other text.
func cleanPath(s string) string {
	if len(s) > maxName || !strings.HasPrefix(s, "/") && !strings.HasPrefix(s, ".") && !strings.HasPrefix(s, "~") {
		return ""
	}
	if c := path.Clean(s); c != s && c != strings.TrimSuffix(s, "/") {
		return term.VisibleValue(c)
	}
	return ""
}

// wholeLines returns s line by line, and how many characters it leaves out in the middle if s is
// too long.
func (m *builder) wholeLines(s string) (lines []string, hidden int) {
	room := min(maxWhole, max(4096, maxWholeTotal-m.whole))
	if len(s) <= room {
		m.whole += len(s)
		return appendLines(nil, s), 0
	}
	m.whole += room
	head, tail := cutOffset(s, room/2), len(s)-room/2
	for !utf8.RuneStart(s[tail]) {
		tail++
	}
	hidden = utf8.RuneCountInString(s[head:tail])
	lines = appendLines(nil, s[:head])
	lines = append(lines, fmt.Sprintf("… %d characters are not shown here …", hidden))
	return appendLines(lines, s[tail:]), hidden
}

// cutOffset returns the greatest offset up to n at which a character starts.
func cutOffset(s string, n int) int {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

func appendLines(to []string, s string) []string {
	for line := range strings.SplitSeq(s, "\n") {
		to = append(to, lineText(line))
	}
	return to
}

// lineText returns one line of a longer text. Unlike in a value, leading blanks stay, and a trailing
// blank is escaped.
func lineText(s string) string {
	body := strings.TrimLeft(s, " ")
	indent := len(s) - len(body)
	if indent > maxIndent {
		indent, body = 0, s
	}
	body = strings.TrimRight(body, " ")
	trailing := len(s) - indent - len(body)
	if body == "" {
		trailing, indent = trailing+indent, 0
	}
	return strings.Repeat(" ", indent) + term.VisibleLine(body) + strings.Repeat(`\u{20}`, trailing)
}

// tab is the display of a tab in a line of a change.
const tab = "→   "

// plainLine returns one line of a change. A line whose characters can all be shown unchanged has
// no escapes: quotes and backslashes stay, a tab is an arrow, and runs of up to maxIndent blanks
// stay. Any other line is a lineText with an escape that no plain line can hold. So two different
// lines never look alike.
func plainLine(s string) string {
	bare := strings.NewReplacer("\t", ".", `\`, ".", `"`, ".", " ", ".").Replace(s)
	if !strings.HasSuffix(s, " ") && term.VisibleLine(bare) == bare && !strings.Contains(s, "→") &&
		!strings.Contains(s, `\u{`) && !strings.Contains(s, `\x{`) && !strings.Contains(s, strings.Repeat(" ", maxIndent+1)) {
		return strings.ReplaceAll(s, "\t", tab)
	}
	return strings.ReplaceAll(lineText(s), "→", `\u{2192}`)
}
