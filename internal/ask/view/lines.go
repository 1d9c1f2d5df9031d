package view

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Gutter begins every line of a value that Entire gives. No value can show its character,
// so no line of one passes for ours.
const Gutter = "  ┆ "

// Change begins every line of a change that Lines and Changes give; op is its DiffLine's.
// It stands before the gutter, where no line of a value can have it.
func Change(op byte) string { return "  " + string(op) + " ┆ " }

// Careful begins a line that says why a call needs care.
var Careful = Label("careful", "")

// Label pads the word that begins a line.
func Label(word, text string) string { return fmt.Sprintf("%-11s%s", word, text) }

// Lines is the question as plain text, in rows of at most width cells; 0 does
// not wrap. First what is asked in one sentence, and why it needs care; below it what
// would change, then all arguments, and last whom and what it is called by. Long values
// are folded; Entire has them whole.
func (q Question) Lines(width int) []string {
	lines := []string{q.Headline(2 * width)}
	for _, d := range q.Dangers {
		lines = append(lines, Careful+d)
	}
	if q.Why != "" {
		lines = append(lines, Label("why", q.Why))
	}
	shared := q.shared()
	for i := range q.Requests {
		r := &q.Requests[i]
		if len(q.Requests) > 1 {
			lines = append(lines, "", r.deed.text(fmt.Sprintf("request %d of %d  ", i+1, len(q.Requests)), max(2*width, maxHeadline)))
		}
		lines = append(lines, r.body(len(q.Requests) == 1)...)
		lines = append(lines, without(r.facts(&q), shared)...)
	}
	if len(q.Requests) > 1 {
		lines = append(lines, "")
	}
	return Wrap(append(lines, q.tail()...), width)
}

// Several is questions that one answer holds for, as Lines has one: each with what it
// would change and its arguments, and what all have in common once, below them.
func Several(qs []Question, width int) (rows []string) {
	shared := qs[0].tail()
	for i := range qs {
		shared = both(shared, qs[i].tail())
	}
	for i := range qs {
		q := &qs[i]
		head, lines := fmt.Sprintf("%d of %d  ", i+1, len(qs)), q.Lines(0)[1:]
		if len(q.Requests) == 1 {
			lines = append(q.Requests[0].body(false), q.tail()...)
		}
		if named := q.Headline(0); slices.Contains(shared, Label("server", q.Server)) {
			head += strings.TrimPrefix(named, q.Who()+" ")
		} else {
			head += named
		}
		rows = append(append(rows, Wrap(append([]string{head}, without(lines, shared)...), width)...), "")
		rows = append(rows, q.Entire(width)...)
	}
	return append(rows, Wrap(shared, width)...)
}

// tail is the facts below the arguments.
func (q *Question) tail() []string {
	facts := q.shared()
	if q.Rule != "" {
		facts = append(facts, Label("rule", q.Rule))
	}
	return facts
}

// shared is the facts that hold for all requests of a question.
func (q *Question) shared() (facts []string) {
	for i := range q.Requests {
		if own := q.Requests[i].facts(q); i == 0 {
			facts = own
		} else {
			facts = both(facts, own)
		}
	}
	return facts
}

// facts says by what a request is called.
func (r *Request) facts(q *Question) []string {
	facts := []string{Label("server", q.Server)}
	if r.Server != q.Server {
		facts = append(facts, Label("by server", r.Server))
	}
	if facts = append(facts, Label("method", r.Method)); r.says() {
		return facts
	}
	return append(facts, r.names()...)
}

// says is true of a request whose names are what somebody shall read.
func (r *Request) says() bool { return r.Word == "text" || r.Word == "asks" }

func (r *Request) names() (lines []string) {
	for i := range r.Named {
		lines = append(lines, Label(r.Word, r.Named[i].shown()))
	}
	return lines
}

// both is the lines that are in both, in the order of the first.
func both(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
}

func without(lines, shared []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(s string) bool { return slices.Contains(shared, s) })
}

// body is what a request would change, and its arguments. alone says that it is the only
// one.
func (r *Request) body(alone bool) (lines []string) {
	changes := r.Changes()
	if alone || changes != nil {
		lines = append(lines, "")
	}
	if changes != nil {
		lines = append(append(lines, changes...), "")
	}
	if r.says() {
		lines = append(lines, r.names()...)
	}
	own := len(r.Args) - r.Extra
	switch {
	case own == 0 && changes == nil:
		lines = append(lines, Label("arguments", "none"))
	case own > 0:
		lines = append(lines, Label("arguments", fmt.Sprint(own)))
	}
	for j := range r.Args {
		if j == own {
			lines = append(lines, Label("params", fmt.Sprintf("%d more", r.Extra)))
		}
		lines = append(lines, "  "+r.Args[j].Line())
	}
	return lines
}

// Line is path and value on one line, with what is odd about it.
func (a *Arg) Line() string { return a.Path + " = " + a.shown() }

func (a *Arg) shown() string {
	s := a.Value
	if a.Clean != "" {
		s += " → " + a.Clean
	}
	if len(a.Marks) > 0 {
		s += " ← " + strings.Join(a.Marks, ", ")
	}
	return s
}

// Changes is Diff as plain text, nil without one. A file that the headline names is not
// named again.
func (r *Request) Changes() (lines []string) {
	for i, d := range r.Diff {
		text := d.Text
		switch {
		case d.Op != '#':
			lines = append(lines, Change(d.Op)+text)
			continue
		case i == 0 && r.deed.counts:
			if text = r.changed.note; text == "" || text == aNewFile && strings.HasSuffix(r.deed.verb, "create") {
				continue
			}
			text = Label("changes", text)
		case i == 0:
			text = Label("changes", text)
		default:
			text = "  " + text
		}
		lines = append(lines, text)
	}
	return lines
}

// Entire is every value that Lines folds, line by line, wrapped like Lines; nil
// when it folds none. Of more than three equal lines in a row the first is shown,
// and how many follow.
func (q Question) Entire(width int) []string {
	var lines []string
	for i := range q.Requests {
		r := &q.Requests[i]
		for _, a := range r.Values() {
			if !a.Folded {
				continue
			}
			head := a.Path + ", entire"
			if len(q.Requests) > 1 {
				head = fmt.Sprintf("request %d: %s", i+1, head)
			}
			lines = append(lines, head)
			lines = append(lines, guttered(a.Whole)...)
		}
	}
	return Wrap(lines, width)
}

func guttered(text []string) []string {
	var lines []string
	for i := 0; i < len(text); {
		same := i + 1
		for same < len(text) && text[same] == text[i] {
			same++
		}
		if same-i > 3 {
			lines = append(lines, Gutter+text[i], fmt.Sprintf("  … the same line %d more times …", same-i-1))
			i = same
			continue
		}
		lines = append(lines, Gutter+text[i])
		i++
	}
	return lines
}

// Short is the question on one line of at most n characters: whether it is
// dangerous, what is asked, and as much of the arguments as there is room for.
func (q Question) Short(n int) string {
	var b strings.Builder
	if len(q.Dangers) > 0 {
		b.WriteString("careful: ")
	}
	b.WriteString(q.Title)
	for i := range q.Requests {
		for j := range q.Requests[i].Args {
			if b.Len() > 4*n {
				break
			}
			b.WriteString("  " + q.Requests[i].Args[j].Line())
		}
	}
	s := b.String()
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	end, room := 0, n-1
	for unit := range units(s) {
		if room -= utf8.RuneCountInString(unit); room < 0 {
			break
		}
		end += len(unit)
	}
	return s[:end] + "…"
}

// Brief says that Short(n) shows all that Lines shows of a call, but for its
// method and the rule that asked.
func (q Question) Brief(n int) bool {
	if len(q.Requests) != 1 {
		return false
	}
	r := &q.Requests[0]
	if len(r.Diff) > 0 || len(r.Named) != 1 || r.Server != q.Server {
		return false
	}
	if slices.ContainsFunc(r.Values(), func(a Arg) bool { return a.Folded }) {
		return false
	}
	return r.Named[0].shown() == r.Names[0] && strings.HasPrefix(q.Title, r.Names[0]) && !strings.HasSuffix(q.Short(n), "…")
}
