package policy

import "slices"

// ruleSource is one [[rule]] as written. Its syntax is checked, but it is not compiled.
type ruleSource struct {
	Rule
	subject    Subject
	patterns   []string     // the subject's globs; one must match; never empty
	written    []string     // the patterns as in the file, with each ${NAME} of [folders]; nil if no pattern has such a name
	names      []string     // the names of the lists of [folders] that the rule uses
	lists      []FolderList // all lists of [folders] that the rule may use
	calls      []Stated     // conditions on the call as a whole, in the order of the keys
	args       []argSource
	where      []whereSource
	further    Further
	not        exceptions
	limit      string // the limit as TOML; "" if the rule has none
	start, end int    // offsets of the whole [[rule]] table in the file
	from       string // the entry of extends that the rule comes from; "" for a rule of the file itself
	// How many [[extends]] are above the rule in the file; includes the [[extends]] that the rule
	// comes from; 0 for a rule from a list.
	entries int
	// The value of the key "above": name of an extended rule (anchorNames); "" if the rule has no
	// such key.
	above string
}

// hasConditions reports whether the rule has conditions on a call besides its subject.
func (r *ruleSource) hasConditions() bool {
	return len(r.calls)+len(r.args)+len(r.where) > 0 || r.further.Only || r.not.hasExceptions()
}

// watchesUnnamedArgs reports whether the rule judges arguments that it does not name.
func (r *ruleSource) watchesUnnamedArgs() bool {
	if r.Action != Allow && !r.further.Only {
		return false // this is the case for most rules, because they deny
	}
	return r.further.watchesUnnamedArgs(r.Action, r.argumentPaths())
}

// argumentPaths returns the arguments that have a condition or an exception.
func (r *ruleSource) argumentPaths() (paths [][]string) {
	for _, a := range r.args {
		paths = append(paths, a.path)
	}
	for i := range r.where {
		paths = append(paths, r.where[i].path)
	}
	for _, a := range r.not.args {
		paths = append(paths, a.path)
	}
	return paths
}

// namesArgument reports whether the rule has a condition or an exception on the argument, or on an
// argument that contains it.
func (r *ruleSource) namesArgument(path []string) bool {
	return slices.ContainsFunc(r.argumentPaths(), func(to []string) bool { return len(to) <= len(path) && slices.Equal(to, path[:len(to)]) })
}

// argSource is one args.<name> condition. At least one of its globs must match.
type argSource struct {
	path  []string // the keys below args; never empty
	globs []string // never empty
	pos   Position

	written []string // the globs as in the file, with each ${NAME} of [folders]; nil if no glob has such a name
}
