package lint

import (
	"fmt"
	"slices"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/policy/reading"
)

// furtherClause returns a phrase for the calls that some rules do not match because of arguments that
// the rules do not name. The parameter by has the indexes of these rules.
func furtherClause(by []int) string {
	if len(by) == 1 {
		return ", but for calls with an argument that it does not name and that looks like a path, a URL or a command"
	}
	return ", but for calls with an argument that one of them does not name and that looks like a path, a URL or a command"
}

// checkFurther checks how rules treat further arguments: arguments that a rule does not name.
func checkFurther(l *linter) {
	l.visitRules(func(i int, r *policy.Source) {
		switch {
		case r.Further.Only && r.Action != policy.Allow:
			l.reportDodged(i, r)
		case r.Further.Open:
			f := check.Finding{Code: FurtherArguments, Message: "args_open: further arguments may hold any path, address or command",
				Fix: "name those that the tool takes, or write args_only with their names"}
			l.addWitness(&f, l.decoyCall(i))
			l.addFinding(r, policy.Position{}, f)
		case r.WatchesUnnamedArgs():
			l.reportShut(r)
		}
	})
}

// reportDodged reports a deny or prompt if a call with one more argument evades the rule.
func (l *linter) reportDodged(i int, r *policy.Source) {
	c := l.decoyCall(i)
	if c == nil || l.policy.Decide(c).Action != policy.Allow {
		return
	}
	f := check.Finding{Code: FurtherArguments, Severity: check.Warning, Message: fmt.Sprintf("if the call has one more argument, this %s does not match and the call is allowed", r.Action),
		Fix: "remove args_only from this rule"}
	l.addWitness(&f, c)
	l.addFinding(r, policy.Position{}, f)
}

// decoyCall takes a call that reaches rule i, and adds an argument that looks like a path. It returns
// nil if no call is known to reach rule i.
func (l *linter) decoyCall(i int) *policy.Call {
	if l.reach[i].Witness == nil {
		return nil
	}
	return withArgument(l.reach[i].Witness, []string{"another_path"}, "/etc/passwd")
}

// reportShut reports arguments of recorded calls that an allow does not name. The allow does not match
// calls with these arguments.
func (l *linter) reportShut(r *policy.Source) {
	named := slices.Clone(r.Further.Names)
	for _, path := range r.ArgumentPaths() {
		named = append(named, path[0])
	}
	var names []string
	for tool, all := range l.options.Arguments {
		if !matchesAny(r.Names, []string{tool}) {
			continue
		}
		for _, name := range all {
			counts := r.Further.Only || reading.SuspectReason(name, "x") != ""
			if counts && !slices.Contains(named, name) {
				names = append(names, policytext.DottedKey("args", name))
			}
		}
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	names = slices.Compact(names)
	l.addFinding(r, policy.Position{}, check.Finding{Code: FurtherArguments, Message: fmt.Sprintf("this rule does not allow calls that also have %s, because it does not name %s", joinNames(names), pronounFor(make([]int, len(names)))),
		Fix: "add conditions for them, or list them in args_only"})
}
