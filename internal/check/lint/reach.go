package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/policy"
)

// findDuplicates finds rules that have the same conditions as a rule above.
func findDuplicates(l *linter) {
	l.reported = map[int]bool{}
	seen := map[string]int{}
	l.visitRules(func(i int, r *policy.Source) {
		key := conditionKey(r)
		first, found := seen[key]
		if !found { // no rule above has this key and accepts all further arguments, so compare the conditions on further arguments too
			key += furtherKey(r)
			first, found = seen[key]
		}
		if !found {
			seen[key] = i
			return
		}
		l.reported[i] = true
		above := &l.sources[first]
		if r.From != "" {
			l.reportRepeated(above, r)
			return
		}
		f := check.Finding{Code: DuplicateRule,
			Message: fmt.Sprintf("the same conditions as %s", l.describeRule(above.Pos)),
			Fix:     "remove one of the two", Related: []check.Related{{Pos: above.Pos, Message: "the first of the two, which decides"}}}
		if above.Action != r.Action {
			f.Message += fmt.Sprintf(", which says %s: this %s is never asked", above.Action, r.Action)
			f.Fix = "decide which of the two is meant, and remove the other"
		}
		l.addFinding(r, policy.Position{}, f)
	})
}

// reportRepeated adds a finding: a rule of the owner (the parameter above) stands above the extended
// rule r and has the same conditions. The owner may use such a rule to overrule the extended rule. So
// the finding is a warning only if the owner's rule allows and the extended rule does not allow.
func (l *linter) reportRepeated(above, r *policy.Source) {
	f := check.Finding{Code: DuplicateRule, Severity: check.Note,
		Message: fmt.Sprintf("the same conditions as %s, a rule that the policy extends", l.describeRule(r.Pos)),
		Fix:     "remove this rule, unless it must hold with any extended policy", Related: []check.Related{{Pos: r.Pos, Message: "the second of the two, which has no effect"}}}
	if above.Action != r.Action {
		f.Message += fmt.Sprintf(", but its action %s never applies", r.Action)
		f.Fix = "remove this rule, unless it is meant to overrule the other"
	}
	if isAllow(above) && !isAllow(r) {
		f.Severity = check.Warning
	}
	l.addFinding(above, policy.Position{}, f)
}

// furtherKey returns a text for a rule's conditions on further arguments. Further arguments are
// arguments that the rule does not name. Rules with equal conditions have equal texts. The text is ""
// if the rule accepts all further arguments.
func furtherKey(r *policy.Source) string {
	switch {
	case !r.WatchesUnnamedArgs():
		return ""
	case r.Further.Only:
		return "\x00only\x01" + strings.Join(slices.Sorted(slices.Values(r.Further.Names)), "\x02")
	}
	return "\x00innocent"
}

// conditionKey returns a text for a rule's conditions, without those on further arguments. Rules with
// equal conditions have equal texts.
func conditionKey(r *policy.Source) string {
	parts := []string{r.Subject.RuleKey(), asSet(r.Names)}
	var more []string
	for _, a := range r.Args {
		more = append(more, "a\x01"+strings.Join(a.Path, "\x02")+"\x01"+asSet(a.Globs))
	}
	for _, w := range r.Where {
		more = append(more, "w\x01"+strings.Join(w.Path, "\x02")+"\x01"+w.Key+"\x01"+w.Text)
	}
	for _, e := range exceptionsOf(r) {
		more = append(more, "n\x01"+e.key+"\x01"+asSet(e.globs))
	}
	for _, c := range r.Calls {
		text := c.Text
		if c.Globs != nil {
			text = asSet(c.Globs)
		}
		more = append(more, "c\x01"+c.Key+"\x01"+text)
	}
	slices.Sort(more)
	return strings.Join(append(parts, more...), "\x00")
}

// asSet returns a text for a list of globs. Lists with the same globs in any order have equal texts.
func asSet(globs []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(globs))), "\x02")
}

// matchesEverything reports whether a glob matches every name.
func matchesEverything(g string) bool { return strings.Trim(g, "*") == "" }

// findUnreachable reports rules that no call reaches, and rules that no call certainly matches. It adds
// the owner's rules that cannot be decided to Report.Undecided.
func findUnreachable(l *linter) {
	l.visitRules(func(i int, r *policy.Source) {
		found := &l.reach[i]
		switch {
		case !l.reported[i] && r.Not.HasExceptions() && l.proof.IsExcepted(i):
			l.reported[i] = true
			l.addFinding(r, policy.Position{}, check.Finding{Code: UnreachableRule, Message: "no call certainly matches: the exceptions cover all calls of the rule",
				Fix: "make them narrower, or remove the rule"})
			return
		case found.Status == prove.Undecided:
			if r.From == "" {
				l.report.Undecided = append(l.report.Undecided, Undecided{r.Pos, found.Reason})
			}
			return
		case l.reported[i]:
			return
		case found.Status == prove.Reached && !found.Perhaps:
			return
		}
		// Some calls perhaps match the rule. Then the finding needs one rule above that takes every
		// call that certainly matches.
		by := found.By
		if found.Status == prove.Reached {
			if by = l.findHolders(i); by == nil {
				return
			}
		}
		l.reported[i] = true
		l.reportSuperfluous(i, r, by, found)
	})
}

// findHolders looks for one rule above that provably matches every call that rule i certainly matches.
// It returns a list with the index of this rule, or nil.
func (l *linter) findHolders(i int) []int {
	for k := range i {
		if l.proof.IsCovered(i, k) {
			return []int{k}
		}
	}
	return nil
}

func (l *linter) reportSuperfluous(i int, r *policy.Source, by []int, found *prove.Finding) {
	if r.From != "" {
		l.reportOverruled(i, r, by, found)
		return
	}
	f := check.Finding{Code: UnreachableRule, Message: fmt.Sprintf("no call gets here: %s take%s every one", l.linesOf(by), verbEnd(by))}
	if found.Status == prove.Reached {
		f.Message = fmt.Sprintf("%s take%s every call that certainly matches; only these are left: %s", l.linesOf(by), verbEnd(by), describeUnsure(r))
	}
	if found.AsWritten {
		f.Message += " (proved for values as written)"
	}
	if found.Bare {
		f.Message += furtherClause(by)
	}
	f.Fix = "move the rule above " + pronounFor(by) + ", or remove it"
	var allow int
	allows := false
	for _, k := range by {
		above := &l.sources[k]
		f.Related = append(f.Related, check.Related{Pos: above.Pos, Message: fmt.Sprintf("%s: matches first", above.Action)})
		if isAllow(above) && !allows {
			allow, allows = k, true
		}
	}
	if allows && !isAllow(r) {
		f.Code = DenyNeverWins
		f.Message = strings.Replace(f.Message, "no call gets here", fmt.Sprintf("this %s never wins", r.Action), 1)
		l.addWitness(&f, l.proof.FindCommonCall(allow, i))
	}
	l.addFinding(r, policy.Position{}, f)
}

// reportOverruled is like reportSuperfluous, but for an extended rule r. It places the finding at an
// owner's rule that takes calls of r: at the first allow, or else at the first rule. The owner may
// overrule an extended rule on purpose. So the finding is an error only if an allow takes calls of a
// stricter rule.
func (l *linter) reportOverruled(i int, r *policy.Source, by []int, found *prove.Finding) {
	own := slices.DeleteFunc(slices.Clone(by), func(k int) bool { return l.sources[k].From != "" })
	if len(own) == 0 {
		return
	}
	f := check.Finding{Code: UnreachableRule, Severity: check.Note, Fix: "make this rule narrower, unless it is meant to overrule the other",
		Related: []check.Related{{Pos: r.Pos, Message: fmt.Sprintf("%s: has no effect", r.Action)}}}
	owner := own[0]
	allow := slices.IndexFunc(own, func(k int) bool { return isAllow(&l.sources[k]) })
	lost := "no call gets to " + l.describeRule(r.Pos)
	if allow >= 0 && !isAllow(r) {
		owner = own[allow]
		f.Code, f.Severity = DenyNeverWins, ""
		f.Fix = fmt.Sprintf("make this rule narrower, or put a %s of your own above it", r.Action)
		lost = fmt.Sprintf("the %s %s never wins", r.Action, l.formatLocation(r.Pos))
		l.addWitness(&f, l.proof.FindCommonCall(owner, i))
	}
	f.Message = fmt.Sprintf("%s: %s take%s every one", lost, l.linesOf(by), verbEnd(by))
	if found.Status == prove.Reached {
		f.Message += " that certainly matches; only these are left: " + describeUnsure(r)
	}
	if found.AsWritten {
		f.Message += " (proved for values as written)"
	}
	if found.Bare {
		f.Message += furtherClause(by)
	}
	l.addFinding(&l.sources[owner], policy.Position{}, f)
}

// describeUnsure returns a phrase for the calls that rules above may leave to rule r. It is uncertain
// whether r matches these calls.
func describeUnsure(r *policy.Source) string {
	if len(r.Where) > 0 {
		return "values for which a constraint is not certain, such as texts with line breaks around them"
	}
	return "paths in an unknown folder"
}

func verbEnd(by []int) string {
	if len(by) == 1 {
		return "s"
	}
	return ""
}

func pronounFor(by []int) string {
	if len(by) == 1 {
		return "it"
	}
	return "them"
}

// findOpenedDenials adds a finding for a deny rule if a rule above it allows some of the calls that the
// deny rule would deny. It skips an allow rule if the deny rule matches all calls of the allow rule,
// because such an allow rule is a deliberate exception.
func findOpenedDenials(l *linter) {
	l.visitRules(func(j int, deny *policy.Source) {
		if deny.Action != policy.Deny || l.reported[j] {
			return
		}
		for i := range j {
			allow := &l.sources[i]
			if !isAllow(allow) || l.reported[i] || allow.Subject != deny.Subject || allow.From != "" || !isSpecific(deny) || l.proof.AreApart(i, j) || l.proof.IsCovered(i, j) {
				continue
			}
			c := l.proof.FindCommonCall(i, j)
			if c == nil {
				continue
			}
			f, stands := check.Finding{Code: AllowAboveDeny,
				Message: fmt.Sprintf("%s allows calls that this rule would deny", l.describeRule(allow.Pos)),
				Fix:     fmt.Sprintf("move this rule above line %d, unless the allow is meant as an exception", allow.Pos.Line),
				Related: []check.Related{{Pos: allow.Pos, Message: "allows them first"}}}, deny
			if deny.From != "" {
				stands = allow
				f.Message = fmt.Sprintf("this rule allows calls that %s would deny", l.describeRule(deny.Pos))
				f.Fix = "put a deny of your own for them above this rule, unless it is meant as an exception"
				f.Related = []check.Related{{Pos: deny.Pos, Message: "would deny them"}}
			}
			l.addWitness(&f, c)
			l.addFinding(stands, policy.Position{}, f)
			return // one example is enough
		}
	})
}

// isSpecific reports whether a deny matches only some of the calls of its subject.
func isSpecific(r *policy.Source) bool {
	return !slices.ContainsFunc(r.Names, matchesEverything) || len(r.Args)+len(r.Where) > 0 ||
		slices.ContainsFunc(r.Calls, func(c policy.Stated) bool { return c.Globs != nil })
}
