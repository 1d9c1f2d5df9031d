package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/internal/wire/escape"
)

// Calls joins calls and their replies, for a screen with the latest calls.
type Calls struct {
	Show func(*Row) // called for each call, and again when the call's reply arrives

	open openCalls
}

// Add takes the next entry of the record.
func (c *Calls) Add(e *event.Entry) error {
	if call := c.open.rows[e.Ref]; call != nil && (isReply(e) || judgesReply(e)) {
		delete(c.open.rows, e.Ref)
		reply := *e
		reply.Raw = nil
		call.Reply = &reply
		c.Show(call)
	}
	if e.Kind != event.Decision && e.Kind != event.Dropped {
		return nil
	}
	row := &Row{Entry: *e}
	row.Entry.Raw = nil
	if awaitsReply(e) {
		c.open.addCall(row)
	}
	c.Show(row)
	return nil
}

// ScreenLine returns a row as one line without colors. The string word is the part of the line that
// names the decision or the result, such as allow.
func ScreenLine(r *Row, width int, home string) (line, word string) {
	p := Printer{Width: width + 1, Home: home}
	shown := *r
	if len(shown.Entry.Names) == 0 && shown.Entry.Method == "" {
		shown.Entry.Method = "(no call)" // without this text, the columns of this row would be shifted
	}
	word, _ = verdictWord(&shown.Entry)
	return p.fitRow(&shown), word
}

// Brief has the few texts of a call that a list shows. The texts are short and safe for a terminal.
type Brief struct{ Word, About, Why, Ended string }

// NewBrief returns the Brief of a row.
func NewBrief(r *Row, home string) Brief {
	e := &r.Entry
	word, _ := verdictWord(e)
	ended, _ := callEnding(r)
	reasons := []string{e.Reason, e.RuleText, e.Words}
	if e.Kind == event.Dropped {
		reasons = append(reasons, e.Detail)
	}
	if r.isWithheld() {
		reasons = append(reasons, r.Reply.Reason)
	}
	reasons = slices.DeleteFunc(reasons, func(s string) bool { return s == "" })
	why := Short(strings.Join(slices.Compact(reasons), separator), 3*MaxText)
	return Brief{Word: word, About: Short(shortenHome(view.MainArgument(e.Args), home), 2*MaxText), Why: why, Ended: ended}
}

// CanExplain reports whether a recorded decision about a call can be judged again.
func CanExplain(e *event.Entry) bool { return replay.IsJudged(e) && !judgesReply(e) }

// CanOpen reports whether a new rule could allow a recorded call. The call must have been refused
// or asked about.
func CanOpen(e *event.Entry) bool {
	return CanExplain(e) && (e.Decision != "allow" || e.Policy == "prompt")
}

// Facts returns everything in the record about a call, as lines of at most width columns. The lines
// are safe for a terminal. The first line is a summary.
func Facts(r *Row, width int, home string) []string {
	e := &r.Entry
	word, _ := verdictWord(e)
	if e.Kind == event.Dropped {
		word = "a message was dropped"
	}
	lines := []string{strings.TrimSpace(word + "  " + toolOf(e) + "  " + term.VisibleText(shortenHome(view.MainArgument(e.Args), home)))}
	add := func(label, text string) {
		if text != "" {
			lines = append(lines, view.LabelLine(label, text))
		}
	}
	why := e.Reason
	if why == "" && e.Code == gate.CodeNoRule {
		why = "no rule allows it"
	}
	add("why", Short(why, 10*MaxText))
	if e.Answer != "" {
		add("answer", Short(e.Answer, MaxText)+" ("+renderAnswerer(e)+", after "+Duration(e.Waited)+")")
	}
	if e.IsObserved() {
		add("observed", "nothing was enforced; "+Short(wouldText(e), MaxText))
	}
	if e.RuleLine > 0 {
		add("rule", fmt.Sprintf("%s:%d  %s", term.VisibleText(shortenHome(e.RuleFile, home)), e.RuleLine, Short(e.RuleText, 2*MaxText)))
	}
	add("labels", strings.Join(e.Labels.LabelWords(), ", "))
	add("found", Short(strings.Join(e.Finds, ", "), 10*MaxText))
	add("server", serverName(e))
	add("who", Short(strings.Join(e.Who.List(), ", "), 2*MaxText))
	add("roles", Short(strings.Join(e.Roles.List(), ", "), 2*MaxText))
	add("environment", Short(e.Env, MaxText))
	add("agent", Short(e.Agent, MaxText))
	add("client", Short(e.Client, MaxText))
	add("method", Short(e.Method, MaxText))
	add("arguments", Short(escape.ReadableJSON(e.Args), 40*MaxText))
	add("reply", strings.Join(replyParts(r), "; "))
	if r.Reply != nil {
		add("", Short(r.Reply.Reason, 10*MaxText))
		add("found", Short(strings.Join(r.Reply.Finds, ", "), 10*MaxText))
	}
	add("time", e.Time.Local().Format(time.DateTime))
	add("session", term.VisibleText(e.Session))
	add("folder", term.VisibleText(shortenHome(e.Cwd, home)))
	add("record", term.VisibleText(e.Record))
	if e.Kind == event.Decision {
		add("explain", "clawai log explain "+term.VisibleText(e.Record))
	}
	if r.Reply != nil {
		add("release", releaseCommand(r.Reply))
	}
	add("release", releaseCommand(e))
	if CanOpen(e) {
		add("open", "clawai policy allow --from "+term.VisibleText(e.Record))
	}
	return view.Wrap(lines, width)
}
