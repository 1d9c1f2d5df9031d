package dashboard

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/overview"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/ask/web"
	"github.com/clawai/clawai/internal/page"
	"github.com/clawai/clawai/internal/text/term"
)

// renderOverview returns the first view of the page. It shows the waiting questions, the last
// refused call, and the calls that sessions may no longer make. Below, it shows the calls by hour
// and the tools.
func (v *Views) renderOverview(ctx context.Context, f *filter) (*web.Element, error) {
	waits, err := v.newWaiting(ctx)
	if err != nil {
		return nil, err
	}
	closed, err := v.newClosed(ctx)
	if err != nil {
		return nil, err
	}
	s := v.model.Sum(f.wanted())
	counted := s.Total() > 0
	chart := web.NewElement("p").Set("class", "empty")
	if counted {
		chart = newHoursChart(&s, f)
	} else if s.Caught {
		chart.Add("No call in this time.")
	}
	calls := newNode("section", "panel",
		newNode("div", "bar", newNode("h2", "", "Calls by hour"), newPeriods(f, "/overview")),
		f.newFilterLine("/overview", "server", "tool", "rule"), v.newProgress(&s),
		newNode("p", "total", newNode("strong", "", countText(s.Total(), "1 call", "calls")), " ", newCounts(s.Counts, true)), chart)
	body := newNode("div", "view", v.newPolicyFault(), newNode("div", "cards", waits, v.newRefused(), closed))
	latest, _ := v.latest.List(8, func(*overview.Call) bool { return true })
	if !counted && len(latest) == 0 {
		return body.Add(newNode("section", "panel", newNode("h2", "", "Nothing is recorded yet"),
			newEmpty("Calls come here as soon as an agent uses a server that is behind clawai. To put your servers behind it, run:", "clawai wrap"),
			newEmpty("To look first, run:", "clawai demo"))), nil
	}
	return body.Add(calls, newNode("div", "columns",
		newRanking("Most refused tools", "Nothing was refused in this time.", &s, view.Refused),
		newRanking("Most asked tools", "No tool was asked about in this time.", &s, view.Asked)),
		newNode("section", "panel", newNode("div", "bar", newNode("h2", "", "Latest calls"), newLink("/calls", "All calls")), v.newCallList(latest))), nil
}

// newPeriods returns the links to the two periods: 24 hours and 7 days.
func newPeriods(f *filter, path string) *web.Element {
	since := f.get("since")
	line := newNode("p", "choice")
	for _, one := range []struct{ value, text string }{{"", "24 hours"}, {"7d", "7 days"}} {
		link := newLink(f.with(path, "since", one.value), one.text)
		if since == one.value || one.value == "" && since == "24h" {
			link.Set("aria-current", "true")
		}
		line.Add(link)
	}
	return line
}

// newProgress returns the latest note about the record. Without a note, it returns how far the
// counting of the record has come, or nil if everything is counted.
func (v *Views) newProgress(s *overview.Sums) *web.Element {
	if note := v.newRecordNote(); note != nil {
		return note
	}
	if s.Caught {
		return nil
	}
	text := "The record is being read; the numbers grow until that is done."
	if !s.Read.IsZero() {
		text = fmt.Sprintf("The record is being read, until now up to %s; the numbers grow until that is done.", s.Read.Local().Format("Mon 2 Jan, 15:04"))
	}
	return newNode("p", "note", text)
}

// newRecordNote returns the latest note about the record, such as a fault; nil without a note.
func (v *Views) newRecordNote() *web.Element {
	note := v.latest.Note()
	if note == "" {
		return nil
	}
	return newNode("p", "trouble", strings.ToUpper(note[:1])+note[1:]+".")
}

// newPolicyFault returns a text about a policy that does not load, or nil if the policy loads.
func (v *Views) newPolicyFault() *web.Element {
	if fault := v.model.PolicyFault(); fault != "" {
		return newNode("p", "trouble", newNode("strong", "", "The policy does not load: "), fault)
	}
	return nil
}

func newCard(look view.Look, title string, children ...any) *web.Element {
	return newNode("section", "card "+look.Word(), append([]any{newNode("h2", "", title)}, children...)...)
}

// newWaiting returns a card with the questions that wait for an answer.
func (v *Views) newWaiting(ctx context.Context) (*web.Element, error) {
	pending, err := v.queue.Pending(ctx)
	if err != nil {
		return nil, err
	}
	if len(pending) == 0 {
		return newCard(view.Plain, "Waits now", newNode("p", "none", "Nothing"), newNode("p", "quiet", "Questions come here by themselves.")), nil
	}
	first := &pending[0]
	card := newCard(view.Asked, "Waits now",
		newNode("p", "lead", newMark(view.Asked, countText(len(pending), "1 question", "questions"))),
		newNode("p", "", v.requestTitle(first)))
	if !first.Deadline.IsZero() {
		left := max(first.Deadline.Sub(v.now()), 0).Round(time.Second)
		card.Add(newNode("p", "quiet", fmt.Sprintf("%d:%02d left to answer", int(left.Minutes()), int(left.Seconds())%60)))
	}
	return card.Add(newNode("p", "", newLink("/", "Answer").Set("class", "do"))), nil
}

// requestTitle returns a sentence about a request: the server, and what the call would do.
func (v *Views) requestTitle(r *queue.Request) string {
	if r.Damage == nil {
		if q, err := view.NewQuestion(r.Calls, view.Options{Server: r.Server, Reply: r.IsReply(), Home: v.home}); err == nil {
			return q.Headline(0)
		}
	}
	return "A call that cannot be shown"
}

// newRefused returns a card with the last refused call.
func (v *Views) newRefused() *web.Element {
	last, _ := v.latest.List(1, func(c *overview.Call) bool { return c.Look == view.Refused })
	if len(last) == 0 && !v.latest.IsComplete() {
		return newCard(view.Plain, "Refused last", newNode("p", "none", "One moment…"))
	}
	if len(last) == 0 {
		return newCard(view.Plain, "Refused last", newNode("p", "none", "Nothing"), newNode("p", "quiet", "None of the latest calls was refused."))
	}
	c := &last[0]
	return newCard(view.Refused, "Refused last",
		newNode("p", "lead", newMark(view.Refused, nameOf(c.Tool)), newNode("span", "quiet", " "+c.Server)),
		newNode("p", "argument clamp", c.About), newNode("p", "quiet clamp", c.Why),
		newNode("p", "", newTime(c.Time, v.now()), " · ", newLink(page.Address("/calls", "decision", "refused"), "All refused")))
}

// newTime returns a time of day. If the day is not today, it also has the day.
func newTime(at, now time.Time) *web.Element {
	at, layout := at.Local(), "15:04:05"
	if at.Format(time.DateOnly) != now.Format(time.DateOnly) {
		layout = "2 Jan 15:04"
	}
	return newNode("time", "when", at.Format(layout)).Set("datetime", at.Format(time.RFC3339))
}

// newClosed returns a card with the calls that a session may no longer make.
func (v *Views) newClosed(ctx context.Context) (*web.Element, error) {
	all, err := v.model.LoadSessions(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		s := &all[i]
		if len(s.Closed) == 0 {
			continue
		}
		card := newCard(s.Look(), "Now forbidden", newNode("p", "lead", newLink(page.Address("/timeline", "session", s.Key), sessionTitle(s))))
		card.Add(newFirstClosures(s)...)
		return card.Add(newNode("p", "", newLabels(s.Labels()), " ", newLink("/sessions", "All sessions"))), nil
	}
	if v.model.PolicyFault() != "" {
		return newCard(view.Refused, "Now forbidden", newNode("p", "none", "Not known"), newNode("p", "quiet", "The policy does not load.")), nil
	}
	return newCard(view.Plain, "Now forbidden", newNode("p", "none", "Nothing"), newNode("p", "quiet", "No session has seen what would close anything.")), nil
}

// sessionTitle returns a title for a session: the client and the session's name.
func sessionTitle(s *overview.Session) string {
	return term.VisibleText(s.ClientName()) + " " + s.Name()
}

// newLabels returns labels, each with its color and its word.
func newLabels(words []string) *web.Element {
	line := newNode("span", "labels")
	for _, word := range words {
		line.Add(newNode("span", "label "+word, word))
	}
	return line
}
