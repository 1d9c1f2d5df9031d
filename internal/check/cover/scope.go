package cover

import (
	"slices"
	"strings"
	"sync"

	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// document is the text of a policy, and its rules.
type document struct {
	file    string
	src     []byte
	options policy.Options
	policy  *policy.Policy
	sources []policy.Source
	rules   []policytext.Rule // by the index of a rule; empty for the rules of a file that this file extends
}

// isOwn reports whether a rule is in the file itself. Rules of extended files are not measured and
// not changed.
func (d *document) isOwn(i int) bool { return d.sources[i].From == "" }

// parseRules parses the text after the edits. It includes a rule only if the given function returns
// true for the index of the rule.
func (d *document) parseRules(keep func(int) bool, edits ...policytext.Edit) (*policy.Policy, error) {
	edits = slices.Clone(edits)
	for i := range d.rules {
		if d.isOwn(i) && !keep(i) {
			edits = append(edits, policytext.Edit{Start: d.rules[i].Start, End: d.rules[i].End})
		}
	}
	return policy.Parse(d.file, policytext.ApplyEdits(d.src, edits...), d.options)
}

func keepAll(int) bool { return true }

// scope is the part of a policy that decides about the calls which some changed rules may match:
// these rules, and all rules that may match the same calls. A change is judged within its scope
// only, because it affects no other calls. A scope is usually much smaller than the policy.
type scope struct {
	document *document
	changed  []int  // indexes of the changed rules
	included []bool // the rules in the scope, by index
	// before returns the policy without the change. It has only the rules in the scope.
	before func() (*policy.Policy, error)
	// near selects the rules of the scope whose servers and arguments, as written, may match the
	// same call as those of a changed rule. A search with only these rules is faster but proves
	// nothing.
	near []bool
}

func (d *document) scopeOf(changed ...int) *scope {
	s := &scope{document: d, changed: changed, included: make([]bool, len(d.rules)), near: make([]bool, len(d.rules))}
	whole := true
	for i := range d.rules {
		for _, j := range changed {
			if rulesMeet(&d.sources[i], &d.sources[j]) {
				s.included[i] = true
				s.near[i] = s.near[i] || meetPlainly(&d.sources[i], &d.sources[j])
			}
		}
		whole = whole && s.included[i]
	}
	s.before = sync.OnceValues(func() (*policy.Policy, error) {
		if whole {
			return d.policy, nil
		}
		return d.parseRules(s.hasRule)
	})
	return s
}

func (s *scope) hasRule(i int) bool     { return s.included[i] }
func (s *scope) hasNearRule(i int) bool { return s.near[i] }

// matchesCase reports whether a changed rule may match a call of the case.
func (s *scope) matchesCase(c *testCase) bool {
	return slices.ContainsFunc(s.changed, func(i int) bool {
		if s.document.sources[i].On != c.on {
			return false
		}
		if c.on != policy.OnCall && len(c.calls) == 0 && !c.refused {
			return true // it is unknown which call the reply answers
		}
		return slices.ContainsFunc(c.calls, func(call policy.Call) bool { return fitsCall(&s.document.sources[i], &call) })
	})
}

// hasExactNames reports whether rules compare the names of a subject only as they were sent. The
// names of other subjects have several readings.
func hasExactNames(s policy.Subject) bool {
	return s == policy.ToolSubject || s == policy.PromptSubject || s == policy.MethodSubject
}

// rulesMeet reports whether one call may match both rules. It looks only at the ends of the globs,
// so the result is also right after the names were widened or narrowed.
func rulesMeet(a, b *policy.Source) bool {
	return sameSubject(a, b) && (!hasExactNames(a.About) || !hasExactNames(b.About) || anyMeet(classNames(a), classNames(b)))
}

// sameSubject reports whether two rules judge the same kind of message.
func sameSubject(a, b *policy.Source) bool {
	return a.On == b.On && (a.About == b.About || a.CoversAllSubjects() || b.CoversAllSubjects()) && editsCalls(a) == editsCalls(b)
}

// classNames returns the names in a rule. For the name of a class of agents' built-in tools, it
// adds the names of these tools.
func classNames(s *policy.Source) []string {
	if s.Subject != policy.ToolSubject { // no rule sees the answers of agents' built-in tools
		return s.Names
	}
	names := slices.Clone(s.Names)
	for _, class := range builtin.ListClasses() {
		if !anyMeet(s.Names, []string{class.Name}) {
			continue
		}
		for _, client := range builtin.ListClients() {
			names = append(names, builtin.ToolNames(client, class.Name)...)
		}
	}
	return names
}

// meetPlainly reports whether one call may match both rules by server and arguments. It assumes
// that the call has a server name, and that the arguments have no other readings than the text as
// sent.
func meetPlainly(a, b *policy.Source) bool {
	if a.Servers != nil && b.Servers != nil && !anyMeet(a.Servers, b.Servers) {
		return false
	}
	for _, x := range a.Args {
		for _, y := range b.Args {
			if slices.Equal(x.Path, y.Path) && !policy.EveryArgument(x.Path) && !anyMeet(x.Globs, y.Globs) {
				return false
			}
		}
	}
	return true
}

func fitsCall(s *policy.Source, c *policy.Call) bool {
	if s.CoversAllSubjects() {
		return true
	}
	if s.About != c.Subject || editsCalls(s) {
		return s.On != policy.OnCall && c.Subject == policy.NoSubject
	}
	return !hasExactNames(s.About) || slices.ContainsFunc(c.Names, func(name string) bool {
		return anyMeet(s.Names, []string{name}) ||
			c.Method == builtin.Method && anyMeet(s.Names, []string{builtin.FindTool(c.Server, name).Class})
	})
}

// anyMeet reports whether some text may match both a glob in the first list and a glob in the
// second list.
func anyMeet(a, b []string) bool {
	return slices.ContainsFunc(a, func(g string) bool {
		return slices.ContainsFunc(b, func(h string) bool { return endsOf(g).endsMeet(endsOf(h)) })
	})
}

// ends holds the literal text at the beginning and at the end of a glob.
type ends struct {
	first, last string
	literal     bool // the glob has no wildcard: both ends are the complete glob
}

func endsOf(glob string) ends {
	const wild = "*?"
	if i := strings.IndexAny(glob, wild); i >= 0 {
		return ends{first: glob[:i], last: glob[strings.LastIndexAny(glob, wild)+1:]}
	}
	return ends{glob, glob, true}
}

func (e ends) endsMeet(f ends) bool {
	within := func(word, glob ends) bool {
		return strings.HasPrefix(word.first, glob.first) && strings.HasSuffix(word.first, glob.last)
	}
	switch {
	case e.literal && f.literal:
		return e.first == f.first
	case e.literal:
		return within(e, f)
	case f.literal:
		return within(f, e)
	}
	return (strings.HasPrefix(e.first, f.first) || strings.HasPrefix(f.first, e.first)) &&
		(strings.HasSuffix(e.last, f.last) || strings.HasSuffix(f.last, e.last))
}
