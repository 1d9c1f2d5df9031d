package policy

// ruleSource is one [[rule]] as written, checked for shape but not compiled.
type ruleSource struct {
	Rule
	subject    Subject
	pattern    string  // the subject's glob
	server     *string // nil: no condition
	args       []argSource
	where      []whereSource
	when       *When  // nil: at any time
	limit      string // TOML of the limit; "" without one
	start, end int    // byte span in the file of the whole [[rule]] table
	from       string // the entry of extends that it comes from; "" for the file's own
}

// argSource is one args.<name> condition: of the globs at least one must match.
type argSource struct {
	path  []string // the keys below args; never empty
	globs []string // never empty
	pos   Position
}
