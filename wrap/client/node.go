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

// node is one value of a file with its byte offsets. Every format is read into nodes, so that the
// same code finds and edits servers in all formats.
type node struct {
	kind       kind
	start, end int      // the end of a list or object is known only in JSON and YAML's flow style
	text       string   // for a string; in JSON also for a number or boolean, as it is written
	members    []member // for an object
	items      []*node  // for a list

	// block means that the node is a YAML list with a line for each item. For an item of such a
	// list, lead is the offset of its dash.
	block bool
	lead  int
	// plain means that the node is a YAML scalar without quotes.
	plain bool
	// refused is the reason why the node must not be edited, such as "an anchor"; "" if it may be.
	refused string
}

// member is a key with its value. start, last and end are offsets of the key. For a dotted TOML key,
// start is the start of its first part, and last is the start of its last part.
type member struct {
	name             string
	start, last, end int
	block            bool // the member is on lines without other members
	escaped          bool // the name is written with escapes
	value            *node
	// again lists further places of the name: in TOML, the parts of one table may be at several
	// places.
	again []span
}

func (n *node) endAt(end int) *node {
	if n != nil {
		n.end = end
	}
	return n
}

// findMember returns the first member with a name, or nil. twice means that there is a second one.
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

// lineStart returns the offset of the first byte of the line that contains the offset at.
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

// lineBreak returns the line end at an offset. At the end of src, it returns a line end like the first
// one of the file.
func lineBreak(src []byte, at int) string {
	if at == len(src) {
		at = lineEnd(src, 0)
	}
	if at < len(src) && src[at] == '\r' {
		return "\r\n"
	}
	return "\n"
}
