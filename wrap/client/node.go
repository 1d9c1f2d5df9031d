package client

import "bytes"

// kind is what a value of a file is.
type kind uint8

const (
	otherKind kind = iota // numbers, booleans, dates
	nullKind
	stringKind
	listKind
	objectKind
)

func (k kind) String() string {
	return [...]string{"a number or boolean", "null", "a string", "a list", "an object"}[k]
}

// node is one value of a file with the bytes it stands at. Every format is read
// into nodes, so that finding and editing are written once.
type node struct {
	kind       kind
	start, end int      // end of a list or object is known in JSON and YAML's flow style only
	text       string   // of a string; in JSON of a number or boolean, as it is written
	members    []member // of an object
	items      []*node  // of a list

	// block: a list of YAML with a line for each item. lead is where an item of
	// such a list begins, with its dash.
	block bool
	lead  int
	// plain: a scalar of YAML without quotes.
	plain bool
	// refused says why the engine must not touch the node ("an anchor").
	refused string
}

// member is a key with its value. A dotted key of TOML starts at its first part;
// last is where its last part starts.
type member struct {
	name             string
	start, last, end int
	block            bool // it stands on a line of its own
	escaped          bool // the name is written with escapes
	value            *node
	// again is where else the name stands: TOML writes one table in parts.
	again []span
}

func (n *node) endAt(end int) *node {
	if n != nil {
		n.end = end
	}
	return n
}

// findMember finds a member; twice when there is another of the same name.
func (n *node) findMember(name string) (found *member, twice bool) {
	if n == nil || n.kind != objectKind {
		return nil, false
	}
	for i := range n.members {
		if n.members[i].name != name {
			continue
		}
		if found != nil {
			return found, true
		}
		found = &n.members[i]
	}
	return found, false
}

// lastMember finds the last member of a name.
func (n *node) lastMember(name string) *member {
	for i := len(n.members) - 1; i >= 0; i-- {
		if n.members[i].name == name {
			return &n.members[i]
		}
	}
	return nil
}

// findDuplicate finds a member whose name an earlier one has, at any depth.
func (n *node) findDuplicate() *member {
	if n == nil {
		return nil
	}
	if m := n.ownDuplicate(); m != nil {
		return m
	}
	for i := range n.members {
		if m := n.members[i].value.findDuplicate(); m != nil {
			return m
		}
	}
	for _, item := range n.items {
		if m := item.findDuplicate(); m != nil {
			return m
		}
	}
	return nil
}

func (n *node) ownDuplicate() *member {
	if len(n.members) < 2 {
		return nil
	}
	seen := make(map[string]bool, len(n.members))
	for i := range n.members {
		if seen[n.members[i].name] {
			return &n.members[i]
		}
		seen[n.members[i].name] = true
	}
	return nil
}

// lineStart gives the offset of the first byte of the line that at is on.
func lineStart(src []byte, at int) int {
	start := bytes.LastIndexByte(src[:at], '\n') + 1
	if start == 0 {
		return min(bomLength(src), at)
	}
	return start
}

// lineEnd gives the offset of the line end after at, or of the end of src.
func lineEnd(src []byte, at int) int {
	i := bytes.IndexByte(src[at:], '\n')
	if i < 0 {
		return len(src)
	}
	if i > 0 && src[at+i-1] == '\r' {
		i--
	}
	return at + i
}

// lineBreak gives the line end at an offset; at the end of src, the first one of
// the file.
func lineBreak(src []byte, at int) string {
	if at == len(src) {
		at = lineEnd(src, 0)
	}
	if at < len(src) && src[at] == '\r' {
		return "\r\n"
	}
	return "\n"
}
