// Package toml reads TOML with the places at which everything stands. It is the only
// door to go-toml's unstable parser, which gives syntax alone: what a key means is
// the caller's.
//
// The room is pure.
package toml

import (
	"bytes"
	"errors"
	"sort"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Document reads the expressions of a TOML text.
type Document struct {
	Src []byte // the text

	text  string // the same, when it was asked for: texts are parts of it
	base  int    // where the parser was started
	lines []int  // offset of the first byte of each line

	line, column, offset int // the last position asked for

	parser unstable.Parser
	key    []KeyPart // of the current expression, and of the pairs within it; reused

	defined defined
}

// New begins to read at the start of src, which nobody may change from then on.
func New(src []byte) *Document {
	d := &Document{Src: src}
	d.parser.Reset(src)
	d.defined.current = root
	return d
}

// RestartAt goes on reading at an offset.
func (d *Document) RestartAt(offset int) {
	d.base = offset
	d.parser.Reset(d.Src[offset:])
}

// indexLines finds the lines.
func (d *Document) indexLines() {
	d.lines = make([]int, 1, bytes.Count(d.Src, []byte{'\n'})+1)
	for i := 0; ; {
		n := bytes.IndexByte(d.Src[i:], '\n')
		if n < 0 {
			return
		}
		i += n + 1
		d.lines = append(d.lines, i)
	}
}

// PositionAt counts from 1, and columns in characters, as editors do. It counts on from the
// place it was last asked for when that is on the same line: lines can be long.
func (d *Document) PositionAt(offset int) (line, column int) {
	if d.lines == nil {
		d.indexLines()
	}
	line = sort.SearchInts(d.lines, offset+1)
	from := d.lines[line-1]
	column = 1
	if d.line == line && d.offset <= offset {
		from, column = d.offset, d.column
	}
	column += utf8.RuneCount(d.Src[from:offset])
	d.line, d.column, d.offset = line, column, offset
	return line, column
}

// Form is what an expression of a document is.
type Form uint8

// The forms of expressions.
const (
	Pair       Form = iota // key = value
	Table                  // [key]
	TableArray             // [[key]]
)

// Expression is one statement of a document; Start and End are byte offsets.
// Its parts are valid until the next one is read.
type Expression struct {
	Form       Form
	Key        []KeyPart
	Value      Value // of a pair
	Start, End int
}

// KeyPart is one name of a dotted key.
type KeyPart struct {
	Name       string // decoded
	Start, End int
}

// NextExpression reads one expression; false at the end and at a syntax error.
func (d *Document) NextExpression() (Expression, bool) {
	if !d.parser.NextExpression() {
		return Expression{}, false
	}
	n := d.parser.Expression()
	d.key = d.key[:0]
	var e Expression
	if n.Kind == unstable.KeyValue {
		start, end := d.spanOf(n)
		e = Expression{Form: Pair, Key: d.keyParts(n), Value: Value{d, n.Value()}, Start: start, End: end}
	} else {
		e = d.readHeader(n)
	}
	d.defined.addExpression(e)
	return e, true
}

// readHeader finds the brackets around the key: the parser does not say where they
// stand.
func (d *Document) readHeader(n *unstable.Node) Expression {
	e := Expression{Form: Table, Key: d.keyParts(n)}
	brackets := 1
	if n.Kind == unstable.ArrayTable {
		e.Form, brackets = TableArray, 2
	}
	first, last := e.Key[0].Start, e.Key[len(e.Key)-1].End
	e.Start = bytes.LastIndexByte(d.Src[:first], '[') + 1 - brackets
	e.End = last + bytes.IndexByte(d.Src[last:], ']') + brackets
	return e
}

// keyParts lists the names of a node's key in the document's own buffer, behind those that
// stand there.
func (d *Document) keyParts(n *unstable.Node) []KeyPart {
	before := len(d.key)
	for it := n.Key(); it.Next(); {
		start, end := d.spanOf(it.Node())
		d.key = append(d.key, KeyPart{Name: d.textAt(it.Node().Data, start), Start: start, End: end})
	}
	return d.key[before:len(d.key):len(d.key)]
}

// textAt gives what was decoded of the text from at on: a part of it, where nothing but a
// quote is left out.
func (d *Document) textAt(decoded []byte, at int) string {
	d.text = d.TextRange(0, len(d.Src))
	if at < len(d.text) && (d.text[at] == '"' || d.text[at] == '\'') {
		at++
	}
	if rest := d.text[at:]; len(decoded) <= len(rest) && rest[:len(decoded)] == string(decoded) {
		return rest[:len(decoded)]
	}
	return string(decoded)
}

// TextRange gives a part of the source.
func (d *Document) TextRange(start, end int) string {
	if d.text == "" {
		d.text = string(d.Src)
	}
	return d.text[start:end]
}

func (d *Document) spanOf(n *unstable.Node) (start, end int) {
	start = d.base + int(n.Raw.Offset)
	return start, start + int(n.Raw.Length)
}

// SyntaxError gives where and why reading stopped; false when the text is whole.
func (d *Document) SyntaxError() (offset int, msg string, found bool) {
	var failure *unstable.ParserError
	if !errors.As(d.parser.Error(), &failure) {
		return 0, "", false
	}
	offset = d.base + int(d.parser.Range(failure.Highlight).Offset)
	if offset == len(d.Src)-1 { // the parser points at the last byte
		_, size := utf8.DecodeLastRune(d.Src)
		offset = len(d.Src) - size
	}
	return offset, failure.Message, true
}

// FirstConflict gives the first name that was defined in two ways, among the expressions that
// were read.
func (d *Document) FirstConflict() (offset int, msg string, found bool) {
	return d.defined.at, d.defined.conflict, d.defined.conflict != ""
}
