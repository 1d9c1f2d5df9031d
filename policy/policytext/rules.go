package policytext

import "slices"

// Rule is one [[rule]] of a policy, with the tables inside it.
type Rule struct {
	Statements []Statement // the statements of the rule; the header is the first
	Start, End int         // from the header to the end of the last statement
}

// Rules returns the rules in order.
func (d *Document) Rules() []Rule { return d.tables("rule") }

// tables returns the tables with the header [[NAME]] for one of the names, in order.
func (d *Document) tables(names ...string) []Rule {
	var rules []Rule
	open := ""
	for _, st := range d.Statements {
		switch {
		case st.Header && st.List && len(st.Key) == 1 && slices.Contains(names, st.Key[0]):
			rules = append(rules, Rule{Start: st.Start})
			open = st.Key[0]
		case st.Header && st.Key[0] != open:
			open = ""
		}
		if open != "" {
			r := &rules[len(rules)-1]
			r.Statements = append(r.Statements, st)
			r.End = st.End
		}
	}
	return rules
}

// RemoveKey returns the edits that remove a key from a rule, with everything below the key: pairs
// and tables.
func (r *Rule) RemoveKey(key string) []Edit {
	var edits []Edit
	var table []string
	for _, st := range r.Statements {
		path := slices.Concat(table, st.Key)
		if st.Header {
			table = st.Key[1:]
			path = table
		}
		if len(path) > 0 && path[0] == key {
			edits = append(edits, Edit{Start: st.Start, End: st.End})
		}
	}
	return edits
}

// Leaf is a value of a rule with its whole path: args.path, where.path.under, server. A table is a
// leaf only if the parameter whole of Leaves holds its path.
type Leaf struct {
	Path  []string
	Value Value
	cut   []span // the bytes to remove with the leaf
}

type span struct{ start, end int }

// Leaves returns the values of a rule in the order of the text. An inline table with one of the
// given paths is one leaf; every value of another inline table is a leaf.
func (r *Rule) Leaves(whole ...[]string) []Leaf {
	var leaves []Leaf
	var prefix []string
	for i, st := range r.Statements {
		if st.Header {
			prefix = st.Key[1:]
			continue
		}
		cut := []span{{st.Start, st.End}}
		if above := r.Statements[i-1]; above.Header && len(above.Key) > 1 && (i+1 == len(r.Statements) || r.Statements[i+1].Header) {
			// The table has only this pair. The edit removes the header too, because the table
			// would be empty without the pair.
			cut = append([]span{{above.Start, above.End}}, cut...)
		}
		leaves = appendLeaves(leaves, prefix, st, cut, whole)
	}
	return leaves
}

func appendLeaves(leaves []Leaf, prefix []string, st Statement, cut []span, whole [][]string) []Leaf {
	path := slices.Concat(prefix, st.Key)
	isPath := func(w []string) bool { return slices.Equal(w, path) }
	if st.Value.Kind != TableValue || slices.ContainsFunc(whole, isPath) {
		return append(leaves, Leaf{Path: path, Value: st.Value, cut: cut})
	}
	pairs := st.Value.Pairs
	for i, pair := range pairs {
		inner := cut
		switch {
		case len(pairs) == 1:
		case i+1 < len(pairs):
			inner = []span{{pair.Start, pairs[i+1].Start}}
		default:
			inner = []span{{pairs[i-1].End, pair.End}}
		}
		leaves = appendLeaves(leaves, path, pair, inner, whole)
	}
	return leaves
}
