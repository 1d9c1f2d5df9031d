package policy

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/where"
)

// Source is a rule as its author wrote it, for analyses of a policy.
type Source struct {
	Rule
	// Subject is the subject of the calls that the rule decides. Subject is NoSubject if the rule
	// decides no calls: a rule about replies or lists (On), or a rule that alters content.
	Subject Subject
	About   Subject  // the subject in the rule's text, even if Subject is NoSubject
	Names   []string // the subject's globs; one must match
	Servers []string // globs on server names; one must match; nil if the rule is about every server
	Args    []ArgSource
	Where   []WhereSource
	Calls   []Stated // conditions on the call as a whole, including Servers and When
	Not     Exceptions
	Further Further  // what the rule says about arguments without a condition
	When    *When    // nil if the rule applies at any time
	Finds   []string // kinds of finds; one of them must be found; "*" is any kind; nil if the rule has no find
	// From is the entry of extends that the rule comes from; "" for a rule of the file itself. For
	// a rule of an entry, Start and End are offsets in the text of the entry.
	From string
	// Anchor is the name by which the key "above" names an extended rule. It is "" for a rule of
	// the file itself, and for a rule that the key "above" cannot name.
	Anchor string
	// Start and End are the offsets of the rule in the file, including its [[rule]] header.
	Start, End int
	// FolderNames are the names of the lists of [folders] that the rule uses. The rule's globs hold
	// the folders themselves.
	FolderNames []string
}

// TakesRulesAbove reports whether a rule of the file can stand directly above this rule. It can if
// this rule is the file's own, or if the key "above" can name this rule.
func (s *Source) TakesRulesAbove() bool { return s.From == "" || s.Anchor != "" }

// EndOfOwn looks for the last rule of the file itself in the list of all rules, and returns the
// index after this rule.
func EndOfOwn(sources []Source) int {
	for i := len(sources); i > 0; i-- {
		if sources[i-1].From == "" {
			return i
		}
	}
	return 0
}

// RefusesTheRest reports whether a rule of the file itself denies every call of its subject,
// without conditions. If it is the last rule, it denies all calls that the rules above do not
// match.
func (s *Source) RefusesTheRest() bool {
	return s.From == "" && s.Action == Deny && s.Subject != NoSubject &&
		len(s.Calls)+len(s.Args)+len(s.Where) == 0 && !s.Further.Only && !s.Not.HasExceptions() &&
		slices.ContainsFunc(s.Names, func(g string) bool { return strings.Trim(g, "*") == "" })
}

// AfterKinds returns the kinds of data that the session must have seen, from the rule's key
// "after". It returns 0 if the rule has no such key.
func (s *Source) AfterKinds() (kinds Seen) {
	for _, c := range s.Calls {
		if after, ok := c.test.(*afterSeen); ok {
			kinds = after.kinds
		}
	}
	return kinds
}

// Exceptions holds the exceptions of a rule: the rule does not match a call that meets one of
// them, even if its conditions hold.
type Exceptions struct {
	Names []string    // globs on the same texts as the subject's globs
	Calls []Stated    // conditions on the call as a whole
	Args  []ArgSource // globs on arguments
}

// HasExceptions reports whether there are exceptions.
func (e *Exceptions) HasExceptions() bool { return len(e.Names)+len(e.Calls)+len(e.Args) > 0 }

// ArgSource is one args.<name> condition.
type ArgSource struct {
	Path  []string // the names below args
	Globs []string // one must match
	Pos   Position
}

// WhereSource is one typed constraint: where.<path>.<key> = <text>.
type WhereSource struct {
	Path       []string // the argument's path below "where"
	Key        string   // the constraint: under, host, sql, ...
	Text       string   // the constraint's value, as TOML
	Pos        Position
	Constraint where.Constraint
}

// Sources returns the rules as written, in order.
func (p *Policy) Sources() []Source {
	out := make([]Source, len(p.sources))
	anchors := p.listAnchors()
	for i := range p.sources {
		out[i] = p.sources[i].exportSource()
		if anchors != nil {
			out[i].Anchor = anchors[i]
		}
		if out[i].On != p.options.judges {
			out[i].Subject = NoSubject
			continue
		}
		for j := range out[i].Where {
			typed := p.rules[i].conditions[len(out[i].Args)+j].typed
			out[i].Where[j].Constraint = typed.Constraint
		}
	}
	return out
}

func (r *ruleSource) exportSource() Source {
	s := Source{Rule: r.Rule, Subject: r.subject, About: r.subject, Names: slices.Clone(r.patterns), Start: r.start, End: r.end, From: r.from, FolderNames: slices.Clone(r.names)}
	for _, c := range r.calls {
		s.Calls = append(s.Calls, c)
		switch test := c.test.(type) {
		case *When:
			w := *test
			s.When = &w
		case *found:
			s.Finds = slices.Clone(test.words)
		default:
			if c.Key == ruleKeys[serverKey] {
				s.Servers = slices.Clone(c.Globs)
			}
		}
	}
	for _, a := range r.args {
		s.Args = append(s.Args, ArgSource{slices.Clone(a.path), slices.Clone(a.globs), a.pos})
	}
	for i := range r.where {
		w := &r.where[i]
		s.Where = append(s.Where, WhereSource{slices.Clone(w.path), w.key.name, w.text(), w.pos, nil})
	}
	s.Not.Names, s.Not.Calls = slices.Clone(r.not.patterns), slices.Clone(r.not.calls)
	for _, a := range r.not.args {
		s.Not.Args = append(s.Not.Args, ArgSource{slices.Clone(a.path), slices.Clone(a.globs), a.pos})
	}
	if r.Action.AltersContent() {
		s.Subject = NoSubject
	}
	s.Further = r.further
	s.Further.Names = slices.Clone(r.further.Names)
	return s
}

// CoversAllSubjects reports whether the rule is about all replies or all list entries, whatever
// their subject is.
func (s *Source) CoversAllSubjects() bool { return s.On != OnCall && s.About == NoSubject }

// WatchesUnnamedArgs reports whether the rule looks at arguments that it does not name (Further).
func (s *Source) WatchesUnnamedArgs() bool {
	return s.Further.watchesUnnamedArgs(s.Action, s.ArgumentPaths())
}

// ArgumentPaths returns the arguments that have conditions or exceptions (see EveryArgument).
func (s *Source) ArgumentPaths() (paths [][]string) {
	for _, a := range s.Args {
		paths = append(paths, a.Path)
	}
	for _, w := range s.Where {
		paths = append(paths, w.Path)
	}
	for _, a := range s.Not.Args {
		paths = append(paths, a.Path)
	}
	return paths
}

// RuleKey returns the rule key of a subject: "tool", "resource", and so on; "" for NoSubject.
func (s Subject) RuleKey() string {
	if s == NoSubject || s > MethodSubject {
		return ""
	}
	return subjectKey(s)
}

// SubjectOf returns the subject with the given rule key; NoSubject if no subject has this key.
func SubjectOf(key string) Subject { return Subject(slices.Index(subjectKeys, key) + 1) }
