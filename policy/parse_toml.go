package policy

import (
	"bytes"
	"errors"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// document reads the expressions of a TOML text with the places they stand at.
// It is the only door to go-toml's unstable parser, which gives syntax alone:
// what a key means, and whether it may stand there twice, is the caller's.
type document struct {
	file  string
	src   []byte
	base  int   // where the parser was started
	lines []int // offset of the first byte of each line

	at       Position // the last one asked for
	atOffset int

	parser unstable.Parser
	key    []keyPart // of the current expression, reused
}

func newDocument(file string, src []byte) *document {
	d := &document{file: file, src: src, lines: make([]int, 1, bytes.Count(src, []byte{'\n'})+1)}
	for i := 0; ; {
		n := bytes.IndexByte(src[i:], '\n')
		if n < 0 {
			break
		}
		i += n + 1
		d.lines = append(d.lines, i)
	}
	d.parser.Reset(src)
	return d
}

// restart goes on reading at an offset.
func (d *document) restart(offset int) {
	d.base = offset
	d.parser.Reset(d.src[offset:])
}

// position counts columns in characters, as editors do. It counts on from the
// place it was last asked for when that is on the same line: lines can be long.
func (d *document) position(offset int) Position {
	line := sort.SearchInts(d.lines, offset+1)
	from, column := d.lines[line-1], 1
	if d.at.Line == line && d.atOffset <= offset {
		from, column = d.atOffset, d.at.Column
	}
	d.at = Position{File: d.file, Line: line, Column: column + utf8.RuneCount(d.src[from:offset])}
	d.atOffset = offset
	return d.at
}

// form is what an expression of a document is.
type form uint8

const (
	pairForm       form = iota // key = value
	tableForm                  // [key]
	tableArrayForm             // [[key]]
)

// expression is one statement of a document; start and end are byte offsets.
// Its parts are valid until the next one is read.
type expression struct {
	form       form
	key        []keyPart
	value      tomlValue // of a pair
	start, end int
}

// keyPart is one name of a dotted key.
type keyPart struct {
	name       []byte // decoded
	start, end int
}

// next reads one expression; false at the end and at a syntax error.
func (d *document) next() (expression, bool) {
	if !d.parser.NextExpression() {
		return expression{}, false
	}
	n := d.parser.Expression()
	switch n.Kind {
	case unstable.KeyValue:
		start, end := d.span(n)
		return expression{form: pairForm, key: d.parts(n), value: tomlValue{d, n.Value()}, start: start, end: end}, true
	default:
		return d.header(n), true
	}
}

// header finds the brackets around the key: the parser does not say where they
// stand.
func (d *document) header(n *unstable.Node) expression {
	e := expression{form: tableForm, key: d.parts(n)}
	brackets := 1
	if n.Kind == unstable.ArrayTable {
		e.form, brackets = tableArrayForm, 2
	}
	first, last := e.key[0].start, e.key[len(e.key)-1].end
	e.start = bytes.LastIndexByte(d.src[:first], '[') + 1 - brackets
	e.end = last + bytes.IndexByte(d.src[last:], ']') + brackets
	return e
}

// parts lists the names of a node's key in the document's own buffer.
func (d *document) parts(n *unstable.Node) []keyPart {
	d.key = appendParts(d.key[:0], d, n)
	return d.key
}

func appendParts(parts []keyPart, d *document, n *unstable.Node) []keyPart {
	for it := n.Key(); it.Next(); {
		start, end := d.span(it.Node())
		parts = append(parts, keyPart{name: it.Node().Data, start: start, end: end})
	}
	return parts
}

func (d *document) span(n *unstable.Node) (start, end int) {
	start = d.base + int(n.Raw.Offset)
	return start, start + int(n.Raw.Length)
}

// syntaxError is where and why reading stopped; false when the text is whole.
func (d *document) syntaxError() (offset int, msg string, found bool) {
	var failure *unstable.ParserError
	if !errors.As(d.parser.Error(), &failure) {
		return 0, "", false
	}
	offset = d.base + int(d.parser.Range(failure.Highlight).Offset)
	if offset == len(d.src)-1 { // the parser points at the last byte
		_, size := utf8.DecodeLastRune(d.src)
		offset = len(d.src) - size
	}
	return offset, failure.Message, true
}

// tableConflict decodes the whole text to find what a parser of expressions
// cannot see: a table that is defined in two ways.
func (d *document) tableConflict() (pos Position, msg string, found bool) {
	var sink map[string]any
	var failure *toml.DecodeError
	if !errors.As(toml.Unmarshal(d.src, &sink), &failure) {
		return Position{}, "", false
	}
	line, column := failure.Position()
	return d.position(d.lines[line-1] + column - 1), strings.TrimPrefix(failure.Error(), "toml: "), true
}

// tomlValue is the right side of a pair.
type tomlValue struct {
	doc  *document
	node *unstable.Node
}

func (v tomlValue) isString() bool { return v.node.Kind == unstable.String }
func (v tomlValue) isList() bool   { return v.node.Kind == unstable.Array }
func (v tomlValue) isTable() bool  { return v.node.Kind == unstable.InlineTable }
func (v tomlValue) isBool() bool   { return v.node.Kind == unstable.Bool }
func (v tomlValue) isNumber() bool {
	return v.node.Kind == unstable.Integer || v.node.Kind == unstable.Float
}

// text is a string's content; of a number or a boolean what the file has.
func (v tomlValue) text() string { return string(v.node.Data) }

// span is where the value stands; false for a list, which the parser does not
// place.
func (v tomlValue) span() (start, end int, known bool) {
	start, end = v.doc.span(v.node)
	return start, end, end > start
}

// elements calls f with each element of a list.
func (v tomlValue) elements(f func(tomlValue)) {
	for it := v.node.Children(); it.Next(); {
		f(tomlValue{v.doc, it.Node()})
	}
}

// pairs calls f with each pair of an inline table.
func (v tomlValue) pairs(f func([]keyPart, tomlValue)) {
	for it := v.node.Children(); it.Next(); {
		f(appendParts(nil, v.doc, it.Node()), tomlValue{v.doc, it.Node().Value()})
	}
}

// describe names the kind of a value as a person would.
func (v tomlValue) describe() string {
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

// source is the value as the file has it; "" for a list.
func (v tomlValue) source() string {
	start, end, _ := v.span()
	return string(v.doc.src[start:end])
}
