package view

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Gutter begins every line of a value in EntireLines. Its line character never appears in a value,
// so no line of a value looks like one of our own lines.
const Gutter = "  ┆ "

// ChangePrefix begins every line of a change in Lines and ChangeLines. op is DiffLine.Op. op stands
// before the line character of Gutter; in a line of a value, only blanks are there.
func ChangePrefix(op byte) string { return "  " + string(op) + " ┆ " }

// Careful begins each line that gives a reason why a call needs care.
var Careful = LabelLine("careful", "")

// LabelLine returns a line with a label, padded to a column, and a text.
func LabelLine(word, text string) string { return fmt.Sprintf("%-11s%s", word, text) }

// Lines returns the question as plain text, in rows of at most width cells; 0 does not wrap. The
// order is: the request in one sentence, the reasons for care, the changes, all arguments, the
// server and the names. Long values are folded; EntireLines returns them in full.
func (q Question) Lines(width int) []string {
	lines := []string{q.Headline(2 * width)}
	for _, d := range q.Dangers {
		lines = append(lines, Careful+d)
	}
	if q.Why != "" {
		lines = append(lines, LabelLine("why", q.Why))
	}
	shared := q.sharedFacts()
	for i := range q.Requests {
		r := &q.Requests[i]
		if len(q.Requests) > 1 {
			lines = append(lines, "", r.deed.renderDeed(fmt.Sprintf("request %d of %d  ", i+1, len(q.Requests)), max(2*width, maxHeadline)))
		}
		lines = append(lines, r.bodyLines(len(q.Requests) == 1)...)
		lines = append(lines, removeLines(r.requestFacts(&q), shared)...)
	}
	if len(q.Requests) > 1 {
		lines = append(lines, "")
	}
	return Wrap(append(lines, q.tailFacts()...), width)
}

// RenderSeveral returns several questions that get one common answer. For each question it returns
// changes and arguments, as Lines does. After the last question it returns the facts that all
// questions share.
func RenderSeveral(qs []Question, width int) (rows []string) {
	shared := qs[0].tailFacts()
	for i := range qs {
		shared = commonLines(shared, qs[i].tailFacts())
	}
	for i := range qs {
		q := &qs[i]
		head, lines := fmt.Sprintf("%d of %d  ", i+1, len(qs)), q.Lines(0)[1:]
		if len(q.Requests) == 1 {
			lines = append(q.Requests[0].bodyLines(false), q.tailFacts()...)
		}
		if named := q.Headline(0); slices.Contains(shared, LabelLine("server", q.Server)) {
			head += strings.TrimPrefix(named, q.HeadlineServer()+" ")
		} else {
			head += named
		}
		rows = append(append(rows, Wrap(append([]string{head}, removeLines(lines, shared)...), width)...), "")
		rows = append(rows, q.EntireLines(width)...)
	}
	return append(rows, Wrap(shared, width)...)
}

// tailFacts returns the facts that Lines shows below the arguments.
func (q *Question) tailFacts() []string {
	facts := q.sharedFacts()
	if q.Rule != "" {
		facts = append(facts, LabelLine("rule", q.Rule))
	}
	return facts
}

// sharedFacts returns the facts that are the same for all requests of the question.
func (q *Question) sharedFacts() (facts []string) {
	for i := range q.Requests {
		if own := q.Requests[i].requestFacts(q); i == 0 {
			facts = own
		} else {
			facts = commonLines(facts, own)
		}
	}
	return facts
}

// requestFacts returns the facts about the server, the method and the names of a request.
func (r *Request) requestFacts(q *Question) []string {
	facts := []string{LabelLine("server", q.Server)}
	if r.Server != q.Server {
		facts = append(facts, LabelLine("by server", r.Server))
	}
	if facts = append(facts, LabelLine("method", r.Method)); r.hasReadableNames() {
		return facts
	}
	return append(facts, r.nameLines()...)
}

// hasReadableNames reports whether the names of a request are texts that a person reads, such as a
// question to the person.
func (r *Request) hasReadableNames() bool { return r.Word == "text" || r.Word == "asks" }

func (r *Request) nameLines() (lines []string) {
	for i := range r.Named {
		lines = append(lines, LabelLine(r.Word, r.Named[i].valueText()))
	}
	return lines
}

// commonLines returns the lines in the list a that are also in the list b.
func commonLines(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
}

func removeLines(lines, shared []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(s string) bool { return slices.Contains(shared, s) })
}

// bodyLines returns the lines for the changes and the arguments of a request. The parameter alone
// is true if the question has only this request.
func (r *Request) bodyLines(alone bool) (lines []string) {
	changes := r.ChangeLines()
	if alone || changes != nil {
		lines = append(lines, "")
	}
	if changes != nil {
		lines = append(append(lines, changes...), "")
	}
	if r.Told != nil {
		lines = append(append(lines, r.Told...), "")
	}
	if r.hasReadableNames() {
		lines = append(lines, r.nameLines()...)
	}
	own := len(r.Args) - r.Extra
	switch {
	case own == 0 && changes == nil:
		lines = append(lines, LabelLine("arguments", "none"))
	case own > 0:
		lines = append(lines, LabelLine("arguments", fmt.Sprint(own)))
	}
	for j := range r.Args {
		if j == own {
			lines = append(lines, LabelLine("params", fmt.Sprintf("%d more", r.Extra)))
		}
		lines = append(lines, "  "+r.Args[j].PathLine())
	}
	return lines
}

// PathLine returns one line with the path, the value, and everything that is unusual about the
// value.
func (a *Arg) PathLine() string { return a.Path + " = " + a.valueText() }

func (a *Arg) valueText() string {
	s := a.Value
	if a.Clean != "" {
		s += " → " + a.Clean
	}
	if len(a.Marks) > 0 {
		s += " ← " + strings.Join(a.Marks, ", ")
	}
	return s
}

// ChangeLines returns Diff as lines of plain text; nil if there is no Diff. If the headline names
// the file, the lines do not name it again.
func (r *Request) ChangeLines() (lines []string) {
	for i, d := range r.Diff {
		text := d.Text
		switch {
		case d.Op != '#':
			lines = append(lines, ChangePrefix(d.Op)+text)
			continue
		case i == 0 && r.deed.counts:
			if text = r.changed.note; text == "" || text == aNewFile && strings.HasSuffix(r.deed.verb, "create") {
				continue
			}
			text = LabelLine("changes", text)
		case i == 0:
			text = LabelLine("changes", text)
		default:
			text = "  " + text
		}
		lines = append(lines, text)
	}
	return lines
}

// EntireLines returns every value that Lines folds, in full and line by line. The lines are wrapped
// as in Lines. If Lines folds no value, EntireLines returns nil. If more than three equal lines
// follow each other, it returns only the first of them, with the number of repeats.
func (q Question) EntireLines(width int) []string {
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
			lines = append(lines, gutterLines(a.Whole)...)
		}
	}
	return Wrap(lines, width)
}

func gutterLines(text []string) []string {
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

// ShortLine returns the question on one line of at most n characters: a word if it needs care, the
// request, and the arguments that fit.
func (q Question) ShortLine(n int) string {
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
			b.WriteString("  " + q.Requests[i].Args[j].PathLine())
		}
	}
	s := b.String()
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	end, room := 0, n-1
	for unit := range textUnits(s) {
		if room -= utf8.RuneCountInString(unit); room < 0 {
			break
		}
		end += len(unit)
	}
	return s[:end] + "…"
}

// IsShortComplete reports whether ShortLine(n) shows the whole call. The method and the rule may be
// missing.
func (q Question) IsShortComplete(n int) bool {
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
	return r.Named[0].valueText() == r.Names[0] && strings.HasPrefix(q.Title, r.Names[0]) && !strings.HasSuffix(q.ShortLine(n), "…")
}
