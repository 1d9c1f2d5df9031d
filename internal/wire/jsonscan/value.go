package jsonscan

import (
	"iter"
	"strings"
	"unsafe"
)

// Value is one value of a message that internal/wire/frame has admitted, as written;
// "" is an absent value. Text that frame has not admitted is read as far as it is
// JSON.
type Value string

// ValueOf returns bytes as a value, without a copy. The bytes must not be changed while the value,
// or a text of it, is in use.
func ValueOf(b []byte) Value { return Value(unsafe.String(unsafe.SliceData(b), len(b))) }

// Bytes returns the bytes of the value, not a copy; nil when it is absent. They must not be
// changed.
func (v Value) Bytes() []byte {
	if v == "" {
		return nil
	}
	return unsafe.Slice(unsafe.StringData(string(v)), len(v))
}

// ValueKind is the type of a value.
type ValueKind uint8

// The types of JSON.
const (
	Absent ValueKind = iota
	Null
	Boolean
	Number
	String
	Array
	Object
)

func (k ValueKind) String() string {
	return [...]string{"absent", "null", "boolean", "number", "string", "array", "object"}[k]
}

// Kind returns the type, which the first byte of the value shows.
func (v Value) Kind() ValueKind {
	if v == "" {
		return Absent
	}
	switch v[0] {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Boolean
	case 'n':
		return Null
	}
	return Number
}

// Text returns the decoded text of a string, or "" for another value.
func (v Value) Text() string {
	if v.Kind() != String {
		return ""
	}
	if end := len(v) - 1; end > 0 && v[end] == '"' && strings.IndexByte(string(v), '\\') < 0 {
		return string(v[1:end])
	}
	c := Cursor{Src: string(v)}
	text, _ := c.ReadString()
	return text
}

// Members returns the names (each a string) and the values of an object's members; it
// is empty for another value.
func (v Value) Members() iter.Seq2[Value, Value] { return v.IndexedMembers(&Index{}) }

// Index holds the positions of an object's first members, from an earlier scan of the
// message. The zero value holds none.
type Index struct {
	known   int
	members [8]Span
}

// Span is the position of a member: the offsets in the object where its name, with
// quotes, and its value begin and end.
type Span struct{ Name, NameEnd, Value, End uint32 }

// AddMember adds the next member.
func (x *Index) AddMember(s Span) {
	if x.known < len(x.members) {
		x.members[x.known] = s
		x.known++
	}
}

// Spans returns the positions of the members, in order.
func (x *Index) Spans() []Span { return x.members[:x.known] }

// IndexedMembers does the same as Members, for the object that the index x belongs to. It does not
// scan the members in x again.
func (v Value) IndexedMembers(x *Index) iter.Seq2[Value, Value] {
	return func(yield func(name, value Value) bool) {
		if v == "" { // the value is absent, so x belongs to another part of the message
			return
		}
		c := Cursor{Src: string(v)}
		for i := range x.members[:x.known] {
			s := &x.members[i]
			if !yield(v[s.Name:s.NameEnd], v[s.Value:s.End]) {
				return
			}
			c.At = int(s.End)
		}
		var more bool
		if c.At == 0 {
			more, _ = c.EnterContainer('{')
		} else {
			more, _ = c.NextItem('}')
		}
		for more {
			from := c.At
			_, ok := c.ReadQuoted()
			name := Value(c.Src[from:c.At])
			if !ok || !c.TakeColon() {
				return
			}
			from = c.At
			if !c.skipUnchecked() || !yield(name, Value(c.Src[from:c.At])) {
				return
			}
			more, _ = c.NextItem('}')
		}
	}
}

// skipUnchecked is SkipValue without checks: it only looks for the end.
func (c *Cursor) skipUnchecked() bool {
	if b := c.Peek(); b != '{' && b != '[' {
		return c.SkipValue()
	}
	c.At++
	return c.LeaveContainer()
}

// Elements returns the elements of an array; it is empty for another value.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		c := Cursor{Src: string(v)}
		more, _ := c.EnterContainer('[')
		for more {
			from := c.At
			if !c.skipUnchecked() || !yield(Value(c.Src[from:c.At])) {
				return
			}
			more, _ = c.NextItem(']')
		}
	}
}

// IsEmpty reports whether an object has no members or an array has no elements.
func (v Value) IsEmpty() bool {
	for range v.Members() {
		return false
	}
	for range v.Elements() {
		return false
	}
	return true
}

// Member returns the value of the member with this name; absent if the object has no such member.
func (v Value) Member(name string) Value {
	for n, value := range v.Members() {
		if n.IsText(name) {
			return value
		}
	}
	return ""
}

// IsText reports whether a value is a string with the given text.
func (v Value) IsText(text string) bool {
	if len(v) < len(`""`) || v[0] != '"' {
		return false
	}
	if inside := string(v[1 : len(v)-1]); strings.IndexByte(inside, '\\') < 0 {
		return inside == text && v[len(v)-1] == '"'
	}
	return v.Text() == text
}

// VisitLeaves calls visit for every string, number and boolean in v, at any depth, in
// one pass. name is the name of the member that holds the leaf, "" in an array.
func (v Value) VisitLeaves(visit func(name string, leaf Value)) {
	c := Cursor{Src: string(v)}
	c.visitLeaves("", visit)
}

func (c *Cursor) visitLeaves(name string, visit func(name string, leaf Value)) bool {
	from := c.At
	switch c.Peek() {
	case '{':
		return c.VisitMembers(func(name string) bool { return c.visitLeaves(name, visit) })
	case '[':
		return c.VisitElements(func() bool { return c.visitLeaves("", visit) })
	}
	ok := c.SkipValue()
	if leaf := Value(c.Src[from:c.At]); ok && leaf.Kind() != Null {
		visit(name, leaf)
	}
	return ok
}
