package toml

import (
	"math"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Value is the right side of a pair.
type Value struct {
	doc  *Document
	node *unstable.Node
}

// IsString reports whether the value is a string.
func (v Value) IsString() bool { return v.node.Kind == unstable.String }

// IsList reports whether the value is a list.
func (v Value) IsList() bool { return v.node.Kind == unstable.Array }

// IsTable reports whether the value is an inline table.
func (v Value) IsTable() bool { return v.node.Kind == unstable.InlineTable }

// IsBool reports whether the value is a boolean.
func (v Value) IsBool() bool { return v.node.Kind == unstable.Bool }

// IsNumber reports whether the value is an integer or a float.
func (v Value) IsNumber() bool {
	return v.node.Kind == unstable.Integer || v.node.Kind == unstable.Float
}

// Text returns the content of a string, or the source text of a number or a boolean.
func (v Value) Text() string {
	start, _, _ := v.Span()
	return v.doc.textAt(v.node.Data, start)
}

// Span returns the offsets of the value. It returns false for a list, because the parser does not
// report the position of a list.
func (v Value) Span() (start, end int, known bool) {
	start, end = v.doc.spanOf(v.node)
	return start, end, end > start
}

// EachElement calls f with each element of a list.
func (v Value) EachElement(f func(Value)) {
	for it := v.node.Children(); it.Next(); {
		f(Value{v.doc, it.Node()})
	}
}

// EachPair calls f with each pair of an inline table. f must not keep the key, because the key is
// only valid until f returns.
func (v Value) EachPair(f func([]KeyPart, Value)) {
	for it := v.node.Children(); it.Next(); {
		before := len(v.doc.key)
		f(v.doc.keyParts(it.Node()), Value{v.doc, it.Node().Value()})
		v.doc.key = v.doc.key[:before]
	}
}

// DescribeKind returns the kind of a value in words for people.
func (v Value) DescribeKind() string {
	switch v.node.Kind {
	case unstable.String:
		return "a string"
	case unstable.Bool:
		return "a boolean"
	case unstable.Integer, unstable.Float:
		return "a number"
	case unstable.Array:
		return "a list"
	case unstable.InlineTable:
		return "a table"
	default:
		return "a date or time"
	}
}

// SourceText returns the value as it stands in the file; "" for a list.
func (v Value) SourceText() string {
	start, end, _ := v.Span()
	return v.doc.TextRange(start, end)
}

// ParseNumber returns the number as an int64 or a float64 (TOML 1.0.0, "Integer" and "Float").
func (v Value) ParseNumber() (any, error) {
	s := strings.ReplaceAll(v.SourceText(), "_", "")
	if n, err := strconv.ParseInt(strings.TrimPrefix(s, "+"), 0, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err == nil && (math.IsInf(f, 0) || math.IsNaN(f)) {
		err = strconv.ErrRange
	}
	return f, err
}

// HasTable reports whether a table has another table as a value.
func (v Value) HasTable() (nests bool) {
	v.EachPair(func(key []KeyPart, inner Value) { nests = nests || len(key) > 1 || inner.IsTable() })
	return nests
}
