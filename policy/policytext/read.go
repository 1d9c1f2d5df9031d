// Package policytext is a policy as text, for all who write or edit one: it is read
// as statements with the bytes that they stand in, so that a tool changes what it
// must and leaves the rest as its author set it, and rules are written in one way.
// It says nothing of meaning, and takes texts that policy.Parse has read. Pure.
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
	// Start and End are the bytes from the key or bracket to the end of the
	// value or bracket; blanks and comments around them are not in it.
	Start, End int
}

// ValueKind is what a value is.
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

// maxNesting is deeper than a policy that loads can nest.
const maxNesting = 200

// errSyntax is met by no text that policy.Parse reads.
var errSyntax = errors.New("no TOML")

// ReadDocument reads a text. The error says that it is no TOML, at which byte.
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

// decodeString reads one string of any form.
func decodeString(raw []byte) (string, error) {
	var v struct{ V string }
	if err := toml.Unmarshal(append([]byte("V="), raw...), &v); err != nil {
		return "", errSyntax
	}
	return v.V, nil
}
