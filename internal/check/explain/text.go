package explain

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
)

// Bounds of what is shown of one call unless everything is asked for.
const (
	fewValues   = 12
	fewReadings = 6
	fewGlobs    = 5
)

// WriteText tells a person. Every text from the call and the policy is made
// harmless. With all, no run of rules is folded into one line and nothing is left
// out.
func (e *Explanation) WriteText(w io.Writer, all bool) error {
	b := bufio.NewWriter(w)
	t := printer{w: b, e: e, all: all}
	if len(e.Calls) > 1 {
		t.line("%d calls in one message; the strictest answer holds for all", len(e.Calls))
	}
	for i := range e.Calls {
		t.call(&e.Calls[i])
	}
	t.verdict()
	return b.Flush()
}

type printer struct {
	w       *bufio.Writer
	e       *Explanation
	all     bool
	sources []policy.Source // of the rules that are told of
	width   int             // width of the widest position
}

func (t *printer) line(format string, a ...any) { fmt.Fprintf(t.w, format+"\n", a...) }

// at is the place of a rule.
func at(r *policy.Rule) string { return fmt.Sprintf("%s:%d", term.Text(r.Pos.File), r.Pos.Line) }

// of turns to the rules of a policy.
func (t *printer) of(sources []policy.Source) {
	t.sources, t.width = sources, 0
	for i := range sources {
		t.width = max(t.width, len(at(&sources[i].Rule)))
	}
}

func (t *printer) call(j *Judged) {
	head := []string{term.Text(j.Method)}
	for _, name := range j.Names {
		if name != j.Method {
			head = append(head, term.Value(name))
		}
	}
	if j.Server != "" {
		head = append(head, "on server "+term.Value(j.Server))
	} else {
		head = append(head, "on a server of unknown name")
	}
	if !j.At.IsZero() {
		head = append(head, "at "+j.At.Format(time.RFC3339))
	}
	if j.Cwd != "" {
		head = append(head, "in "+term.Text(j.Cwd))
	}
	if j.Elsewhere {
		head = append(head, "(its relative paths may start elsewhere)")
	}
	if j.OS == policy.Windows {
		head = append(head, "on Windows")
	}
	t.line("%s", strings.Join(head, " "))
	for i := range j.Values {
		if i == fewValues && !t.all {
			t.line("  and %d more values", len(j.Values)-i)
			break
		}
		t.value(&j.Values[i])
	}
	if open := j.unseen(); len(open) > 0 {
		t.line("  not looked at by any rule in question: %s", strings.Join(open, ", "))
	}
	if len(j.Trace.Steps) > 0 {
		t.line("")
	}
	t.of(t.e.sources)
	t.steps(&j.Trace, j.Subject)
	for i := range j.Layers {
		l := &j.Layers[i]
		t.line("layer %s, which can only tighten", term.Text(l.Name))
		t.of(l.sources)
		t.steps(&l.Trace, j.Subject)
	}
	for i := range j.Limits {
		t.limit(&j.Limits[i])
	}
	t.line("")
}

// limit tells of one over all tools.
func (t *printer) limit(l *policy.LimitTable) {
	line := fmt.Sprintf("limit  %s  %s; what was counted is not looked at", at(&l.Rule), rate(&l.Rate))
	if l.Description != "" {
		line += " " + quoted(l.Description)
	}
	t.line("%s", line)
}

func (t *printer) value(v *policy.Value) {
	label := term.Text(argument(v.Path))
	t.line("  %s %s", label, reading(&v.Readings[0]))
	rest := v.Readings[1:]
	for i := range rest {
		if i == fewReadings && !t.all {
			t.line("  %*s and read in %d more ways", len(label), "", len(rest)-i)
			break
		}
		t.line("  %*s also %s", len(label), "", reading(&rest[i]))
	}
}

// reading shows one reading and how it was made.
func reading(r *policy.Reading) string {
	switch {
	case r == nil || r.Absent:
		return "nothing"
	case r.Refused != "":
		return fmt.Sprintf("%s refused: %s", term.Value(r.Sent), term.Text(r.Refused))
	case len(r.How) > 0:
		return fmt.Sprintf("%s (%s)", term.Value(r.Text), strings.Join(r.How, ", "))
	}
	return term.Value(r.Text)
}

// steps tells of the rules in order. Runs of rules that have nothing to do with
// the call, or that come too late, are one line.
func (t *printer) steps(tr *policy.Trace, subject policy.Subject) {
	for i := 0; i < len(tr.Steps); i++ {
		n := 0
		if !t.all {
			n = run(tr.Steps[i:], func(s *policy.Step) bool { return other(s) || late(s) })
		}
		if n > 0 {
			t.fold(tr.Steps[i:i+n], subject.Key())
			i += n - 1
			continue
		}
		t.step(&tr.Steps[i])
	}
	if tr.Cut {
		t.line("       judging this call in full takes too long: some rules may say more than is shown")
	}
}

func run(steps []policy.Step, of func(*policy.Step) bool) int {
	n := 0
	for n < len(steps) && of(&steps[n]) {
		n++
	}
	return n
}

// late says that everything was decided above the rule, or that no rule was asked.
func late(s *policy.Step) bool { return !s.Reached && !other(s) }
