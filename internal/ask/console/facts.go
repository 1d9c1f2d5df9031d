package console

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/text/term"
)

// dangerous is the word of queue.Request.Risk that asks for care.
const dangerous = "dangerous"

// Facts is one request as harmless text.
type Facts struct {
	view.Question
	Err error // it cannot be shown; then it can only be denied

	text string // what a filter looks at
}

// FactsOf makes a request harmless text. Of o it needs what is not about the
// request.
func FactsOf(r *queue.Request, o view.Options) *Facts {
	o.Server, o.Rule, o.Digest, o.Project, o.Why, o.Reply = r.Server, r.Rule, r.Digest, r.Project, r.Reason, r.IsReply()
	q, err := view.NewQuestion(r.Calls, o)
	if r.Damage != nil {
		err = r.Damage
	}
	if err != nil {
		q.Title = "a call that cannot be shown, of " + serverName(r.Server)
	}
	if r.Risk == dangerous && len(q.Dangers) == 0 {
		q.Dangers = []string{"the proxy that asks calls it dangerous"}
	}
	return &Facts{Question: q, Err: err}
}

// NeedsCare says that one key must not be enough.
func (f *Facts) NeedsCare() bool { return len(f.Dangers) > 0 || f.Err != nil }

// CarefulFirst gives requests with those that need care before the others, which is how lists
// have them.
func CarefulFirst(all []queue.Request, o view.Options) []queue.Request {
	o.ReadFile = nil
	care := map[string]bool{}
	for i := range all {
		care[all[i].ID] = FactsOf(&all[i], o).NeedsCare()
	}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b queue.Request) int {
		return carefulFirst(func(r *queue.Request) bool { return care[r.ID] }, &a, &b)
	})
	return sorted
}

// RequestLine gives the request on one line of at most n cells.
func (f *Facts) RequestLine(n int) string {
	if f.Err != nil {
		return f.Title + ": deny it, or it denies by itself at its deadline"
	}
	return f.HeadlineRow(n)
}

// Headline is it in one sentence of at most n cells.
func (f *Facts) Headline(n int) string {
	if f.Err != nil {
		return f.Title
	}
	return f.Question.Headline(n)
}

// briefFacts gives what a row of a list is made of.
func (m *model) briefFacts(r *queue.Request) *Facts {
	f := m.known[r.ID]
	if f == nil {
		f = FactsOf(r, m.o.briefView())
		m.known[r.ID] = f
	}
	return f
}

// filterText gives what the filter looks at.
func (m *model) filterText(r *queue.Request) string {
	f := m.briefFacts(r)
	if f.text == "" {
		f.text = strings.ToLower(f.ShortLine(4096) + " " + f.Headline(0) + " " + r.ID)
	}
	return f.text
}

// forgetRequests drops what is known of requests that are in no list any more.
func (m *model) forgetRequests() {
	for id := range m.known {
		if m.pending.findRequest(id) == nil && m.past.findRequest(id) == nil {
			delete(m.known, id)
			delete(m.notes, id)
		}
	}
}

// requestTitle names a request in few words.
func (m *model) requestTitle(r *queue.Request) string { return m.briefFacts(r).Title }

func serverName(server string) string {
	if server == "" {
		return "a server without a name"
	}
	return term.VisibleValue(server)
}

// detailLines gives the rows of the request under the cursor.
func (m *model) detailLines(r *queue.Request, width int) (rows []string, need int) {
	return m.facts.detailRows(r, width, m.o.View.Home, m.notes[r.ID], m.whole)
}

// detailRows gives everything about one request, in rows of at most width cells, and how
// many of them must have been in sight to allow it: as view.Question.Rows has
// them, with our own around. whole shows also what package view leaves out of
// very long values.
func (f *Facts) detailRows(r *queue.Request, width int, home, note string, whole bool) (rows []string, need int) {
	lines := f.Lines(0)
	if f.Err != nil {
		lines = []string{f.Title, "", "It cannot be shown: " + term.VisibleText(f.Err.Error()) + ". It can only be denied.", "", view.LabelLine("server", serverName(r.Server))}
		for _, d := range f.Dangers {
			lines = append(lines, view.Careful+d)
		}
	}
	own := lines[:1:1]
	if own[0] = f.Headline(2 * width); r.Status != queue.Pending {
		own = append(own, view.LabelLine("state", StatusText(*r)))
	}
	if note != "" {
		own = append(own, view.LabelLine("note", term.VisibleValue(note)))
	}
	folded := f.EntireLines(width)
	if whole {
		folded = view.Wrap(unfoldedLines(f), width)
	}
	rows = view.Wrap(append(own, lines[1:]...), width)
	need = len(rows)
	rows = slices.Concat(rows, view.Wrap(contextLines(r, home), width), folded)
	if f.NeedsCare() && len(folded) > 0 {
		need = len(rows)
	}
	return rows, need
}

// FactLines gives everything about one request, unwrapped.
func FactLines(r *queue.Request, o view.Options) []string {
	rows, _ := FactsOf(r, o).detailRows(r, 0, o.Home, "", false)
	return rows
}

// contextLines gives what stands around the call.
func contextLines(r *queue.Request, home string) []string {
	var lines []string
	add := func(word, text string) {
		if text != "" {
			lines = append(lines, view.LabelLine(word, text))
		}
	}
	if r.Client != "" {
		add("client", term.VisibleValue(r.Client))
	}
	if r.Project != "" {
		add("folder", term.VisibleValue(view.TildePath(r.Project, home)))
	}
	if r.Status == queue.Pending && !r.Deadline.IsZero() {
		add("until", r.Deadline.Local().Format(time.TimeOnly)+"; no answer denies")
	}
	if r.Status == queue.Pending && len(r.Offers) == 0 && r.NoOffer != "" {
		add("always", "not offered: "+term.VisibleText(r.NoOffer))
	}
	add("request", term.VisibleLine(r.ID))
	return lines
}

// unfoldedLines gives the values that are folded above, without any gap.
func unfoldedLines(f *Facts) []string {
	var lines []string
	for i := range f.Requests {
		for _, a := range f.Requests[i].Values() {
			if !a.Folded {
				continue
			}
			lines = append(lines, fmt.Sprintf("request %d: %s, entire", i+1, a.Path))
			for line := range a.EachLine() {
				lines = append(lines, view.Gutter+line)
			}
		}
	}
	return lines
}

// hasGaps says that Entire leaves something out.
func (f *Facts) hasGaps() bool {
	return slices.ContainsFunc(f.Requests, func(r view.Request) bool {
		return slices.ContainsFunc(r.Values(), func(a view.Arg) bool { return a.Hidden > 0 })
	})
}
