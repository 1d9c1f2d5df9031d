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

// How much text a question holds at most: Whole in bytes of one value and of
// all, and everything else that grows with the call.
const (
	maxWhole      = 64 << 10
	maxWholeTotal = 1 << 20
	maxShown      = 4 << 20
)

// maxIndent is how many blanks may lead a line of Whole or of a change; a longer
// run is escaped from its fourth blank on.
const maxIndent = 40

// EachLine yields the lines of the entire value, whatever its size; it makes them as
// they are asked for.
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

// builder makes the values of one question and counts what they cost.
type builder struct {
	values int // how many have been made
	whole  int // bytes of text in their Whole
	shown  int // bytes of everything else
	diff   int // lines of changes that there is still room for
}

// makeValue makes one value of s, the text of a string (Type "string") or the token
// of anything else.
func (m *builder) makeValue(where, kind, s string) (Arg, error) {
	a := Arg{Path: where, Type: kind, Value: term.VisibleValue(s), Marks: findMarks(s)}
	switch kind {
	case "string":
		a.Clean = cleanPath(s)
	case "name":
	default: // digits and letters only: no quote in it is the value's
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

// isFolded says that term.VisibleValue leaves out the middle of s.
func isFolded(s string) bool { return len(s) > 300 && utf8.RuneCountInString(s) > 300 }

// cleanPath gives what a path that climbs or stutters comes to, in quotes; "" when
// it is no such path.
func cleanPath(s string) string {
	if len(s) > maxName || !strings.HasPrefix(s, "/") && !strings.HasPrefix(s, ".") && !strings.HasPrefix(s, "~") {
		return ""
	}
	if c := path.Clean(s); c != s && c != strings.TrimSuffix(s, "/") {
		return term.VisibleValue(c)
	}
	return ""
}

// wholeLines gives s line by line, without its middle when that would be too much, and
// how many characters that leaves out.
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

// cutOffset gives the greatest offset up to n at which a character starts.
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

// lineText gives one line of a longer text. Unlike in a value, blanks lead it as
// they are, a tab is \t, and a blank at the end is escaped.
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
	parts := strings.Split(body, "\t")
	for i, part := range parts {
		parts[i] = term.VisibleLine(part)
	}
	return strings.Repeat(" ", indent) + strings.Join(parts, `\t`) + strings.Repeat(`\u{20}`, trailing)
}

// tab is how a tab looks in a line of a change.
const tab = "→   "

// plainLine gives one line of a change. One of characters that all stand for themselves has
// no escapes: quotes and backslashes as they are, a tab as an arrow, and runs of up to
// maxIndent blanks. Any other is lineText, and has an escape that no plain line can hold;
// so two different lines are never shown alike.
func plainLine(s string) string {
	bare := strings.NewReplacer("\t", ".", `\`, ".", `"`, ".", " ", ".").Replace(s)
	if !strings.HasSuffix(s, " ") && term.VisibleLine(bare) == bare && !strings.Contains(s, "→") &&
		!strings.Contains(s, `\u{`) && !strings.Contains(s, `\x{`) && !strings.Contains(s, strings.Repeat(" ", maxIndent+1)) {
		return strings.ReplaceAll(s, "\t", tab)
	}
	return strings.ReplaceAll(lineText(s), "→", `\u{2192}`)
}
