package wrap

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/clawai/clawai/wrap/client"
)

// longLine is how much of a line is shown around what changes in it: some
// clients keep megabytes on one line.
const longLine = 240

// Diff shows a change as a unified diff without context lines: what stands
// around an edit may be an environment block, whose secrets belong on no screen
// and in no log; secrets among the words, headers and addresses, and variables on the
// same line are covered. Each hunk is headed by its servers instead. Characters that a
// terminal would act on are written \u{hex}.
func (c Change) Diff(name string) string {
	before, after := splitLines(c.maskSecrets(c.Before)), splitLines(c.maskSecrets(c.After))
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", escapeUnprintable(name), escapeUnprintable(name))
	for _, h := range findHunks(before, after) {
		fmt.Fprintf(&b, "@@ -%s +%s @@%s\n", formatSpan(h.a, h.aEnd), formatSpan(h.b, h.bEnd), c.hunkHeading(h))
		olds, news := before[h.a:h.aEnd], after[h.b:h.bEnd]
		for i, line := range olds {
			writeLine(&b, '-', line, lineAt(news, i))
		}
		for i, line := range news {
			writeLine(&b, '+', line, lineAt(olds, i))
		}
	}
	return b.String()
}

func (c Change) maskSecrets(src []byte) []byte {
	if c.Hook != nil {
		return client.MaskHooks(*c.Hook, src)
	}
	for _, e := range c.Edits {
		src = client.MaskFile(e.Row, src)
	}
	return src
}

// splitLines keep their ends, so that one without an end differs from one with.
func splitLines(b []byte) [][]byte {
	if len(b) == 0 {
		return nil
	}
	all := bytes.SplitAfter(b, []byte{'\n'})
	if last := len(all) - 1; len(all[last]) == 0 {
		all = all[:last]
	}
	return all
}

// hunkHeading names the servers whose entries start within the hunk, or else the one whose
// entry starts last before it.
func (c Change) hunkHeading(h hunk) string {
	if c.Hook != nil {
		return " hooks of " + c.Hook.Name
	}
	var within []string
	before := -1
	for i, e := range slices.Backward(c.Edits) {
		switch at := e.Entry.Line; {
		case at > max(h.aEnd, h.a+1):
		case at > h.a:
			within = append(within, escapeUnprintable(e.Entry.Name))
		case before < 0 || at > c.Edits[before].Entry.Line:
			before = i
		}
	}
	if len(within) == 0 && before >= 0 {
		within = []string{escapeUnprintable(c.Edits[before].Entry.Name)}
	}
	if len(within) == 0 {
		return ""
	}
	return " " + strings.Join(within, ", ")
}

// hunk is the lines from a to aEnd that become those from b to bEnd, from 0.
type hunk struct{ a, aEnd, b, bEnd int }

func formatSpan(from, to int) string {
	switch n := to - from; n {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	default:
		return fmt.Sprintf("%d,%d", from+1, n)
	}
}

// findHunks finds what differs. Edits change lines or put a few in, and never move
// one, so that looking ahead for the next line that both have is enough.
func findHunks(before, after [][]byte) []hunk {
	var all []hunk
	for a, b := 0, 0; a < len(before) || b < len(after); {
		if a < len(before) && b < len(after) && bytes.Equal(before[a], after[b]) {
			a, b = a+1, b+1
			continue
		}
		aEnd, bEnd := resync(before, after, a, b)
		all = append(all, hunk{a, aEnd, b, bEnd})
		a, b = aEnd, bEnd
	}
	return all
}

// resync is where, nearest after a and b, both have the same line again; of
// several as near, where the numbers of skipped lines differ least.
func resync(before, after [][]byte, a, b int) (int, int) {
	for far := 1; far <= len(before)-a+len(after)-b; far++ {
		best, skew := -1, 0
		for i := range far + 1 {
			s := max(2*i-far, far-2*i)
			if sameLine(before, after, a+i, b+far-i) && (best < 0 || s < skew) {
				best, skew = i, s
			}
		}
		if best >= 0 {
			return a + best, b + far - best
		}
	}
	return len(before), len(after)
}

// sameLine says that both go on alike here. Blank lines prove nothing.
func sameLine(before, after [][]byte, i, j int) bool {
	if i >= len(before) || j >= len(after) {
		return i == len(before) && j == len(after)
	}
	return len(bytes.TrimSpace(before[i])) > 0 && bytes.Equal(before[i], after[j])
}

func lineAt(lines [][]byte, i int) []byte {
	if i < len(lines) {
		return lines[i]
	}
	return nil
}

// writeLine writes one line; of a long one, what differs from its other form and a
// little around it.
func writeLine(b *strings.Builder, sign byte, line, other []byte) {
	text := bytes.TrimRight(line, "\r\n")
	ended := len(text) < len(line)
	if len(text) > longLine {
		text = clipLine(text, other)
	}
	b.WriteByte(sign)
	b.WriteString(escapeUnprintable(string(text)))
	b.WriteByte('\n')
	if !ended {
		b.WriteString("\\ No newline at end of file\n")
	}
}

func clipLine(line, other []byte) []byte {
	const around = 40
	first := 0
	for first < len(line) && first < len(other) && line[first] == other[first] {
		first++
	}
	last, o := len(line), len(other)
	for last > first && o > first && line[last-1] == other[o-1] {
		last, o = last-1, o-1
	}
	from, to := max(0, first-around), min(len(line), last+around)
	to = min(to, from+4*longLine)
	out := append([]byte("… "), line[from:to]...)
	return append(out, " …"...)
}

// escapeUnprintable gives text from a file, safe for a terminal.
func escapeUnprintable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\t' || unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}
