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

// dangerous is the value of queue.Request.Risk for a request that needs care.
const dangerous = "dangerous"

// Facts holds the harmless texts of one request.
type Facts struct {
	view.Question
	Err error // why the request cannot be shown; nil if it can. A request that cannot be shown can only be denied.

	home string // home folder of the owner of the laptop that asks
	text string // text that the filter searches
}

// FactsOf returns the harmless text of a request. It uses only those options in o that are the same
// for all requests. If the request comes from another laptop, FactsOf does not use the files and
// folders of this machine.
func FactsOf(r *queue.Request, o view.Options) *Facts {
	if r.Centre != nil {
		o.Home, o.Own, o.ReadFile = r.Centre.Home, nil, nil
	}
	o.Server, o.Rule, o.Digest, o.Project, o.Why, o.Reply, o.Preview = r.Server, r.Rule, r.Digest, r.Project, r.Reason, r.IsReply(), r.Preview
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
	return &Facts{Question: q, Err: err, home: o.Home}
}

// NeedsCare reports whether the person must confirm an answer that allows the request.
func (f *Facts) NeedsCare() bool { return len(f.Dangers) > 0 || f.Err != nil }

// CarefulFirst returns the requests sorted for a list: the requests that need care come first.
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

// RequestLine returns the request on one line of at most n cells.
func (f *Facts) RequestLine(n int) string {
	if f.Err != nil {
		return f.Title + ": deny it, or it denies by itself at its deadline"
	}
	return f.HeadlineRow(n)
}

// Headline returns the request as one sentence of at most n cells.
func (f *Facts) Headline(n int) string {
	if f.Err != nil {
		return f.Title
	}
	return f.Question.Headline(n)
}

// briefFacts returns the facts of a request for a row of a list.
func (m *model) briefFacts(r *queue.Request) *Facts {
	f := m.known[r.ID]
	if f == nil {
		f = FactsOf(r, m.o.briefView())
		m.known[r.ID] = f
	}
	return f
}

// filterText returns the text that the filter searches.
func (m *model) filterText(r *queue.Request) string {
	f := m.briefFacts(r)
	if f.text == "" {
		f.text = strings.ToLower(f.ShortLine(4096) + " " + f.Headline(0) + " " + r.ID)
	}
	return f.text
}

// forgetRequests drops cached data of requests that are no longer in any list.
func (m *model) forgetRequests() {
	for id := range m.known {
		if m.pending.findRequest(id) == nil && m.past.findRequest(id) == nil {
			delete(m.known, id)
			delete(m.notes, id)
		}
	}
}

// requestTitle returns a short name of a request.
func (m *model) requestTitle(r *queue.Request) string { return m.briefFacts(r).Title }

func serverName(server string) string {
	if server == "" {
		return "a server without a name"
	}
	return term.VisibleValue(server)
}

// detailLines returns the detail rows of the request under the cursor. The result need is the
// number of rows that the person must have seen before allowing.
func (m *model) detailLines(r *queue.Request, width int) (rows []string, need int) {
	return m.facts.detailRows(r, width, m.notes[r.ID], m.whole)
}

// detailRows returns all facts about one request, in rows of at most width cells. The result need
// is the number of rows, from the top, that the person must have seen before allowing. If whole is
// true, the rows show very long values completely.
func (f *Facts) detailRows(r *queue.Request, width int, note string, whole bool) (rows []string, need int) {
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
	rows = slices.Concat(rows, view.Wrap(contextLines(r, f.home), width), folded)
	if f.NeedsCare() && len(folded) > 0 {
		need = len(rows)
	}
	return rows, need
}

// FactLines returns all facts about one request, in lines that are not wrapped.
func FactLines(r *queue.Request, o view.Options) []string {
	rows, _ := FactsOf(r, o).detailRows(r, 0, "", false)
	return rows
}

// contextLines returns facts about the request that are not in the call: its client, folder,
// deadline and id.
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
	if c := r.Centre; c != nil {
		add("laptop", term.VisibleText(c.Laptop))
		add("approvers", term.VisibleText(c.Approvers))
		if c.Hidden > 0 {
			add("hidden", fmt.Sprintf("%d secrets are not shown: each [redacted:KIND:LENGTH] stands for one", c.Hidden))
		}
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

// unfoldedLines returns in full the values that the rows above show folded.
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

// hasGaps reports whether EntireLines leaves out a part of a value.
func (f *Facts) hasGaps() bool {
	return slices.ContainsFunc(f.Requests, func(r view.Request) bool {
		return slices.ContainsFunc(r.Values(), func(a view.Arg) bool { return a.Hidden > 0 })
	})
}
