package client

import "bytes"

// kind is the type of a value in a file.
type kind uint8

const (
	otherKind kind = iota // a number, a boolean or a date
	nullKind
	stringKind
	listKind
	objectKind
)

func (k kind) String() string {
	return [...]string{"a number or boolean", "null", "a string", "a list", "an object"}[k]
}

// node is one value of a file, with its byte offsets. All formats are read into nodes, so the same
// code can find and edit servers in all of them.
type node struct {
	kind       kind
	start, end int      // for a list or an object, end is only known in JSON and in YAML's flow style
	text       string   // text of a string; in JSON also of a number or boolean, in the notation of the file
	members    []member // for an object
	items      []*node  // for a list

	// block means that the node is a YAML list with each item on its own line. If the node is an
	// item of such a list, lead is the offset of its dash.
	block bool
	lead  int
	// plain means that the node is a YAML scalar without quotes.
	plain bool
	// refused is the reason why the node must not be edited, such as "an anchor"; "" for none.
	refused string
}

// member is a key with its value. start, last and end are offsets of the key. If the key is a
// dotted key of TOML, start is the start of its first part, and last the start of its last part.
type member struct {
	name             string
	start, last, end int
	block            bool // the member is alone on its lines
	escaped          bool // the name has escapes in the file
	value            *node
	// again lists the other places of the name, because the parts of one TOML table can be at
	// several places.
	again []span
}

func (n *node) endAt(end int) *node {
	if n != nil {
		n.end = end
	}
	return n
}

// findMember returns the first member with this name; nil if there is none. twice is true if the
// object has a second member with this name.
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

// findDuplicate returns a member, at any depth, whose object has an earlier member of the same
// name; nil if there is none.
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

// lineStart returns the offset of a line's first byte. The parameter at is any offset in this line.
func lineStart(src []byte, at int) int {
	start := bytes.LastIndexByte(src[:at], '\n') + 1
	if start == 0 {
		return min(bomLength(src), at)
	}
	return start
}

// lineEnd returns the offset of the next line end. The search begins at the offset in the parameter
// at. If no line end follows, lineEnd returns the length of src.
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

// lineBreak returns the line end at an offset. At the end of src it returns the first line end of
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
