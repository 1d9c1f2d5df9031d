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

// Maximum numbers of details that are printed for a call, unless all details are wanted.
const (
	fewValues   = 12
	fewReadings = 6
	fewGlobs    = 5
)

// WriteText writes the explanation for people. It makes all texts of the call and the policy safe
// for a terminal. If all is true, it prints every rule separately and leaves nothing out.
func (e *Explanation) WriteText(w io.Writer, all bool) error {
	b := bufio.NewWriter(w)
	t := printer{w: b, e: e, all: all}
	if len(e.Calls) > 1 {
		t.printLine("%d calls in one message; the strictest answer holds for all", len(e.Calls))
	}
	for i := range e.Calls {
		t.printCall(&e.Calls[i])
	}
	t.printVerdict()
	return b.Flush()
}

type printer struct {
	w       *bufio.Writer
	e       *Explanation
	all     bool            // print every rule separately and leave nothing out
	sources []policy.Source // the rules of the policy that is printed now
	width   int             // the length of the longest position of these rules
}

func (t *printer) printLine(format string, a ...any) { fmt.Fprintf(t.w, format+"\n", a...) }

// formatPlace returns the position of a rule.
func formatPlace(r *policy.Rule) string {
	return fmt.Sprintf("%s:%d", term.VisibleText(r.Pos.File), r.Pos.Line)
}

// setSources selects the policy whose rules are printed next.
func (t *printer) setSources(sources []policy.Source) {
	t.sources, t.width = sources, 0
	for i := range sources {
		t.width = max(t.width, len(formatPlace(&sources[i].Rule)))
	}
}

func (t *printer) printCall(j *Judged) {
	head := []string{term.VisibleText(j.Method)}
	for _, name := range j.Names {
		if name != j.Method {
			head = append(head, term.VisibleValue(name))
		}
	}
	if j.Server != "" {
		head = append(head, "on server "+term.VisibleValue(j.Server))
	} else {
		head = append(head, "on a server of unknown name")
	}
	for _, words := range j.DescribeIdentity() {
		head = append(head, term.VisibleText(words))
	}
	if !j.At.IsZero() {
		head = append(head, "at "+j.At.Format(time.RFC3339))
	}
	if j.Cwd != "" {
		head = append(head, "in "+term.VisibleText(j.Cwd))
	}
	if j.Elsewhere {
		head = append(head, "(its relative paths may start elsewhere)")
	}
	if j.OS == policy.Windows {
		head = append(head, "on Windows")
	}
	t.printLine("%s", strings.Join(head, " "))
	for i := range j.Values {
		if i == fewValues && !t.all {
			t.printLine("  and %d more values", len(j.Values)-i)
			break
		}
		t.printValue(&j.Values[i])
	}
	if unnamed := j.unnamedArguments(); len(unnamed) > 0 {
		t.printLine("  not looked at by any rule in question: %s", strings.Join(unnamed, ", "))
	}
	if len(j.Trace.Steps) > 0 {
		t.printLine("")
	}
	t.setSources(t.e.sources)
	t.printSteps(&j.Trace, j.Subject)
	for i := range j.Layers {
		l := &j.Layers[i]
		t.printLine("layer %s, which can only tighten", term.VisibleText(l.Name))
		t.setSources(l.sources)
		t.printSteps(&l.Trace, j.Subject)
	}
	for i := range j.Limits {
		t.printLimit(&j.Limits[i])
	}
	t.printLine("")
}

// printLimit prints a [[limit]] table.
func (t *printer) printLimit(l *policy.LimitTable) {
	line := fmt.Sprintf("limit  %s  %s; what was counted is not looked at", formatPlace(&l.Rule), formatRate(&l.Rate))
	if l.Description != "" {
		line += " " + quoteText(l.Description)
	}
	t.printLine("%s", line)
}

func (t *printer) printValue(v *policy.ArgumentValue) {
	label := term.VisibleText(argumentKey(v.Path))
	t.printLine("  %s %s", label, formatReading(&v.Readings[0]))
	rest := v.Readings[1:]
	for i := range rest {
		if i == fewReadings && !t.all {
			t.printLine("  %*s and read in %d more ways", len(label), "", len(rest)-i)
			break
		}
		t.printLine("  %*s also %s", len(label), "", formatReading(&rest[i]))
	}
}

// formatReading returns a reading, and how it is made from the value.
func formatReading(r *policy.Reading) string {
	switch {
	case r == nil || r.Absent:
		return "nothing"
	case r.Refused != "":
		return fmt.Sprintf("%s refused: %s", term.VisibleValue(r.Sent), term.VisibleText(r.Refused))
	case len(r.How) > 0:
		return fmt.Sprintf("%s (%s)", term.VisibleValue(r.Text), strings.Join(r.How, ", "))
	}
	return term.VisibleValue(r.Text)
}

// printSteps prints the results of the rules in order. If t.all is false, it prints one line for
// several rules that are about other subjects or names, or that are below the decision.
func (t *printer) printSteps(tr *policy.Trace, subject policy.Subject) {
	for i := 0; i < len(tr.Steps); i++ {
		n := 0
		if !t.all {
			n = runLength(tr.Steps[i:], func(s *policy.Step) bool { return isOtherSubject(s) || isTooLate(s) })
		}
		if n > 0 {
			t.printFolded(tr.Steps[i:i+n], subject.RuleKey())
			i += n - 1
			continue
		}
		t.printStep(&tr.Steps[i])
	}
	if tr.Cut {
		t.printLine("       judging this call in full takes too long: some rules may say more than is shown")
	}
}

func runLength(steps []policy.Step, belongs func(*policy.Step) bool) int {
	n := 0
	for n < len(steps) && belongs(&steps[n]) {
		n++
	}
	return n
}

// isTooLate reports whether rules above this rule have already decided.
func isTooLate(s *policy.Step) bool { return !s.Reached && !isOtherSubject(s) }
