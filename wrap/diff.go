package wrap

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/clawai/clawai/wrap/client"
)

// longLine is the length in bytes of the longest line that is shown completely. Some clients write
// megabytes on one line.
const longLine = 240

// Diff returns the change as a unified diff. It has no context lines, because these may be in an
// environment block, and its secrets must not be on a screen or in a log. Secrets in the changed
// lines (in words, headers, addresses and variables) are masked. The heading of each hunk has the
// names of its servers. Characters with an effect on a terminal are written as \u{hex}.
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
	if c.Model != nil {
		return client.MaskModelFile(*c.Model, src)
	}
	for _, e := range c.Edits {
		src = client.MaskFile(e.Row, src)
	}
	return src
}

// splitLines returns the lines with their line ends, so that a last line without a line end is
// different from the same line with one.
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

// hunkHeading returns the names of the servers whose entries begin in the hunk. If none begins
// there, it returns the server whose entry begins last before the hunk.
func (c Change) hunkHeading(h hunk) string {
	if c.Hook != nil {
		return " hooks of " + c.Hook.Name
	}
	if c.Model != nil {
		return " the model of " + c.Model.Name
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

// hunk is a difference: lines a to aEnd-1 become lines b to bEnd-1, counted from 0.
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

// findHunks returns the differences. It only searches for the next common line, because an edit
// changes or adds a few lines and never moves one.
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

// resync takes the line a of the old text and the line b of the new text. It returns the nearest
// later pair of lines from which both texts continue equally. If several pairs are equally near, it
// takes the pair for which the numbers of skipped lines differ least.
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

// sameLine reports whether line i of the old text equals line j of the new text, or both texts end
// there. For blank lines it returns false.
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

// writeLine writes one line. The parameter other is the line that the other side of the change has
// in its place. If the line is long, writeLine writes only the part that differs from the other
// line, with some text around it.
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

// escapeUnprintable makes a text from a file safe for a terminal.
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
