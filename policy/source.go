package policy

import "slices"

// ruleSource is one [[rule]] as written, checked for shape but not compiled.
type ruleSource struct {
	Rule
	subject    Subject
	pattern    string  // the subject's glob
	server     *string // nil: no condition
	args       []argSource
	where      []whereSource
	further    Further
	when       *When  // nil: at any time
	limit      string // TOML of the limit; "" without one
	start, end int    // byte span in the file of the whole [[rule]] table
	from       string // the entry of extends that it comes from; "" for the file's own
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
