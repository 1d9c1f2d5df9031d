package diff

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/policy"
)

// titles are the names of the kinds of change in the report for people.
var titles = map[ChangeKind]string{
	NewlyAllowed: "newly allowed", NoLongerAsked: "no longer asked", LimitChanged: "allowed under another limit",
	Approvers: "asked of other approvers", NewlyAsked: "newly asked", AskedInBand: "asked in the client too", AskedOutside: "asked out of band only", NewlyDenied: "newly denied",
}

// maxShown is the maximum number of characters of a text on a line.
const maxShown = 300

// oneLine returns a call on one line. The caller must make the line safe for a terminal.
func oneLine(c *policy.Call) string {
	parts := []string{c.Method}
	for _, name := range c.Names {
		if name != c.Method {
			parts = append(parts, name)
		}
	}
	if len(c.Args) > 0 {
		parts = append(parts, escape.ReadableJSON(c.Args))
	}
	if c.Server != "" {
		parts = append(parts, "on", c.Server)
	}
	if len(c.Finds) > 0 {
		parts = append(parts, "carrying", strings.Join(c.Finds, ", "))
	}
	parts = append(parts, c.DescribeIdentity()...)
	if !c.At.IsZero() {
		parts = append(parts, "at", c.At.UTC().Format(time.RFC3339))
	}
	return strings.Join(parts, " ")
}

// describeCall returns the example call on one line.
func (c *Change) describeCall() string {
	if c.Unseen {
		return oneLine(c.Example) + ", in which nothing could look for what it carries"
	}
	return oneLine(c.Example)
}

// plainText makes a text safe for one line of a terminal, and shortens it.
func plainText(s string) string {
	if utf8.RuneCountInString(s) > maxShown {
		s = string([]rune(s)[:maxShown]) + "…"
	}
	return term.VisibleText(s)
}

// formatAnswer returns an answer and its rule.
func formatAnswer(a *Answer) string {
	s := a.Action.String()
	switch {
	case a.Approval != "":
		s += " (" + term.VisibleText(a.Approval) + ")"
	case a.OutOfBand:
		s += " (out of band)"
	}
	if l := limitOf(a); l.HasLimit() {
		count := fmt.Sprint(l.Count)
		if l.Sum != "" {
			count = l.MaxAmount() + " of " + l.Sum
		}
		s += fmt.Sprintf(" (%s each %s)", count, l.Every)
	}
	return s + ", " + ruleText(a.Rule)
}

func ruleText(r *policy.Rule) string {
	if r == nil {
		return "no rule"
	}
	s := fmt.Sprintf("%s:%d", term.VisibleText(r.Pos.File), r.Pos.Line)
	if r.Description != "" {
		s += ` "` + plainText(r.Description) + `"`
	}
	return s
}

// WriteText writes the report for a terminal.
func (r *Report) WriteText(out io.Writer) error {
	w := bufio.NewWriter(out)
	line := func(format string, a ...any) { fmt.Fprintf(w, format+"\n", a...) }
	last := ""
	for i := range r.Changes {
		c := &r.Changes[i]
		if title := titles[c.Kind]; title != last {
			line("%s", capitalizeFirst(title))
			last = title
		}
		line("  for example %s", plainText(c.describeCall()))
		line("    was %s", formatAnswer(&c.Old))
		line("    is  %s", formatAnswer(&c.New))
	}
	r.textDoubts(line)
	if r.Replies != nil && len(r.Replies.Changes) > 0 {
		line("What comes back")
		for i := range r.Replies.Changes {
			c := &r.Replies.Changes[i]
			line("  for example %s", plainText(c.describeReply()))
			line("    was %s", describeOutcome(&c.Old))
			line("    is  %s", describeOutcome(&c.New))
		}
		line("")
	} else if len(r.Changes)+len(r.Doubts) > 0 {
		line("")
	}
	r.textFixtures(line)
	r.textRecord(line)
	line("%s", r.Summary())
	return w.Flush()
}

// textDoubts writes the doubts. Doubts about uncommon spellings are only counted.
func (r *Report) textDoubts(line func(string, ...any)) {
	spelling := 0
	for i := range r.Doubts {
		d := &r.Doubts[i]
		if d.Spelling {
			spelling++
			continue
		}
		line("Not decided: %s", plainText(d.Reason))
		if d.isGeneral() {
			continue
		}
		line("    was %s", formatAnswer(&d.Old))
		line("    is  %s", formatAnswer(&d.New))
	}
	if spelling > 0 {
		line("Not decided for %s: %s", map[bool]string{true: "1 class of calls", false: fmt.Sprintf("%d classes of calls", spelling)}[spelling == 1], prove.ReasonSpelling)
	}
}

func capitalizeFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (r *Report) textFixtures(line func(string, ...any)) {
	if r.Fixtures == nil {
		return
	}
	for i := range r.Fixtures.Changes {
		c := &r.Fixtures.Changes[i]
		line("fixture %s: %s%s", plainText(c.Path), titles[c.Kind], describeExpected(c))
		line("    was %s", formatAnswer(&c.Old))
		line("    is  %s", formatAnswer(&c.New))
	}
	line("%d of %d fixtures change", len(r.Fixtures.Changes), r.Fixtures.Judged)
}

// describeExpected returns a note if the fixture expects another answer than the new one, otherwise
// "".
func describeExpected(c *FixtureChange) string {
	if c.Expected == nil || *c.Expected == c.New.Action {
		return ""
	}
	return fmt.Sprintf(" (expected %s)", c.Expected)
}

func (r *Report) textRecord(line func(string, ...any)) {
	if r.Record == nil {
		return
	}
	for i := range r.Record.Examples {
		x := &r.Record.Examples[i]
		times := ""
		if x.Times > 1 {
			times = fmt.Sprintf(", %d times", x.Times)
		}
		line("recorded %s  %s: %s%s", x.Time.Local().Format(time.DateTime), term.VisibleText(x.ID), titles[x.Kind], times)
		line("  %s", plainText(oneLine(&x.Call)))
		line("    was %s", formatAnswer(&x.Old))
		line("    is  %s", formatAnswer(&x.New))
	}
	line("%s", r.Record.summarizeRecord())
	whys := func(counts map[replay.Why]int) {
		for _, why := range replay.Whys() {
			if n := counts[why]; n > 0 {
				line("  not judged, %d: %s", n, why)
			}
		}
	}
	whys(r.Record.NotJudged)
	if a := r.Record.Answers; a != nil {
		for i := range a.Examples {
			x := &a.Examples[i]
			if x.Class == replay.NotJudged {
				continue
			}
			line("recorded %s  %s: %s", x.Time.Local().Format(time.DateTime), term.VisibleText(x.Record), x.Class.FormatClass())
			line("  %s", describeAnswered(x))
			line("    was %s", formatWithRule(x.Was, x.OldRule))
			line("    is  %s", formatWithRule(x.Is, x.NewRule))
		}
		line("%s", a.SummarizeAnswers())
		whys(a.NotJudged)
	}
}

// describeAnswered returns a recorded reply on one line, safe for a terminal.
func describeAnswered(x *replay.Example) string {
	s := strings.Join(append([]string{"answer to", x.Method}, x.Names...), " ")
	if x.Args != "" {
		s += " " + x.Args
	}
	if x.Server != "" {
		s += " on " + x.Server
	}
	if len(x.Finds) > 0 {
		s += ", found " + strings.Join(x.Finds, ", ")
	}
	return plainText(s)
}

func formatWithRule(what string, r *check.RuleRef) string {
	if r == nil {
		return what + ", no rule"
	}
	s := what + ", " + plainText(r.File) + ":" + strconv.Itoa(r.Line)
	if r.Description != "" {
		s += " " + strconv.Quote(plainText(r.Description))
	}
	return s
}

func (r *Record) summarizeRecord() string {
	changed := 0
	for _, n := range r.Counts {
		changed += n
	}
	s := fmt.Sprintf("%d of %d recorded decisions change", changed, r.Decisions)
	if counts := formatCounts(r.Counts); counts != "" {
		s += ": " + counts
	}
	if r.Damaged > 0 {
		s += fmt.Sprintf("; %d places of the record cannot be read", r.Damaged)
	}
	return s
}

func formatCounts(counts map[ChangeKind]int) string {
	var parts []string
	for _, k := range Kinds() {
		if n := counts[k]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, titles[k]))
		}
	}
	return strings.Join(parts, ", ")
}

// Summary returns the difference of the policies in one sentence.
func (r *Report) Summary() string {
	if r.Replies == nil {
		return r.summarizeCalls()
	}
	return r.summarizeCalls() + "; " + r.Replies.Summary()
}

func (r *Report) summarizeCalls() string {
	var s string
	switch n := len(r.Changes); {
	case n == 0 && len(r.Doubts) == 0:
		return "no call is answered differently"
	case n == 0:
		s = "no call was found that is answered differently"
	case n == 1:
		s = "1 class of calls is answered differently: " + formatCounts(r.CountChanges())
	default:
		s = fmt.Sprintf("%d classes of calls are answered differently: %s", n, formatCounts(r.CountChanges()))
	}
	if n := len(r.Doubts); n > 0 {
		s += fmt.Sprintf("; %d not decided", n)
	}
	return s
}
