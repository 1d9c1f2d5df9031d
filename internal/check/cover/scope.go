package cover

import (
	"slices"
	"strings"
	"sync"

	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// document is a policy's text with its rules.
type document struct {
	file    string
	src     []byte
	options policy.Options
	policy  *policy.Policy
	sources []policy.Source
	rules   []policytext.Rule // the file's own; what it extends stands behind them
}

// parseRules parses the policy with edits and without the rules that keep leaves out.
func (d *document) parseRules(keep func(int) bool, edits ...policytext.Edit) (*policy.Policy, error) {
	edits = slices.Clone(edits)
	for i := range d.rules {
		if !keep(i) {
			edits = append(edits, policytext.Edit{Start: d.rules[i].Start, End: d.rules[i].End})
		}
	}
	return policy.Parse(d.file, policytext.ApplyEdits(d.src, edits...), d.options)
}

func keepAll(int) bool { return true }

// scope is the part of a policy that can have a say in the calls that some of its
// rules match. Changes of those rules are judged within it: what they change, they
// change there, and a policy of many rules has many such parts.
type scope struct {
	document *document
	of       []int // the rules
	in       []bool
	// before is the part as it is.
	before func() (*policy.Policy, error)
	// close are those of the part whose arguments look as if one call could meet
	// them: to look for a call there takes less, and proves nothing.
	close []bool
}

func (d *document) scopeOf(of ...int) *scope {
	s := &scope{document: d, of: of, in: make([]bool, len(d.rules)), close: make([]bool, len(d.rules))}
	whole := true
	for i := range d.rules {
		for _, j := range of {
			if rulesMeet(&d.sources[i], &d.sources[j]) {
				s.in[i] = true
				s.close[i] = s.close[i] || meetPlainly(&d.sources[i], &d.sources[j])
			}
		}
		whole = whole && s.in[i]
	}
	s.before = sync.OnceValues(func() (*policy.Policy, error) {
		if whole {
			return d.policy, nil
		}
		return d.parseRules(s.hasRule)
	})
	return s
}

func (s *scope) hasRule(i int) bool     { return s.in[i] }
func (s *scope) hasNearRule(i int) bool { return s.close[i] }

// matchesCase says that a rule of the scope may match some call of a case.
func (s *scope) matchesCase(c *testCase) bool {
	return slices.ContainsFunc(s.of, func(i int) bool {
		if s.document.sources[i].On != c.on {
			return false
		}
		if c.on != policy.OnCall && len(c.calls) == 0 && !c.refused {
			return true // nobody knows what was called
		}
		return slices.ContainsFunc(c.calls, func(call policy.Call) bool { return fitsCall(&s.document.sources[i], &call) })
	})
}

// hasExactNames says that the names a subject's globs are matched with have one reading.
func hasExactNames(s policy.Subject) bool {
	return s == policy.ToolSubject || s == policy.PromptSubject || s == policy.MethodSubject
}

// rulesMeet says that one call may match two rules, or the rules that widening or
// narrowing their names makes of them: the ends of the globs stay.
func rulesMeet(a, b *policy.Source) bool {
	return sameSubject(a, b) && (!hasExactNames(a.About) || !hasExactNames(b.About) || anyMeet(classNames(a), classNames(b)))
}

// sameSubject says that two rules judge the same kind of thing.
func sameSubject(a, b *policy.Source) bool {
	return a.On == b.On && (a.About == b.About || a.CoversAllSubjects() || b.CoversAllSubjects()) && editsCalls(a) == editsCalls(b)
}

// classNames gives the names of a rule, and of a class of agents' own tools those of the tools.
func classNames(s *policy.Source) []string {
	if s.Subject != policy.ToolSubject { // agents' own tools answer past the rules
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

// meetPlainly says the same of arguments that are read as they are written, and of
// servers with a name.
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

// anyMeet says that one of some globs may match what one of others does.
func anyMeet(a, b []string) bool {
	return slices.ContainsFunc(a, func(g string) bool {
		return slices.ContainsFunc(b, func(h string) bool { return endsOf(g).endsMeet(endsOf(h)) })
	})
}

// ends are what a glob begins and ends with.
type ends struct {
	first, last string
	literal     bool // both are the whole
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
