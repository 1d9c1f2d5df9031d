package record

import (
	"fmt"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/text/term"
)

// The numbers of columns of the parts of a line on a terminal.
const (
	timeCells = len("15:04:05")
	wordCells = len("observed")
	endCells  = len("no reply")
	gap       = "  "
	roomy     = 100 // minimum number of columns of a line that shows the record's id
	idCells   = len("k3f9x2m7qa-1234")
)

// printDate prints the day of a row if the previous row has another day.
func (p *Printer) printDate(r *Row) error {
	day := r.Entry.Time.Local().Format("Monday, 2 January 2006")
	if day == p.day {
		return nil
	}
	lead := "\n"
	if p.day == "" {
		lead = ""
	}
	p.day = day
	_, err := fmt.Fprintln(p.Out, lead+cmdline.Paint(p.Color, cmdline.Bold, day))
	return err
}

// fitRow returns a row as one line of the terminal: time, decision, tool, main argument, as many
// details as fit, and the end of the call.
func (p *Printer) fitRow(r *Row) string {
	e := &r.Entry
	word, color := verdictWord(e)
	left := max(p.Width, 60) - 1 // minus 1, because the terminal breaks a line of the full width
	parts := []string{
		cmdline.Paint(p.Color, cmdline.Dim, e.Time.Local().Format("15:04:05")),
		cmdline.Paint(p.Color, color, cmdline.Pad(word, wordCells)),
	}
	left -= timeCells + len(gap) + wordCells
	if tool := toolOf(e); tool != "" {
		cells := min(max(p.Width/4-2, 16), 30)
		parts = append(parts, cmdline.Pad(cmdline.CutMiddle(tool, cells), cells))
		left -= len(gap) + cells
	}
	id := ""
	if p.Width >= roomy {
		// The id is never shortened, because the start of an id may fit several records.
		shown := cmdline.Pad(term.VisibleLine(e.Record), idCells)
		left -= len(gap) + view.Width(shown)
		id = gap + cmdline.Paint(p.Color, cmdline.Dim, shown)
	}
	end, endColor := callEnding(r)
	if end != "" || id != "" {
		left -= len(gap) + endCells
	}
	text, used := p.fitDetails(e, r.Reply, left-len(gap))
	if parts = append(parts, text); end != "" || id != "" {
		parts[len(parts)-1] += strings.Repeat(" ", max(0, left-len(gap)-used))
		parts = append(parts, cmdline.Paint(p.Color, endColor, fmt.Sprintf("%*s", endCells, end)))
	}
	return strings.TrimRight(strings.Join(parts, gap)+id, " ")
}

// toolOf returns the subject of a row as a text: a tool or another name, or else the method.
func toolOf(e *event.Entry) string {
	if len(e.Names) > 0 {
		return Short(strings.Join(e.Names, " "), MaxText)
	}
	return Short(e.Method, MaxText)
}

// callEnding returns the result of a call in a few characters.
func callEnding(r *Row) (text, color string) {
	switch {
	case r.Call != nil:
		return Duration((&Row{Entry: r.Call.Entry, Reply: &r.Entry}).ReplyTime()), cmdline.Dim
	case r.Reply == nil && r.Over:
		return "no reply", cmdline.Yellow
	case r.Reply == nil:
		return "", ""
	case r.isWithheld():
		return "withheld", cmdline.Red
	case r.Reply.IsError:
		return "failed", cmdline.Yellow
	}
	return Duration(r.ReplyTime()), cmdline.Dim
}

// fitDetails returns the main argument and the details of an entry in at most room columns. cells
// is the number of columns that it has used. If there is too little room, it shortens the argument
// and omits optional details. It keeps the required details.
func (p *Printer) fitDetails(e, reply *event.Entry, room int) (text string, cells int) {
	main := term.VisibleText(shortenHome(view.MainArgument(e.Args), p.Home))
	must := strings.Join(p.requiredParts(e, reply), separator)
	if main != "" {
		if must != "" {
			must = separator + must
		}
		main = cmdline.CutMiddle(main, max(room-view.Width(must), room*3/5))
	}
	notes := view.Cut(must, room-view.Width(main))
	for _, note := range p.optionalParts(e) {
		if main+notes != "" {
			note = separator + note
		}
		if view.Width(main+notes+note) <= room {
			notes += note
		}
	}
	return main + cmdline.Paint(p.Color, cmdline.Dim, notes), view.Width(main + notes)
}

const separator = " · "

// requiredParts returns the details that every line must show after the main argument.
func (p *Printer) requiredParts(e, reply *event.Entry) (all []string) {
	switch {
	case e.IsObserved() && e.Kind == event.Decision:
		all = append(all, Short(wouldText(e), MaxText))
	case isHandedOver(e):
		all = append(all, "its client asks")
	case e.WasAsked() && e.Kind == event.Decision && e.Decision == "allow":
		all = append(all, "asked")
	}
	if e.Answer != "" {
		all = append(all, fmt.Sprintf("%s (%s, after %s)", Short(e.Answer, MaxText), renderAnswerer(e), Duration(e.Waited)))
	}
	for _, list := range []*event.Entry{e, reply} {
		if list != nil && len(list.Declared) > 0 {
			all = append(all, declaredText(list))
		}
	}
	if judgesReply(e) && e.Decision == "deny" {
		all = append(all, "withheld")
	}
	if e.Decision != "allow" {
		all = append(all, p.reasonTexts(e)...)
	}
	return all
}

// optionalParts returns the details that a line shows if there is room for them. The most important
// detail is first.
func (p *Printer) optionalParts(e *event.Entry) (all []string) {
	if e.Decision == "deny" && len(e.Finds) > 0 {
		all = append(all, "found "+Short(strings.Join(e.FoundKinds(), ", "), MaxText))
	}
	if command := releaseCommand(e); command != "" {
		all = append(all, command)
	}
	if server := serverName(e); server != "" {
		all = append(all, server)
	}
	if e.Decision == "allow" {
		all = append(all, p.reasonTexts(e)...)
	}
	if e.RuleLine > 0 {
		all = append(all, fmt.Sprintf("%s:%d", term.VisibleText(shortenHome(e.RuleFile, p.Home)), e.RuleLine))
	}
	if isReply(e) {
		all = append(all, "of "+Short(e.Ref, MaxText))
	}
	return all
}

// reasonTexts returns the texts of an entry. The reason is before the description of the rule,
// because the reason is about this call.
func (p *Printer) reasonTexts(e *event.Entry) (all []string) {
	detail := e.Detail
	// This text is from clawai itself, about the owner's files.
	if e.Kind == event.Start || e.Kind == event.Policy {
		detail = shortenHome(detail, p.Home)
	}
	for _, s := range []string{e.Reason, e.RuleText, e.Words, detail} {
		if s != "" {
			all = append(all, Short(s, 2*MaxText))
		}
	}
	return all
}
