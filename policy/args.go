package policy

import (
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// argNames is the tree of the argument names that rules mention.
type argNames struct {
	slot int32                // of the conditions that end here; 0 when there are none
	kids map[string][]kid     // by folded name
	flat map[string]*argNames // by exact name; used while compiling
}

type kid struct {
	name string
	node *argNames
}

// reach finds or makes the node of a path below n.
func (n *argNames) reach(path []string) *argNames {
	for _, name := range path {
		next := n.flat[name]
		if next == nil {
			if n.flat == nil {
				n.flat, n.kids = map[string]*argNames{}, map[string][]kid{}
			}
			next = &argNames{}
			n.flat[name] = next
			n.kids[fold(name)] = append(n.kids[fold(name)], kid{name, next})
		}
		n = next
	}
	return n
}

// value is one string, number or boolean found for an argument name, or the
// knowledge that a server may find none.
type value struct {
	slot   int32
	absent bool
	number bool
	s      string
}

// scanner finds the values of named arguments in the JSON object of a call. It
// reads what proxy/frame admitted; anything else makes it give up. It copies
// nothing but strings that hold escapes.
type scanner struct {
	src    string
	at     int
	depth  int
	values []value
}

const maxDepth = 1000

// scan appends the values the names ask for; false when src is not one JSON
// object.
func (sc *scanner) scan(src []byte, names *argNames) bool {
	if len(src) == 0 {
		return true
	}
	// The view lives no longer than the decision, and nobody writes to src.
	sc.src, sc.at, sc.depth = unsafe.String(&src[0], len(src)), 0, 0
	sc.blanks()
	if sc.peek() != '{' || !sc.object(names) {
		return false
	}
	sc.blanks()
	return sc.at == len(sc.src)
}

func (sc *scanner) blanks() {
	for sc.at < len(sc.src) {
		switch sc.src[sc.at] {
		case ' ', '\t', '\r', '\n':
			sc.at++
		default:
			return
		}
	}
}

// peek is the next byte, 0 at the end.
func (sc *scanner) peek() byte {
	if sc.at < len(sc.src) {
		return sc.src[sc.at]
	}
	return 0
}

func (sc *scanner) take(c byte) bool {
	if sc.peek() != c {
		return false
	}
	sc.at++
	return true
}

// object reads an object whose members names may ask for.
func (sc *scanner) object(names *argNames) bool {
	return sc.members(func(key string) bool {
		var buf [64]byte
		kids := names.kids[string(foldInto(buf[:0], key))]
		if len(kids) == 0 {
			return sc.skip()
		}
		start := sc.at
		for _, k := range kids {
			sc.at = start
			if !sc.member(k.node) {
				return false
			}
			if k.name != key {
				k.node.absent(sc)
			}
		}
		return true
	})
}

// members reads an object and hands each member over at its value.
func (sc *scanner) members(each func(key string) bool) bool {
	if sc.depth++; sc.depth > maxDepth || !sc.take('{') {
		return false
	}
	defer func() { sc.depth-- }()
	sc.blanks()
	if sc.take('}') {
		return true
	}
	for {
		sc.blanks()
		key, ok := sc.str()
		sc.blanks()
		if !ok || !sc.take(':') {
			return false
		}
		sc.blanks()
		if !each(key) {
			return false
		}
		sc.blanks()
		if sc.take('}') {
			return true
		}
		if !sc.take(',') {
			return false
		}
	}
}

// elements reads an array and hands each element over at its start.
func (sc *scanner) elements(each func() bool) bool {
	if sc.depth++; sc.depth > maxDepth || !sc.take('[') {
		return false
	}
	defer func() { sc.depth-- }()
	sc.blanks()
	if sc.take(']') {
		return true
	}
	for {
		sc.blanks()
		if !each() {
			return false
		}
		sc.blanks()
		if sc.take(']') {
			return true
		}
		if !sc.take(',') {
			return false
		}
	}
}

// absent notes, for every condition at or below n, that nothing may be found.
func (n *argNames) absent(sc *scanner) {
	if n.slot != 0 {
		sc.values = append(sc.values, value{slot: n.slot, absent: true})
	}
	for _, k := range n.flat {
		k.absent(sc)
	}
}

// member reads the value of a named argument: for the conditions on it, and for
// those on what it holds.
func (sc *scanner) member(n *argNames) bool {
	start := sc.at
	if n.slot != 0 {
		if !sc.leaf(n.slot, false) {
			return false
		}
		if len(n.kids) == 0 {
			return true
		}
		sc.at = start
	}
	switch sc.peek() {
	case '{':
		return sc.object(n)
	case '[':
		return sc.elements(func() bool { return sc.element(n) })
	}
	return sc.skip()
}

// element reads one element of a list on the way to a named member. An element
// that lacks the member is a reading without it.
func (sc *scanner) element(n *argNames) bool {
	before := len(sc.values)
	below := argNames{kids: n.kids, flat: n.flat}
	if !sc.member(&below) {
		return false
	}
	for _, k := range n.flat {
		k.absentUnless(sc, before)
	}
	return true
}

// absentUnless is absent for the conditions that got no value since before.
func (n *argNames) absentUnless(sc *scanner, before int) {
	found := n.slot == 0
	for _, v := range sc.values[before:] {
		found = found || v.slot == n.slot
	}
	if !found {
		sc.values = append(sc.values, value{slot: n.slot, absent: true})
	}
	for _, k := range n.flat {
		k.absentUnless(sc, before)
	}
}

// leaf reads a value as what conditions on it are matched against. Inside an
// object only strings, numbers and booleans count, beside "no match".
func (sc *scanner) leaf(slot int32, inside bool) bool {
	v := value{slot: slot}
	switch c := sc.peek(); c {
	case '"':
		s, ok := sc.str()
		v.s = s
		sc.values = append(sc.values, v)
		return ok
	case '{':
		if !inside {
			sc.values = append(sc.values, value{slot: slot, absent: true})
		}
		return sc.members(func(string) bool { return sc.leaf(slot, true) })
	case '[':
		n := len(sc.values)
		ok := sc.elements(func() bool { return sc.leaf(slot, inside) })
		if len(sc.values) == n && !inside {
			v.absent = true
			sc.values = append(sc.values, v)
		}
		return ok
	default:
		start := sc.at
		if !sc.skip() {
			return false
		}
		v.s = sc.src[start:sc.at]
		v.number = c != 't' && c != 'f'
		if v.s == "null" {
			v = value{slot: slot, absent: true}
		}
		if !v.absent || !inside {
			sc.values = append(sc.values, v)
		}
		return true
	}
}

// skip passes over one value.
func (sc *scanner) skip() bool {
	switch sc.peek() {
	case '"':
		return sc.quoted()
	case '{':
		return sc.members(func(string) bool { return sc.skip() })
	case '[':
		return sc.elements(sc.skip)
	}
	start := sc.at
	for sc.at < len(sc.src) {
		switch c := sc.src[sc.at]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', c == '-', c == '+', c == '.', c == 'E':
			sc.at++
		default:
			return sc.at > start
		}
	}
	return sc.at > start
}

// quoted passes over a string.
func (sc *scanner) quoted() bool {
	for i := sc.at + 1; i < len(sc.src); i++ {
		switch sc.src[i] {
		case '\\':
			i++
		case '"':
			sc.at = i + 1
			return true
		}
	}
	return false
}

// str reads a string and decodes it.
func (sc *scanner) str() (string, bool) {
	if sc.peek() != '"' {
		return "", false
	}
	for i := sc.at + 1; i < len(sc.src); i++ {
		switch sc.src[i] {
		case '\\':
			start := sc.at + 1
			ok := sc.quoted()
			if !ok {
				return "", false
			}
			return unquote(sc.src[start : sc.at-1])
		case '"':
			s := sc.src[sc.at+1 : i]
			sc.at = i + 1
			return s, true
		}
	}
	return "", false
}

// unquote decodes the escapes of a JSON string (RFC 8259, section 7).
func unquote(s string) (string, bool) {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b = append(b, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case '"', '\\', '/':
			b = append(b, c)
		case 'u':
			r, ok := codeUnit(s[i+1:])
			if !ok {
				return "", false
			}
			i += 4
			if utf16.IsSurrogate(r) && len(s) > i+2 && s[i+1] == '\\' && s[i+2] == 'u' {
				low, _ := codeUnit(s[i+3:])
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					r = pair
					i += 6
				}
			}
			b = utf8.AppendRune(b, r)
		default:
			return "", false
		}
	}
	return string(b), true
}

// codeUnit reads the four digits of a \u escape.
func codeUnit(s string) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	var r rune
	for i := range 4 {
		d := hexDigit(s[i])
		if d < 0 {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

// foldInto is fold without an allocation for ASCII.
func foldInto(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			return append(b[:0], fold(s)...)
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}
