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
	o.Server, o.Rule, o.Digest, o.Project, o.Why, o.Reply = r.Server, r.Rule, r.Digest, r.Project, r.Reason, r.Reply()
	q, err := view.Of(r.Calls, o)
	if r.Damage != nil {
		err = r.Damage
	}
	if err != nil {
		q.Title = "a call that cannot be shown, of " + named(r.Server)
	}
	if r.Risk == dangerous && len(q.Dangers) == 0 {
		q.Dangers = []string{"the proxy that asks calls it dangerous"}
	}
	return &Facts{Question: q, Err: err}
}

// Careful says that one key must not be enough.
func (f *Facts) Careful() bool { return len(f.Dangers) > 0 || f.Err != nil }

// CarefulFirst is requests with those that need care before the others, which is how lists
// have them.
func CarefulFirst(all []queue.Request, o view.Options) []queue.Request {
	o.ReadFile = nil
	care := map[string]bool{}
	for i := range all {
		care[all[i].ID] = FactsOf(&all[i], o).Careful()
	}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b queue.Request) int {
		return carefulFirst(func(r *queue.Request) bool { return care[r.ID] }, &a, &b)
	})
	return sorted
}

// Line is the request on one line of at most n cells.
func (f *Facts) Line(n int) string {
	if f.Err != nil {
		return f.Title + ": deny it, or it denies by itself at its deadline"
	}
	return f.Row(n)
}

// Headline is it in one sentence of at most n cells.
func (f *Facts) Headline(n int) string {
	if f.Err != nil {
		return f.Title
	}
	return f.Question.Headline(n)
}

// brief is what a row of a list is made of.
func (m *model) brief(r *queue.Request) *Facts {
	f := m.known[r.ID]
	if f == nil {
		f = FactsOf(r, m.o.brief())
		m.known[r.ID] = f
	}
	return f
}

// text is what the filter looks at.
func (m *model) text(r *queue.Request) string {
	f := m.brief(r)
	if f.text == "" {
		f.text = strings.ToLower(f.Short(4096) + " " + f.Headline(0) + " " + r.ID)
	}
	return f.text
}

// forget drops what is known of requests that are in no list any more.
func (m *model) forget() {
	for id := range m.known {
		if m.pending.find(id) == nil && m.past.find(id) == nil {
			delete(m.known, id)
			delete(m.notes, id)
		}
	}
}

// title names a request in few words.
func (m *model) title(r *queue.Request) string { return m.brief(r).Title }

func named(server string) string {
	if server == "" {
		return "a server without a name"
	}
	return term.Value(server)
}

// lines are the rows of the request under the cursor.
func (m *model) lines(r *queue.Request, width int) (rows []string, need int) {
	return m.facts.rows(r, width, m.o.View.Home, m.notes[r.ID], m.whole)
}

// rows is everything about one request, in rows of at most width cells, and how
// many of them must have been in sight to allow it: as view.Question.Rows has
// them, with our own around. whole shows also what package view leaves out of
// very long values.
func (f *Facts) rows(r *queue.Request, width int, home, note string, whole bool) (rows []string, need int) {
	lines := f.Lines(0)
	if f.Err != nil {
		lines = []string{f.Title, "", "It cannot be shown: " + term.Text(f.Err.Error()) + ". It can only be denied.", "", view.Label("server", named(r.Server))}
		for _, d := range f.Dangers {
			lines = append(lines, view.Careful+d)
		}
	}
	own := lines[:1:1]
	if own[0] = f.Headline(2 * width); r.Status != queue.Pending {
		own = append(own, view.Label("state", StatusText(*r)))
	}
	if note != "" {
		own = append(own, view.Label("note", term.Value(note)))
	}
	folded := f.Entire(width)
	if whole {
		folded = view.Wrap(everything(f), width)
	}
	rows = view.Wrap(append(own, lines[1:]...), width)
	need = len(rows)
	rows = slices.Concat(rows, view.Wrap(around(r, home), width), folded)
	if f.Careful() && len(folded) > 0 {
		need = len(rows)
	}
	return rows, need
}

// FactLines is everything about one request, unwrapped.
func FactLines(r *queue.Request, o view.Options) []string {
	rows, _ := FactsOf(r, o).rows(r, 0, o.Home, "", false)
	return rows
}

// around is what stands around the call.
func around(r *queue.Request, home string) []string {
	var lines []string
	add := func(word, text string) {
		if text != "" {
			lines = append(lines, view.Label(word, text))
		}
	}
	if r.Client != "" {
		add("client", term.Value(r.Client))
	}
	if r.Project != "" {
		add("folder", term.Value(view.Tilde(r.Project, home)))
	}
	if r.Status == queue.Pending && !r.Deadline.IsZero() {
		add("until", r.Deadline.Local().Format(time.TimeOnly)+"; no answer denies")
	}
	if r.Status == queue.Pending && len(r.Offers) == 0 && r.NoOffer != "" {
		add("always", "not offered: "+term.Text(r.NoOffer))
	}
	add("request", term.Visible(r.ID))
	return lines
}

// everything is the values that are folded above, without any gap.
func everything(f *Facts) []string {
	var lines []string
	for i := range f.Requests {
		for _, a := range f.Requests[i].Values() {
			if !a.Folded {
				continue
			}
			lines = append(lines, fmt.Sprintf("request %d: %s, entire", i+1, a.Path))
			for line := range a.Each() {
				lines = append(lines, view.Gutter+line)
			}
		}
	}
	return lines
}

// gaps says that Entire leaves something out.
func (f *Facts) gaps() bool {
	return slices.ContainsFunc(f.Requests, func(r view.Request) bool {
		return slices.ContainsFunc(r.Values(), func(a view.Arg) bool { return a.Hidden > 0 })
	})
}
