// Package policytext reads, edits and writes policies as text. It reads statements with their
// byte offsets, so that a tool changes only what it must and keeps the author's layout. It
// writes all rules in one way. It does not know the meaning of a policy, and it takes texts
// that policy.Parse has read. The package is pure.
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
	Value  Value // of a pair
	// Start and End are the offsets from the key or bracket to the end of the value or bracket,
	// without the blanks and comments around them.
	Start, End int
}

// ValueKind is the kind of a value.
type ValueKind uint8

// The kinds of values.
const (
	OtherValue  ValueKind = iota // a number, a boolean, a date
	StringValue                  // of any of the four forms
	ListValue
	TableValue // an inline table
)

// Value is the right side of a pair, or an element of a list.
type Value struct {
	Kind       ValueKind
	Text       string // of a StringValue: decoded; of OtherValue: as written
	Elements   []Value
	Pairs      []Statement // of a TableValue
	Start, End int
}

// maxNesting is deeper than any policy that loads.
const maxNesting = 200

// errSyntax does not occur with a text that policy.Parse reads.
var errSyntax = errors.New("no TOML")

// ReadDocument parses a text. The error means that the text is no TOML, and names the byte.
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

// decodeString decodes one string of any form.
func decodeString(raw []byte) (string, error) {
	var v struct{ V string }
	if err := toml.Unmarshal(append([]byte("V="), raw...), &v); err != nil {
		return "", errSyntax
	}
	return v.V, nil
}
