package jsonscan

import (
	"iter"
	"strings"
	"unsafe"
)

// Value is one value of a message that internal/wire/frame has admitted, as it is written; "" is
// a value that is absent. What is no such text is read as far as it is JSON.
type Value string

// ValueOf views bytes as a value. Nobody may write to them as long as it, or a text of it, is
// in use.
func ValueOf(b []byte) Value { return Value(unsafe.String(unsafe.SliceData(b), len(b))) }

// Bytes are those that the value was found in, not a copy; nil when it is absent. Nobody
// may write to them.
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

// Kind is told by the value's first byte.
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

// Text is what a string says, "" for another value.
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

// Members are the names, each a string, and the values of an object's members; those of
// another value are none.
func (v Value) Members() iter.Seq2[Value, Value] { return v.IndexedMembers(&Index{}) }

// Index is where an object's first members are: who has read the message before knows.
// The zero value knows nothing.
type Index struct {
	known   int
	members [8]Span
}

// Span is a member: where its name, with its quotes, and its value begin and end, as
// offsets in the object.
type Span struct{ Name, NameEnd, Value, End uint32 }

// AddMember notes the next member.
func (x *Index) AddMember(s Span) {
	if x.known < len(x.members) {
		x.members[x.known] = s
		x.known++
	}
}

// IndexedMembers gives Members of the object that the index is of.
func (v Value) IndexedMembers(x *Index) iter.Seq2[Value, Value] {
	return func(yield func(name, value Value) bool) {
		if v == "" { // and the index is of another part of the message
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

// skipUnchecked is Skip of what needs no check: it looks for the end alone.
func (c *Cursor) skipUnchecked() bool {
	if b := c.Peek(); b != '{' && b != '[' {
		return c.SkipValue()
	}
	c.At++
	return c.LeaveContainer()
}

// Elements are those of an array; those of another value are none.
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

// Member is the member of an object by that name; absent when there is none.
func (v Value) Member(name string) Value {
	for n, value := range v.Members() {
		if n.Text() == name {
			return value
		}
	}
	return ""
}

// VisitLeaves visits every string, number and boolean in v, at any depth, and goes over the
// text once; name is that of the member that holds it, "" in an array.
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
