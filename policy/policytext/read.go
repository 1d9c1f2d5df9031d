// Package policytext reads, edits and writes policies as text. It reads statements with their byte
// offsets, so that a tool can change single bytes and keep the author's layout. It writes all rules
// in the same form. It does not know the meaning of a policy. Its callers must pass texts that
// policy.Parse has read without an error. The package is pure.
package policytext

import (
	"errors"
	"fmt"

	"github.com/pelletier/go-toml/v2"
)

// Document is a text of TOML 1.0.
type Document struct {
	Src        []byte
	Statements []Statement
}

// Statement is a header or a pair.
type Statement struct {
	Header bool // [key] or [[key]]
	List   bool // [[key]]
	Key    []string
	Value  Value // only of a pair
	// Start and End are the offsets from the key or bracket to the end of the value or bracket,
	// without the blanks and comments around them.
	Start, End int
}

// ValueKind is the kind of a value.
type ValueKind uint8

// The kinds of values.
const (
	OtherValue  ValueKind = iota // a number, a boolean, a date
	StringValue                  // a string in any of the four forms of TOML
	ListValue
	TableValue // an inline table
)

// Value is the right side of a pair, or an element of a list.
type Value struct {
	Kind       ValueKind
	Text       string // of a StringValue: the decoded text; of an OtherValue: the source text
	Elements   []Value
	Pairs      []Statement // only of a TableValue
	Start, End int
}

// maxNesting is the largest depth of values. No policy that policy.Parse accepts has values so
// deep.
const maxNesting = 200

// errSyntax means that the text is not TOML. It does not occur for a text that policy.Parse has
// accepted.
var errSyntax = errors.New("no TOML")

// ReadDocument parses a text. The error means that the text is not TOML, and gives the offset of
// the mistake.
func ReadDocument(src []byte) (Document, error) {
	s := scanner{src: src}
	doc := Document{Src: src}
	for s.skipGap(); s.at < len(src); s.skipGap() {
		statement, err := s.readStatement()
		if err != nil {
			return Document{}, fmt.Errorf("byte %d: %w", s.at, err)
		}
		doc.Statements = append(doc.Statements, statement)
	}
	return doc, nil
}

// decodeString decodes a string in any of the four forms of TOML.
func decodeString(raw []byte) (string, error) {
	var v struct{ V string }
	if err := toml.Unmarshal(append([]byte("V="), raw...), &v); err != nil {
		return "", errSyntax
	}
	return v.V, nil
}
