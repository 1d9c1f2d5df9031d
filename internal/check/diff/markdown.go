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

// maxMarkdown bounds a comment: GitHub takes 65536 characters.
const maxMarkdown = 60_000

// WriteMarkdown writes a comment for a pull request: one line that says it all,
// tables, and fixtures that can be copied. Text of calls and policies can neither
// break out of its cell nor mention anybody.
func (r *Report) WriteMarkdown(out io.Writer) error {
	w := bufio.NewWriter(out)
	m := markdown{w: w}
	m.line("### Policy: %s", escaped(r.Summary()))
	m.line("")
	m.changes(r)
	m.doubts(r)
	m.replies(r.Replies)
	m.fixtures(r)
	m.record(r)
	if m.left > 0 {
		m.force("%d more not shown: the comment would be too long.", m.left)
	}
	m.force("<sub>Revision %s → %s. Decisions are compared, not lines.</sub>", escaped(r.OldRevision), escaped(r.NewRevision))
	return w.Flush()
}

type markdown struct {
	w    *bufio.Writer
	size int
	left int // parts that had no room
}

func (m *markdown) force(format string, a ...any) {
	n, _ := fmt.Fprintf(m.w, format+"\n", a...)
	m.size += n
}

func (m *markdown) line(format string, a ...any) { m.force(format, a...) }

// room says whether a part fits; if not, it is counted.
func (m *markdown) room(part string) bool {
	if m.size+len(part) > maxMarkdown {
		m.left++
		return false
	}
	return true
}

// part writes a part if there is room.
func (m *markdown) part(format string, a ...any) {
	if s := fmt.Sprintf(format, a...); m.room(s) {
		m.line("%s", s)
	}
}

func (m *markdown) changes(r *Report) {
	if len(r.Changes) == 0 {
		return
	}
	m.line("| change | for example | was | is |")
	m.line("|---|---|---|---|")
	for i := range r.Changes {
		c := &r.Changes[i]
		m.part("| **%s** | %s | %s | %s |", titles[c.Kind], code(c.example()), code(answer(&c.Old)), code(answer(&c.New)))
	}
	m.line("")
	var fixtures [][]byte
	for i := range r.Changes {
		fixtures = append(fixtures, r.Changes[i].Fixture)
	}
	m.examples(fixtures)
}

// examples are fixtures that can be copied; nil where none can be written.
func (m *markdown) examples(fixtures [][]byte) {
	fixtures = slices.DeleteFunc(fixtures, func(fx []byte) bool { return fx == nil })
	if len(fixtures) == 0 {
		return
	}
	m.line("<details><summary>The examples as fixtures</summary>")
	m.line("")
	for _, f := range fixtures {
		m.part("%s", fence(f))
	}
	m.line("</details>")
	m.line("")
}

func (m *markdown) replies(r *Replies) {
	if r == nil || len(r.Changes) == 0 {
		return
	}
	m.line("| what comes back | was | is |")
	m.line("|---|---|---|")
	var fixtures [][]byte
	for i := range r.Changes {
		c := &r.Changes[i]
		m.part("| %s | %s | %s |", code(c.example()), code(becomes(&c.Old)), code(becomes(&c.New)))
		fixtures = append(fixtures, c.Fixture)
	}
	m.line("")
	m.examples(fixtures)
}

func (m *markdown) doubts(r *Report) {
	if len(r.Doubts) == 0 {
		return
	}
	m.line("<details><summary>Not decided: %d</summary>", len(r.Doubts))
	m.line("")
	m.line("| was | is | why |")
	m.line("|---|---|---|")
	for i := range r.Doubts {
		d := &r.Doubts[i]
		if d.whole() {
			m.part("| any | any | %s |", escaped(d.Reason))
			continue
		}
		m.part("| %s | %s | %s |", code(answer(&d.Old)), code(answer(&d.New)), escaped(d.Reason))
	}
	m.line("")
	m.line("</details>")
	m.line("")
}

func (m *markdown) fixtures(r *Report) {
	if r.Fixtures == nil {
		return
	}
	m.line("**%d of %d fixtures change.**", len(r.Fixtures.Changes), r.Fixtures.Judged)
	m.line("")
	if len(r.Fixtures.Changes) == 0 {
		return
	}
	m.line("| fixture | change | was | is |")
	m.line("|---|---|---|---|")
	for i := range r.Fixtures.Changes {
		c := &r.Fixtures.Changes[i]
		m.part("| %s | %s%s | %s | %s |", code(c.Path), titles[c.Kind], against(c), code(answer(&c.Old)), code(answer(&c.New)))
	}
	m.line("")
}

func (m *markdown) record(r *Report) {
	if r.Record == nil {
		return
	}
	m.line("**%s.**", escaped(r.Record.summary()))
	m.line("")
	m.whys(r.Record.NotJudged)
	m.answers(r.Record.Answers)
	if len(r.Record.Examples) == 0 {
		return
	}
	m.line("")
	m.line("| recorded call | times | change | was | is |")
	m.line("|---|---|---|---|---|")
	for i := range r.Record.Examples {
		x := &r.Record.Examples[i]
		m.part("| %s | %d | %s | %s | %s |", code(oneLine(&x.Call)), x.Times, titles[x.Kind], code(answer(&x.Old)), code(answer(&x.New)))
	}
	m.line("")
}

func (m *markdown) whys(counts map[replay.Why]int) {
	for _, why := range replay.Whys() {
		if n := counts[why]; n > 0 {
			m.line("- not judged, %d: %s", n, escaped(why.String()))
		}
	}
}

func (m *markdown) answers(a *replay.Answers) {
	if a == nil {
		return
	}
	m.line("")
	m.line("**%s.**", escaped(a.Summary()))
	m.whys(a.NotJudged)
	if !a.Changed() {
		return
	}
	m.line("")
	m.line("| recorded answer | change | was | is |")
	m.line("|---|---|---|---|")
	for i := range a.Examples {
		if x := &a.Examples[i]; x.Class != replay.NotJudged {
			m.part("| %s | %s | %s | %s |", code(answered(x)), x.Class.Words(), code(by(x.Was, x.OldRule)), code(by(x.Is, x.NewRule)))
		}
	}
	m.line("")
}

// escaped writes text that means nothing to Markdown and HTML: a character
// reference stands for a character and never for structure (CommonMark 0.31,
// section 2.5).
func escaped(s string) string {
	var b strings.Builder
	for _, r := range plain(s) {
		if r < 0x80 && strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", r) && r != ',' && r != ';' {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// code is escape in an element in which GitHub looks for no mentions, issues and
// links.
func code(s string) string { return "<code>" + escaped(s) + "</code>" }

// fence shows JSON in a block that nothing in it can close. What could mean
// something outside of it, and what is not ASCII, is escaped, as JSON allows in
// its strings; elsewhere none of it occurs.
func fence(src []byte) string {
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
