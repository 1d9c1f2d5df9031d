// Package toml reads TOML with the position of every part. No other package uses go-toml's unstable
// parser. The parser returns only the syntax; the caller knows the meaning of a key.
//
// The package is pure.
package toml

import (
	"bytes"
	"errors"
	"sync"
	"unicode/utf8"
	"unsafe"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Document reads the expressions of a TOML text.
type Document struct {
	Src []byte // the text

	text string // Src as a string; texts are slices of this string
	base int    // offset in Src at which the parser started

	line, column, offset int // the last result of PositionAt

	parser *unstable.Parser
	key    []KeyPart // a reused buffer for the names in the current expression's keys

	defined defined
}

// parsers keeps parsers for later documents, because a new parser would allocate its nodes again. A
// policy with extends consists of many documents.
var parsers = sync.Pool{New: func() any { return new(unstable.Parser) }}

// New returns a Document that begins to read at the start of src. The caller must not change
// src afterwards.
func New(src []byte) *Document {
	d := &Document{Src: src, text: unsafe.String(unsafe.SliceData(src), len(src)), line: 1, column: 1, parser: parsers.Get().(*unstable.Parser)}
	d.parser.Reset(src)
	d.defined.current = root
	return d
}

// Close ends the reading. Texts and positions that were read stay valid; expressions and values do
// not.
func (d *Document) Close() {
	d.parser.Reset(nil)
	parsers.Put(d.parser)
	d.parser = nil
}

// RestartAt continues reading at an offset.
func (d *Document) RestartAt(offset int) {
	d.base = offset
	d.parser.Reset(d.Src[offset:])
}

// PositionAt returns the line and the column of an offset, counted from 1; columns count
// characters, as in editors. PositionAt counts from its last result, because most offsets are near
// the offset of the last result.
func (d *Document) PositionAt(offset int) (line, column int) {
	line, column, from := d.line, d.column, d.offset
	switch {
	case offset < from:
		line -= bytes.Count(d.Src[offset:from], newline)
		column, from = 1, bytes.LastIndexByte(d.Src[:offset], '\n')+1
	case bytes.IndexByte(d.Src[from:offset], '\n') >= 0:
		line += bytes.Count(d.Src[from:offset], newline)
		column, from = 1, bytes.LastIndexByte(d.Src[:offset], '\n')+1
	}
	column += utf8.RuneCount(d.Src[from:offset])
	d.line, d.column, d.offset = line, column, offset
	return line, column
}

var newline = []byte{'\n'}

// Form is the form of an expression of a document.
type Form uint8

// The forms of expressions.
const (
	Pair       Form = iota // key = value
	Table                  // [key]
	TableArray             // [[key]]
)

// Expression is one statement of a document; Start and End are byte offsets. Its parts are
// valid until the next expression is read.
type Expression struct {
	Form       Form
	Key        []KeyPart
	Value      Value // only of a pair
	Start, End int
}

// KeyPart is one name of a dotted key.
type KeyPart struct {
	Name       string // without quotes and escapes
	Start, End int
}

// NextExpression reads one expression. It returns false at the end of the text and after a syntax
// error.
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

// readHeader finds the brackets around the key, because the parser does not report their
// position.
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

// keyParts appends the names of a node's key to the document's key buffer and returns these
// names.
func (d *Document) keyParts(n *unstable.Node) []KeyPart {
	before := len(d.key)
	for it := n.Key(); it.Next(); {
		start, end := d.spanOf(it.Node())
		d.key = append(d.key, KeyPart{Name: d.textAt(it.Node().Data, start), Start: start, End: end})
	}
	return d.key[before:len(d.key):len(d.key)]
}

// textAt returns the decoded text at an offset of the source. If the decoder only removed quotes,
// the result is a slice of the source.
func (d *Document) textAt(decoded []byte, at int) string {
	if at < len(d.text) && (d.text[at] == '"' || d.text[at] == '\'') {
		at++
	}
	if rest := d.text[at:]; len(decoded) <= len(rest) && rest[:len(decoded)] == string(decoded) {
		return rest[:len(decoded)]
	}
	return string(decoded)
}

// TextRange returns a part of the source.
func (d *Document) TextRange(start, end int) string { return d.text[start:end] }

func (d *Document) spanOf(n *unstable.Node) (start, end int) {
	start = d.base + int(n.Raw.Offset)
	return start, start + int(n.Raw.Length)
}

// SyntaxError returns the place and the reason of a syntax error. It returns false if there was no
// error.
func (d *Document) SyntaxError() (offset int, msg string, found bool) {
	var failure *unstable.ParserError
	if !errors.As(d.parser.Error(), &failure) {
		return 0, "", false
	}
	offset = d.base + int(d.parser.Range(failure.Highlight).Offset)
	if offset == len(d.Src)-1 { // the parser reports the offset of the last byte
		_, size := utf8.DecodeLastRune(d.Src)
		offset = len(d.Src) - size
	}
	return offset, failure.Message, true
}

// FirstConflict returns the first name that the expressions so far define in two conflicting ways.
func (d *Document) FirstConflict() (offset int, msg string, found bool) {
	return d.defined.at, d.defined.conflict, d.defined.conflict != ""
}
