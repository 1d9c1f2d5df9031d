package client

import (
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"
)

// unit is a part of a file that can be taken out as a whole: a member or an item of the container
// of servers; in TOML, a table with its header, or a pair.
type unit struct {
	key        string   // name of the member or item; in TOML, the pathKey of path
	path       []string // in TOML: path of the table or of the pair
	pair       int      // only in TOML: length of the path of the pair's table, or -1 if the unit is a table
	start, end int
	flow       bool // in YAML: the unit is inside brackets
}

// splitUnits returns the units of a file in the order of the file.
func (f *file) splitUnits(container []string) ([]unit, error) {
	if f.row.Format == TOML {
		return f.splitTables(container), nil
	}
	n, err := parseFile(f.row, f.src)
	for _, key := range container {
		if m, _ := n.findMember(key); err == nil && m != nil {
			n = m.value
		}
	}
	if err != nil || n == nil {
		return nil, err
	}
	var all []unit
	add := func(key string, start int, value *node, block bool) {
		end, known := f.unitEnd(value)
		if !known && err == nil {
			err = newEditError(f.src, start, "write it on lines of its own", "where the entry of %q ends cannot be told", key)
		}
		all = append(all, unit{key: key, start: start, end: end, flow: f.row.Format == YAML && !block})
	}
	for _, m := range n.members {
		add(m.name, m.start, m.value, m.block)
	}
	for _, item := range n.items {
		start, name := item.start, ""
		if n.block {
			start = item.lead
		}
		if m, _ := item.findMember(f.row.NameField); m != nil {
			name = m.value.text
		}
		add(name, start, item, n.block)
	}
	return all, err
}

// unitEnd returns the end of a value. It also finds the end of a YAML object in brackets; valueEnd
// cannot find that end.
func (f *file) unitEnd(n *node) (int, bool) {
	if f.row.Format != YAML || n.kind != objectKind {
		return f.valueEnd(n)
	}
	if len(n.members) > 0 && n.members[0].block {
		return f.unitEnd(n.members[len(n.members)-1].value)
	}
	at := n.start + 1
	if len(n.members) > 0 {
		end, known := f.unitEnd(n.members[len(n.members)-1].value)
		if !known {
			return 0, false
		}
		at = end
	}
	at = f.skipBlank(at)
	return at + 1, n.end > n.start && at < len(f.src) && f.src[at] == '}'
}

// splitTables returns the units of a TOML file: the tables, each up to the next unit, and the pairs
// outside of these tables that are servers or parts of servers.
func (f *file) splitTables(container []string) (all []unit) {
	base := bomLength(f.src)
	var p unstable.Parser
	p.Reset(f.src[base:])
	var table []string
	element := "" // in an array of tables: name of the server whose element was read last
	for p.NextExpression() {
		n := p.Expression()
		var path []string
		at := -1
		for it := n.Key(); it.Next(); {
			path = append(path, string(it.Node().Data))
			if at < 0 {
				at = base + int(it.Node().Raw.Offset)
			}
		}
		u := unit{path: path, pair: -1, start: lineStart(f.src, at), end: len(f.src)}
		switch n.Kind {
		case unstable.KeyValue:
			u.path, u.pair = slices.Concat(table, path), len(table)
			if len(table) > len(container) || !hasPathPrefix(u.path, container) {
				continue
			}
		case unstable.ArrayTable:
			table = path
			if slices.Equal(path, container) {
				element = f.nameAfter(u.start)
				table = slices.Concat(path, []string{element})
			}
		default:
			table = path
		}
		if f.row.Container == Tables && hasPathPrefix(u.path, container) {
			u.path = slices.Concat(container, []string{element}, u.path[len(container):])
		}
		if len(all) > 0 {
			all[len(all)-1].end = u.start
		}
		u.key = pathKey(u.path)
		all = append(all, u)
	}
	return all
}

func (f *file) nameAfter(at int) string {
	for _, s := range f.slots {
		if s.at >= at {
			return s.name
		}
	}
	return ""
}

// hasPathPrefix reports whether a path starts with the other path.
func hasPathPrefix(path, other []string) bool {
	return len(path) >= len(other) && slices.Equal(path[:len(other)], other)
}

// unitsOf returns the indexes of the units that form an entry.
func (f *file) unitsOf(s slot, units []unit) (own []int) {
	for i, u := range units {
		if f.row.Format == TOML && hasPathPrefix(u.path, s.path) || f.row.Format != TOML && u.start <= s.at && s.at < u.end {
			own = append(own, i)
		}
	}
	return own
}
