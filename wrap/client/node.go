package client

import "bytes"

// kind is the type of a value in a file.
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

// node is one value of a file with its byte offsets. Every format is read into nodes, so that
// finding and editing are written once.
type node struct {
	kind       kind
	start, end int      // the end of a list or object is known only in JSON and YAML's flow style
	text       string   // of a string; in JSON also of a number or boolean, as it is written
	members    []member // of an object
	items      []*node  // of a list

	// block means a YAML list with a line for each item. lead is the offset of the dash of an
	// item in such a list.
	block bool
	lead  int
	// plain means a YAML scalar without quotes.
	plain bool
	// refused is the reason why the engine must not touch the node ("an anchor").
	refused string
}

// member is a key with its value. A dotted TOML key starts at its first part; last is the start
// of its last part.
type member struct {
	name             string
	start, last, end int
	block            bool // it is on a line of its own
	escaped          bool // the name is written with escapes
	value            *node
	// again lists the other places of the name: TOML can write one table in parts.
	again []span
}

func (n *node) endAt(end int) *node {
	if n != nil {
		n.end = end
	}
	return n
}

// findMember returns the first member of a name; twice means that there is another.
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

func (n *node) lastMember(name string) *member {
	for i := len(n.members) - 1; i >= 0; i-- {
		if n.members[i].name == name {
			return &n.members[i]
		}
	}
	return nil
}

// findDuplicate returns a member, at any depth, that has the name of an earlier one.
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

// lineStart returns the offset of the first byte of the line that holds at.
func lineStart(src []byte, at int) int {
	start := bytes.LastIndexByte(src[:at], '\n') + 1
	if start == 0 {
		return min(bomLength(src), at)
	}
	return start
}

// lineEnd returns the offset of the line end after at, or of the end of src.
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

// lineBreak returns the line end at an offset; at the end of src, the first line end of the
// file.
func lineBreak(src []byte, at int) string {
	if at == len(src) {
		at = lineEnd(src, 0)
	}
	if at < len(src) && src[at] == '\r' {
		return "\r\n"
	}
	return "\n"
}
