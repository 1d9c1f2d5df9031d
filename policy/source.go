package policy

import "slices"

// ruleSource is one [[rule]] as written, checked for shape but not compiled.
type ruleSource struct {
	Rule
	subject    Subject
	pattern    string   // the subject's glob
	calls      []Stated // conditions on the call as a whole, by the order of the keys
	args       []argSource
	where      []whereSource
	further    Further
	limit      string // TOML of the limit; "" without one
	start, end int    // byte span in the file of the whole [[rule]] table
	from       string // the entry of extends that it comes from; "" for the file's own
}

// conditional says whether the rule wants more of a call than its subject.
func (r *ruleSource) conditional() bool {
	return len(r.calls)+len(r.args)+len(r.where) > 0 || r.further.Only
}

// watches says whether the rule looks at arguments that it does not name.
func (r *ruleSource) watches() bool {
	return r.further.watches(r.Action, len(r.args)+len(r.where))
}

// names says whether the rule has a condition on an argument, or on what it lies in.
func (r *ruleSource) names(path []string) bool {
	leads := func(to []string) bool { return len(to) <= len(path) && slices.Equal(to, path[:len(to)]) }
	return slices.ContainsFunc(r.args, func(a argSource) bool { return leads(a.path) }) ||
		slices.ContainsFunc(r.where, func(w whereSource) bool { return leads(w.path) })
}

// argSource is one args.<name> condition: of the globs at least one must match.
type argSource struct {
	path  []string // the keys below args; never empty
	globs []string // never empty
	pos   Position
}
