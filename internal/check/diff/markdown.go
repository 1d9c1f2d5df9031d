package diff

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/clawai/clawai/internal/check/replay"
)

// maxMarkdown is the maximum length in bytes of a comment on a pull request. GitHub accepts 65536
// characters.
const maxMarkdown = 60_000

// WriteMarkdown writes the report as a comment for a pull request: a summary line, tables, and
// fixtures to copy. Texts of calls and policies are escaped, so that they stay inside their table
// cell and mention no GitHub user.
func (r *Report) WriteMarkdown(out io.Writer) error {
	w := bufio.NewWriter(out)
	m := markdown{w: w}
	m.printLine("### Policy: %s", escapeMarkdown(r.Summary()))
	m.printLine("")
	m.writeChanges(r)
	m.writeDoubts(r)
	m.writeReplies(r.Replies)
	m.writeFixtures(r)
	m.writeRecord(r)
	if m.left > 0 {
		m.writeLine("%d more not shown: the comment would be too long.", m.left)
	}
	m.writeLine("<sub>Revision %s → %s. Decisions are compared, not lines.</sub>", escapeMarkdown(r.OldRevision), escapeMarkdown(r.NewRevision))
	return w.Flush()
}

type markdown struct {
	w    *bufio.Writer
	size int
	left int // number of parts that are left out because the comment is full
}

func (m *markdown) writeLine(format string, a ...any) {
	n, _ := fmt.Fprintf(m.w, format+"\n", a...)
	m.size += n
}

func (m *markdown) printLine(format string, a ...any) { m.writeLine(format, a...) }

// hasRoom reports whether a part still fits into the comment. If the part does not fit, hasRoom
// adds 1 to m.left.
func (m *markdown) hasRoom(part string) bool {
	if m.size+len(part) > maxMarkdown {
		m.left++
		return false
	}
	return true
}

// writePart writes a part of the comment if it fits.
func (m *markdown) writePart(format string, a ...any) {
	if s := fmt.Sprintf(format, a...); m.hasRoom(s) {
		m.printLine("%s", s)
	}
}

func (m *markdown) writeChanges(r *Report) {
	if len(r.Changes) == 0 {
		return
	}
	m.printLine("| change | for example | was | is |")
	m.printLine("|---|---|---|---|")
	for i := range r.Changes {
		c := &r.Changes[i]
		m.writePart("| **%s** | %s | %s | %s |", titles[c.Kind], formatCode(c.describeCall()), formatCode(formatAnswer(&c.Old)), formatCode(formatAnswer(&c.New)))
	}
	m.printLine("")
	var fixtures [][]byte
	for i := range r.Changes {
		fixtures = append(fixtures, r.Changes[i].Fixture)
	}
	m.writeExamples(fixtures)
}

// writeExamples writes fixtures in code blocks, so that people can copy them. It skips nil
// fixtures.
func (m *markdown) writeExamples(fixtures [][]byte) {
	fixtures = slices.DeleteFunc(fixtures, func(fx []byte) bool { return fx == nil })
	if len(fixtures) == 0 {
		return
	}
	m.printLine("<details><summary>The examples as fixtures</summary>")
	m.printLine("")
	for _, f := range fixtures {
		m.writePart("%s", formatFence(f))
	}
	m.printLine("</details>")
	m.printLine("")
}

func (m *markdown) writeReplies(r *Replies) {
	if r == nil || len(r.Changes) == 0 {
		return
	}
	m.printLine("| what comes back | was | is |")
	m.printLine("|---|---|---|")
	var fixtures [][]byte
	for i := range r.Changes {
		c := &r.Changes[i]
		m.writePart("| %s | %s | %s |", formatCode(c.describeReply()), formatCode(describeOutcome(&c.Old)), formatCode(describeOutcome(&c.New)))
		fixtures = append(fixtures, c.Fixture)
	}
	m.printLine("")
	m.writeExamples(fixtures)
}

func (m *markdown) writeDoubts(r *Report) {
	if len(r.Doubts) == 0 {
		return
	}
	m.printLine("<details><summary>Not decided: %d</summary>", len(r.Doubts))
	m.printLine("")
	m.printLine("| was | is | why |")
	m.printLine("|---|---|---|")
	for i := range r.Doubts {
		d := &r.Doubts[i]
		if d.isGeneral() {
			m.writePart("| any | any | %s |", escapeMarkdown(d.Reason))
			continue
		}
		m.writePart("| %s | %s | %s |", formatCode(formatAnswer(&d.Old)), formatCode(formatAnswer(&d.New)), escapeMarkdown(d.Reason))
	}
	m.printLine("")
	m.printLine("</details>")
	m.printLine("")
}

func (m *markdown) writeFixtures(r *Report) {
	if r.Fixtures == nil {
		return
	}
	m.printLine("**%d of %d fixtures change.**", len(r.Fixtures.Changes), r.Fixtures.Judged)
	m.printLine("")
	if len(r.Fixtures.Changes) == 0 {
		return
	}
	m.printLine("| fixture | change | was | is |")
	m.printLine("|---|---|---|---|")
	for i := range r.Fixtures.Changes {
		c := &r.Fixtures.Changes[i]
		m.writePart("| %s | %s%s | %s | %s |", formatCode(c.Path), titles[c.Kind], describeExpected(c), formatCode(formatAnswer(&c.Old)), formatCode(formatAnswer(&c.New)))
	}
	m.printLine("")
}

func (m *markdown) writeRecord(r *Report) {
	if r.Record == nil {
		return
	}
	m.printLine("**%s.**", escapeMarkdown(r.Record.summarizeRecord()))
	m.printLine("")
	m.writeWhys(r.Record.NotJudged)
	m.writeAnswers(r.Record.Answers)
	if len(r.Record.Examples) == 0 {
		return
	}
	m.printLine("")
	m.printLine("| recorded call | times | change | was | is |")
	m.printLine("|---|---|---|---|---|")
	for i := range r.Record.Examples {
		x := &r.Record.Examples[i]
		m.writePart("| %s | %d | %s | %s | %s |", formatCode(oneLine(&x.Call)), x.Times, titles[x.Kind], formatCode(formatAnswer(&x.Old)), formatCode(formatAnswer(&x.New)))
	}
	m.printLine("")
}

func (m *markdown) writeWhys(counts map[replay.Why]int) {
	for _, why := range replay.Whys() {
		if n := counts[why]; n > 0 {
			m.printLine("- not judged, %d: %s", n, escapeMarkdown(why.String()))
		}
	}
}

func (m *markdown) writeAnswers(a *replay.Answers) {
	if a == nil {
		return
	}
	m.printLine("")
	m.printLine("**%s.**", escapeMarkdown(a.SummarizeAnswers()))
	m.writeWhys(a.NotJudged)
	if !a.HasChanges() {
		return
	}
	m.printLine("")
	m.printLine("| recorded answer | change | was | is |")
	m.printLine("|---|---|---|---|")
	for i := range a.Examples {
		if x := &a.Examples[i]; x.Class != replay.NotJudged {
			m.writePart("| %s | %s | %s | %s |", formatCode(describeAnswered(x)), x.Class.FormatClass(), formatCode(formatWithRule(x.Was, x.OldRule)), formatCode(formatWithRule(x.Is, x.NewRule)))
		}
	}
	m.printLine("")
}

// escapeMarkdown replaces each character with a meaning in Markdown or HTML by a character
// reference (CommonMark 0.31, section 2.5).
func escapeMarkdown(s string) string {
	var b strings.Builder
	for _, r := range plainText(s) {
		if r < 0x80 && strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", r) && r != ',' && r != ';' {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// formatCode returns an escaped text in a code element, in which GitHub makes no mentions and
// links.
func formatCode(s string) string { return "<code>" + escapeMarkdown(s) + "</code>" }

// formatFence returns JSON in a code block. A character that is not ASCII, could end the block, or
// has a meaning outside the block becomes a \u escape. Such characters occur only inside JSON
// strings, where the escape means the same.
func formatFence(src []byte) string {
	var b strings.Builder
	b.WriteString("```json\n")
	for _, r := range strings.TrimRight(string(src), "\n") {
		switch {
		case r < 0x80 && !strings.ContainsRune("<>&@`", r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	b.WriteString("\n```")
	return b.String()
}
