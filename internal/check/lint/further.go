package lint

import (
	"fmt"
	"slices"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/policy/reading"
)

// beyond are the calls that rules which watch for further arguments do not take.
func beyond(by []int) string {
	if len(by) == 1 {
		return ", but for calls with an argument that it does not name and that looks like a path, a URL or a command"
	}
	return ", but for calls with an argument that one of them does not name and that looks like a path, a URL or a command"
}

// further looks at what rules say of arguments that they do not name.
func further(l *linter) {
	l.each(func(i int, r *policy.Source) {
		switch {
		case r.Further.Only && r.Action != policy.Allow:
			l.dodged(i, r)
		case r.Further.Open:
			f := check.Finding{Code: FurtherArguments, Message: "args_open: further arguments may hold whatever path, address or command they like",
				Fix: "name those that the tool takes, or write args_only with their names"}
			l.show(&f, l.decoyed(i))
			l.add(r, policy.Position{}, f)
		case r.Watches():
			l.shut(r)
		}
	})
}

// dodged reports a refusal that one argument more gets around.
func (l *linter) dodged(i int, r *policy.Source) {
	c := l.decoyed(i)
	if c == nil || l.policy.Decide(c).Action != policy.Allow {
		return
	}
	f := check.Finding{Code: FurtherArguments, Severity: check.Warning, Message: fmt.Sprintf("with one argument more this %s does not match, and the call is allowed", r.Action),
		Fix: "take args_only out of it"}
	l.show(&f, c)
	l.add(r, policy.Position{}, f)
}

// decoyed is a call that comes to rule i, with an argument more.
func (l *linter) decoyed(i int) *policy.Call {
	if l.reach[i].Witness == nil {
		return nil
	}
	return with(l.reach[i].Witness, []string{"another_path"}, "/etc/passwd")
}

// shut reports arguments that the record shows, and that keep an allow shut.
func (l *linter) shut(r *policy.Source) {
	named := slices.Clone(r.Further.Names)
	for _, path := range r.Paths() {
		named = append(named, path[0])
	}
	var names []string
	for tool, all := range l.options.Arguments {
		if !matchesAny(r.Names, []string{tool}) {
			continue
		}
		for _, name := range all {
			counts := r.Further.Only || reading.Suspect(name, "x") != ""
			if counts && !slices.Contains(named, name) {
				names = append(names, policytext.Key("args", name))
			}
		}
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	names = slices.Compact(names)
	l.add(r, policy.Position{}, check.Finding{Code: FurtherArguments, Message: fmt.Sprintf("calls that have %s as well are not allowed by this rule, which does not name %s", listed(names), them(make([]int, len(names)))),
		Fix: "say what they may be, or list them in args_only"})
}
