package logcmd

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/text/term"
)

// statsPrinter prints the counts of calls as text for a person.
type statsPrinter struct {
	color bool
	width int // columns of a line; 0 if the output is no terminal
	most  int // maximum number of rows in a list
	out   strings.Builder
}

// roomFor returns how many rows each of the four lists may have on a screen.
func roomFor(height int) int {
	const otherRows = 4 + 4*2 // 4 for heading and prompt; 2 for each list: a title and an empty line
	if height == 0 {
		return 10
	}
	return min(max((height-otherRows)/4, 3), 10)
}

func (p *statsPrinter) printStats(w io.Writer, doc *statsDoc) error {
	if p.width == 0 {
		p.width = 80
	}
	p.width = min(p.width, 120)
	t := &doc.Total
	fmt.Fprintf(&p.out, "%s in %s, %s\n", p.paint(cmdline.Bold, cmdline.CountText(t.Calls, "1 call", "%d calls")),
		cmdline.CountText(doc.Sessions, "1 session", "%d sessions"), renderSpan(doc.From.Local(), doc.To.Local()))
	totals := []string{p.renderNumber(cmdline.Green, t.Allowed, "allowed"), p.renderNumber(cmdline.Red, t.Denied, "denied"), p.renderNumber(cmdline.Yellow, t.Asked, "asked"), p.renderNumber(cmdline.Yellow, t.Failed, "failed")}
	if t.Watched > 0 {
		totals = append(totals, p.renderNumber(cmdline.Yellow, t.Watched, "only watched"))
	}
	fmt.Fprintln(&p.out, strings.Join(totals, " · "))
	p.printTimeline(doc.Hours)
	for _, r := range rankings {
		tools := doc.Tools
		if r.ofServers {
			tools = serverRows(doc)
		}
		p.printRanking(&r, tools)
	}
	_, err := io.WriteString(w, p.out.String())
	return err
}

func (p *statsPrinter) paint(color, s string) string { return cmdline.Paint(p.color, color, s) }

// renderNumber returns a number and its word. The text is in the color, but not if the number is 0.
func (p *statsPrinter) renderNumber(color string, n int, word string) string {
	if n == 0 {
		color = ""
	}
	return p.paint(color, fmt.Sprintf("%d %s", n, word))
}

// renderSpan returns a time span as text. If both times are on the same day, the day appears once.
func renderSpan(from, to time.Time) string {
	const day = "2 Jan 2006"
	if from.Format(day) == to.Format(day) {
		return fmt.Sprintf("%s, %s to %s", from.Format(day), from.Format("15:04"), to.Format("15:04"))
	}
	return fmt.Sprintf("%s to %s", from.Format(day+" 15:04"), to.Format(day+" 15:04"))
}

// printTimeline prints one character for each hour. If the span is long, it prints one for each
// day. A higher character means more calls.
func (p *statsPrinter) printTimeline(hours []hourDoc) {
	const most = 48
	each, word := 3600*time.Second, "hour"
	first, last := hours[0].Hour, hours[len(hours)-1].Hour
	if last.Sub(first) >= most*each {
		each, word = 24*each, "day"
	}
	slot := func(t time.Time) int64 {
		_, east := t.Local().Zone()
		return (t.Unix() + int64(east)) / int64(each.Seconds())
	}
	from := max(slot(first), slot(last)-most+1)
	columns := make([]int, slot(last)-from+1)
	if len(columns) < 2 {
		return
	}
	for _, h := range hours {
		if i := slot(h.Hour) - from; i >= 0 {
			columns[i] += h.Calls
		}
	}
	bars, highest := []rune("▁▂▃▄▅▆▇█"), slices.Max(columns)
	for _, n := range columns {
		bar := ' '
		if n > 0 {
			bar = bars[(n*len(bars)-1)/highest]
		}
		p.out.WriteRune(bar)
	}
	fmt.Fprintf(&p.out, "  %s\n", p.paint(cmdline.Dim, fmt.Sprintf("calls by %s, at most %d", word, highest)))
}

// ranking describes one list of the tools or servers with the highest values.
type ranking struct {
	title, color string
	ofServers    bool
	value        func(*countsDoc) float64 // the value that sorts the rows; rows with 0 are omitted
	text, note   func(*countsDoc) string  // text is the value as text; note is the text after the bar
}

var rankings = []ranking{
	{title: "Most denied", color: cmdline.Red, note: ofCalls,
		value: func(c *countsDoc) float64 { return float64(c.Denied) }, text: func(c *countsDoc) string { return fmt.Sprint(c.Denied) }},
	{title: "Most asked", color: cmdline.Yellow, note: ofCalls,
		value: func(c *countsDoc) float64 { return float64(c.Asked) }, text: func(c *countsDoc) string { return fmt.Sprint(c.Asked) }},
	{title: "Slowest, by the median reply", note: func(c *countsDoc) string { return "longest " + durationText(c.LongestMS) },
		value: func(c *countsDoc) float64 { return c.MedianMS }, text: func(c *countsDoc) string { return durationText(c.MedianMS) }},
	{title: "Most called servers", ofServers: true, note: deniedText,
		value: func(c *countsDoc) float64 { return float64(c.Calls) }, text: func(c *countsDoc) string { return fmt.Sprint(c.Calls) }},
}

func ofCalls(c *countsDoc) string { return cmdline.CountText(c.Calls, "of 1 call", "of %d calls") }

func deniedText(c *countsDoc) string {
	if c.Denied == 0 {
		return ""
	}
	return fmt.Sprintf("%d denied", c.Denied)
}

func durationText(ms float64) string {
	return record.Duration(time.Duration(ms * float64(time.Millisecond)))
}

// serverRows returns the servers in the form of tools, so that a list can print them.
func serverRows(doc *statsDoc) []toolDoc {
	rows := make([]toolDoc, len(doc.Servers))
	for i, s := range doc.Servers {
		rows[i] = toolDoc{Tool: s.Server, countsDoc: s.countsDoc}
	}
	return rows
}

func (p *statsPrinter) printRanking(r *ranking, rows []toolDoc) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(t toolDoc) bool { return r.value(&t.countsDoc) == 0 })
	slices.SortStableFunc(rows, func(a, b toolDoc) int { return cmp.Compare(r.value(&b.countsDoc), r.value(&a.countsDoc)) })
	if len(rows) == 0 {
		return
	}
	more := ""
	if left := len(rows) - p.most; left > 0 {
		rows = rows[:p.most]
		more = p.paint(cmdline.Dim, fmt.Sprintf("  and %d more", left))
	}
	fmt.Fprintf(&p.out, "\n%s%s\n", p.paint(cmdline.Bold, r.title), more)
	const number, note = 7, len("longest 59m59s")
	tool, server := p.width*3/10, p.width*3/20
	bars := p.width - (2 + tool + 2 + server + 2 + number + 2 + 2 + note)
	highest := r.value(&rows[0].countsDoc)
	for i := range rows {
		c := &rows[i].countsDoc
		bar := max(1, int(r.value(c)/highest*float64(bars)))
		line := fmt.Sprintf("  %s  %s  %*s  %s%s  %s", nameCell(rows[i].Tool, tool), nameCell(rows[i].Server, server), number, r.text(c),
			p.paint(r.color, strings.Repeat("█", bar)), strings.Repeat(" ", bars-bar), p.paint(cmdline.Dim, r.note(c)))
		fmt.Fprintln(&p.out, strings.TrimRight(line, " "))
	}
}

// nameCell returns a name with exactly n columns. The name may come from a stranger, so nameCell
// makes it safe for a terminal.
func nameCell(s string, n int) string {
	return cmdline.Pad(cmdline.CutMiddle(term.VisibleText(s), n), n)
}
