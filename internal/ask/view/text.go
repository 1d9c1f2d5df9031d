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

// Limits on the texts of a question, in bytes. maxWhole is for Arg.Whole of one value,
// maxWholeTotal for Arg.Whole of all values, maxShown for all other texts from the call.
const (
	maxWhole      = 64 << 10
	maxWholeTotal = 1 << 20
	maxShown      = 4 << 20
)

// maxIndent is the maximum number of blanks at the start of a line in Whole or in a change. In a
// longer run, all blanks after the third are escaped.
const maxIndent = 40

// EachLine yields the lines of the entire value, which may be very long. It makes each line only
// when the line is needed.
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

// builder makes the values of one question and counts their sizes.
type builder struct {
	values int // number of values made
	whole  int // bytes of text in Arg.Whole
	shown  int // bytes of all other texts
	diff   int // number of lines that may still be used for changes
}

// makeValue makes the Arg for s. If kind is "string", s is the text of a JSON string; otherwise it
// is the token of a number or another value.
func (m *builder) makeValue(where, kind, s string) (Arg, error) {
	a := Arg{Path: where, Type: kind, Value: term.VisibleValue(s), Marks: findMarks(s)}
	switch kind {
	case "string":
		a.Clean = cleanPath(s)
	case "name":
	default: // remove the quotes that VisibleValue has added, because only strings have quotes
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

// cleanPath returns the clean form of a path with .. or repeated slashes, in quotes; "" for any
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

// wholeLines returns s line by line. If s is too long, it leaves out the middle; hidden is the
// number of characters left out.
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

// cutOffset returns the largest offset up to n that is not inside a character.
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

// lineText returns one line of a longer text, escaped. Blanks at the start stay, and blanks at the
// end are escaped.
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

// tab is shown in place of a tab in a line of a change.
const tab = "→   "

// plainLine returns one line of a change, so that two different lines never look alike. If all
// characters can be shown unchanged, the line has no escapes: quotes and backslashes stay, a tab
// becomes an arrow, and runs of up to maxIndent blanks stay. Any other line gets the form of
// lineText, with an escape that no unescaped line can have.
func plainLine(s string) string {
	bare := strings.NewReplacer("\t", ".", `\`, ".", `"`, ".", " ", ".").Replace(s)
	if !strings.HasSuffix(s, " ") && term.VisibleLine(bare) == bare && !strings.Contains(s, "→") &&
		!strings.Contains(s, `\u{`) && !strings.Contains(s, `\x{`) && !strings.Contains(s, strings.Repeat(" ", maxIndent+1)) {
		return strings.ReplaceAll(s, "\t", tab)
	}
	return strings.ReplaceAll(lineText(s), "→", `\u{2192}`)
}
