package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/policy/where"
)

// printFolded prints one line for several rules that follow each other. The line is indented like
// the details of a rule.
func (t *printer) printFolded(steps []policy.Step, subject string) {
	var names, subjects, unasked, after, hits int
	var first *policy.Rule
	for i := range steps {
		switch s := &steps[i]; {
		case s.At.Kind == policy.SubjectKind, s.At.Kind == policy.OtherOn:
			subjects++
		case isOtherSubject(s):
			names++
		case s.At.Kind == policy.Unasked && s.Match == where.No:
			unasked++
		default:
			after++
			if s.Match == where.No {
				continue
			}
			if hits++; first == nil {
				first = &t.sources[s.Rule].Rule
			}
		}
	}
	var parts []string
	add := func(n int, format string, a ...any) {
		rules := map[bool]string{true: "1 rule ", false: fmt.Sprintf("%d rules ", n)}[n == 1]
		if n > 0 {
			parts = append(parts, rules+fmt.Sprintf(format, a...))
		}
	}
	if subjects > 0 && names > 0 {
		add(names+subjects, "about other things")
	} else {
		add(names, "about %s", otherNames[subject])
		add(subjects, "not about %s", plural[subject])
	}
	add(unasked, "not asked")
	switch hits {
	case 0:
		add(after, "with nothing left to decide")
	case 1:
		add(after, "with nothing left to decide (the %s at %s would match)", first.Action, formatPlace(first))
	default:
		add(after, "with nothing left to decide (the %s at %s and %d more would match)", first.Action, formatPlace(first), hits-1)
	}
	t.printLine("       %s", strings.Join(parts, ", "))
}

// otherNames has a phrase for each subject, such as "other tools" for rules about tools that are
// not called. plural has the plural of each subject.
var (
	otherNames = map[string]string{
		"tool": "other tools", "prompt": "other prompts", "method": "other methods",
		"sampling": "other texts", "elicitation": "other texts", "resource": "other resources",
	}
	plural = map[string]string{
		"tool": "tools", "resource": "resources", "prompt": "prompts", "sampling": "sampling",
		"elicitation": "elicitation", "method": "bare methods",
	}
)

// printStep prints one rule: result, position, action and description. Below them it prints the
// reason for the result.
func (t *printer) printStep(s *policy.Step) {
	src := &t.sources[s.Rule]
	word := s.Match.String()
	if !s.Reached && !isOtherSubject(s) {
		word = "-"
	}
	line := fmt.Sprintf("%-5s  %-*s  %-6s", word, t.width, formatPlace(&src.Rule), src.Action)
	if src.Description != "" {
		line += "  " + quoteText(src.Description)
	}
	t.printLine("%s", strings.TrimRight(line, " "))
	for _, why := range t.explainStep(s, src) {
		t.printLine("       %s", why)
	}
}

func (t *printer) explainStep(s *policy.Step, src *policy.Source) (lines []string) {
	add := func(format string, a ...any) { lines = append(lines, fmt.Sprintf(format, a...)) }
	switch {
	case s.Reached || isOtherSubject(s):
	case s.At.Kind == policy.Unasked && s.Match == where.No:
		add("was not asked")
	case s.Match == where.No:
		add("nothing was left to decide; it would not match")
	default:
		add("nothing was left to decide; it would match")
	}
	if s.At.Kind != policy.Unasked {
		add("%s", t.formatCondition(&s.At, s.Match, src))
	}
	if s.Reached && s.Match != where.No && src.Rate.HasLimit() {
		add("limit: %s; what was counted is not looked at", formatRate(&src.Rate))
	}
	if r := s.Took; r != nil && s.Match == where.Yes && (len(r.How) > 0 || r.Refused != "") {
		add("it matches %s", formatReading(r))
	}
	return lines
}

// formatRate describes a limit: the maximum, what is counted together, and the action when the
// limit is exceeded.
func formatRate(r *policy.Rate) string {
	line := r.AtMost()
	if r.Per != policy.PerRule {
		line += fmt.Sprintf(" for each %s", r.Per)
	}
	if r.Over == policy.Prompt {
		return line + ", and a person is asked about more"
	}
	return line + ", and more are denied"
}

// formatCondition describes a condition: its requirement, and the value in the call or the
// reason why the condition cannot be decided.
func (t *printer) formatCondition(c *policy.Condition, m where.Match, src *policy.Source) string {
	if c.Kind == policy.FurtherArgument {
		return formatFurther(c)
	}
	verb := "wants"
	if c.Not {
		verb = "excepts"
	}
	wants := fmt.Sprintf("%s %s %s", conditionKey(c, src.Subject), verb, t.formatGlobs(c))
	maybe := m == where.Maybe
	switch c.Kind {
	case policy.SubjectKind:
		return fmt.Sprintf("is about %s", plural[c.Want[0]])
	case policy.OtherOn:
		if c.Want[0] == policy.OnUpload.String() {
			return `judges what goes to a model (on = "upload")`
		}
		return "judges what comes back (on = \"" + c.Want[0] + "\")"
	case policy.CallCondition:
		k, _ := policy.CallKeyOf(c.Key)
		switch {
		case maybe:
			return wants + "; " + k.Unknown
		case k.Glob:
			return wants + "; " + k.Is + " " + term.VisibleValue(c.Got)
		}
		return wants + "; " + k.Is + " " + term.VisibleText(c.Got)
	}
	r := c.Reading
	switch {
	case c.Kind == policy.NameGlob && r == nil:
		return wants + "; the call has " + term.VisibleValue(c.Got)
	case r == nil:
		return wants + "; the call has no such argument"
	case maybe && policy.EveryArgument(c.Path):
		return wants + "; the call has others as well, such as " + formatReading(r)
	case maybe:
		return wants + "; whether " + formatReading(r) + " is such cannot be known"
	}
	return wants + "; the call has " + formatReading(r)
}

// formatFurther explains that an argument for which a rule has no condition keeps the rule from
// matching.
func formatFurther(c *policy.Condition) string {
	name := term.VisibleText(policytext.DottedKey("args", c.Path...))
	if len(c.Want) > 0 {
		return fmt.Sprintf("args_only = %s; the call has %s as well", term.VisibleText(c.Want[0]), name)
	}
	return fmt.Sprintf("the rule does not name %s, which %s: name it, or write args_only or args_open", name, c.Got)
}

func (t *printer) formatGlobs(c *policy.Condition) string {
	if k, found := policy.CallKeyOf(c.Key); c.Kind == policy.Constraint || found && !k.Glob {
		return term.VisibleText(strings.Join(c.Want, ", "))
	}
	var shown []string
	for i, g := range c.Want {
		if i == fewGlobs && !t.all {
			shown = append(shown, fmt.Sprintf("%d more", len(c.Want)-i))
			break
		}
		shown = append(shown, quoteText(g))
	}
	if len(shown) > 1 {
		return "one of " + strings.Join(shown, ", ")
	}
	return strings.Join(shown, "")
}

// conditionKey returns the key of a condition in the notation of the policy.
func conditionKey(c *policy.Condition, s policy.Subject) string {
	if c.Not {
		positive := *c
		positive.Not = false
		return "not." + conditionKey(&positive, s)
	}
	switch c.Kind {
	case policy.CallCondition:
		return c.Key
	case policy.FurtherArgument:
		return "args_only"
	case policy.ArgumentGlob:
		return term.VisibleText(policytext.DottedKey("args", c.Path...))
	case policy.Constraint:
		return term.VisibleText(policytext.DottedKey("where", c.Path...))
	case policy.NameGlob:
		return s.RuleKey()
	}
	return "subject"
}

// quoteText returns a text of the policy in quotes, safe for a terminal. Backslashes are not
// doubled, so that people recognise a glob.
func quoteText(s string) string { return `"` + term.VisibleText(s) + `"` }

// printVerdict prints the answer and its reason.
func (t *printer) printVerdict() {
	e, d := t.e, &t.e.Decision
	switch {
	case e.Refused != "":
		t.printLine("refused before the rules: %s", term.VisibleText(e.Refused))
		return
	case e.isUngoverned():
		t.printLine("allow: no rule governs this message; it is passed on and recorded")
		return
	case d.Rule == nil:
		t.printLine("%s: %s", d.Action, e.explainNoRule())
		return
	}
	word := d.Action.String()
	switch {
	case d.Rule.Approval != nil:
		word += " (" + term.VisibleText(d.Rule.Approval.String()) + " at the team's centre)"
	case d.Rule.OutOfBand:
		word += " (out of band)"
	}
	line := fmt.Sprintf("%s, by %s", word, formatPlace(d.Rule))
	if d.Rule.Description != "" {
		line += " " + quoteText(d.Rule.Description)
	}
	t.printLine("%s", line)
	if d.Reading != "" {
		t.printLine("  because a server may read the call as %s", term.VisibleValue(d.Reading))
	}
	if d.Reason != "" {
		t.printLine("  because of a %s", term.VisibleText(d.Reason))
	}
	if !e.isOwnRule(d.Rule) {
		t.printLine("  which is above the policy and can only tighten it")
	} else if e.maybeMatches(d.Rule.Index) {
		t.printLine("  it cannot be known whether the rule matches, and what may match tightens")
	} else if e.hasSeveralActions() {
		t.printLine("  the strictest answer of those above holds")
	}
}

// explainNoRule returns the reason for an answer if no rule decided.
func (e *Explanation) explainNoRule() string {
	d := &e.Decision
	switch {
	case d.Action == policy.Allow:
		return "no rule restricts this method; it is passed on and recorded"
	case d.Reason != "":
		return term.VisibleText(d.Reason)
	case d.Reading != "":
		return "no rule matches the call read as " + term.VisibleValue(d.Reading)
	}
	return cmp.Or(e.explainPartial(), "no rule matches")
}

// explainPartial returns the reason for an answer if rules match only some readings or only some of
// the calls, or if it is not known whether they match; otherwise "".
func (e *Explanation) explainPartial() (why string) {
	for i := range e.Calls {
		for _, rule := range e.Calls[i].ReachedRules() {
			if e.Calls[i].Steps[rule].Match == where.Yes {
				return "no rule matches all of it"
			}
			why = "no rule certainly matches, and a rule that only may match allows nothing"
		}
	}
	return why
}

func (e *Explanation) maybeMatches(rule int) bool {
	found := false
	for i := range e.Calls {
		switch s := &e.Calls[i].Steps[rule]; {
		case s.Match == where.Yes && s.Reached:
			return false
		case s.Match == where.Maybe:
			k, _ := policy.CallKeyOf(s.At.Key)
			found = found || k.Proof != policy.Tightening // for other keys the line about the condition already explains the "maybe"
		}
	}
	return found
}

// hasSeveralActions reports whether the reached rules have several different actions.
func (e *Explanation) hasSeveralActions() bool {
	actions := map[policy.Action]bool{}
	for i := range e.Calls {
		for _, rule := range e.Calls[i].ReachedRules() {
			actions[e.sources[rule].Action] = true
		}
	}
	return len(actions) > 1
}
