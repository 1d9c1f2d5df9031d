package policy

import (
	"slices"

	"github.com/clawai/clawai/policy/where"
)

// Source is a rule as its author wrote it: what analyses of a policy read.
type Source struct {
	Rule
	Subject Subject
	Name    string // the subject's glob
	Server  string // glob; "" when the rule is about every server
	Args    []ArgSource
	Where   []WhereSource
	Calls   []Stated // conditions on the call as a whole, Server and When among them
	Further Further  // what it says of arguments that these do not name
	When    *When    // nil when the rule holds at any time
	// From is the entry of extends that the rule comes from, in whose text Start and
	// End count; "" for a rule of the file itself.
	From string
	// Start and End are the bytes of the file in which the rule stands, its
	// [[rule]] header included.
	Start, End int
}

// ArgSource is one args.<name> condition.
type ArgSource struct {
	Path  []string // the names below args
	Globs []string // one of them must match
	Pos   Position
}

// WhereSource is one typed constraint: where.<path>.<key> = <text>.
type WhereSource struct {
	Path       []string // the names below where, of the argument
	Key        string   // of the constraint: under, host, sql, ...
	Text       string   // its value, as TOML
	Pos        Position
	Constraint where.Constraint
}

// Sources are the rules as written, in order.
func (p *Policy) Sources() []Source {
	out := make([]Source, len(p.sources))
	for i := range p.sources {
		out[i] = p.sources[i].source()
		for j := range out[i].Where {
			typed := p.rules[i].conditions[len(out[i].Args)+j].typed
			out[i].Where[j].Constraint = typed.Constraint
		}
	}
	return out
}

func (r *ruleSource) source() Source {
	s := Source{Rule: r.Rule, Subject: r.subject, Name: r.pattern, Start: r.start, End: r.end, From: r.from}
	for _, c := range r.calls {
		s.Calls = append(s.Calls, c)
		switch test := c.test.(type) {
		case *When:
			w := *test
			s.When = &w
		default:
			if c.Key == ruleKeys[serverKey] {
				s.Server = c.Glob
			}
		}
	}
	for _, a := range r.args {
		s.Args = append(s.Args, ArgSource{slices.Clone(a.path), slices.Clone(a.globs), a.pos})
	}
	for i := range r.where {
		w := &r.where[i]
		s.Where = append(s.Where, WhereSource{slices.Clone(w.path), w.key.name, w.text, w.pos, nil})
	}
	s.Further = r.further
	s.Further.Names = slices.Clone(r.further.Names)
	return s
}

// Watches says whether the rule looks at arguments that it does not name (Further).
func (s *Source) Watches() bool { return s.Further.watches(s.Action, len(s.Args)+len(s.Where)) }

// Key is the rule key of a subject: "tool", "resource", and so on; "" for none.
func (s Subject) Key() string {
	if s == NoSubject || s > MethodSubject {
		return ""
	}
	return subjectKey(s)
}

// SubjectOf is the subject whose key that is; NoSubject when there is none.
func SubjectOf(key string) Subject { return Subject(slices.Index(subjectKeys, key) + 1) }
