package schema

import (
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Verdict tells whether a value fits a schema. It has three values, because the negation of unknown
// is also unknown.
type Verdict uint8

// The verdicts.
const (
	Unchecked Verdict = iota
	Fits
	Unfit
)

func (v Verdict) String() string { return [...]string{"unchecked", "fits", "unfit"}[v] }

// Limits of a schema and of a value. Anything larger is not checked.
const (
	maxSchema = 256 << 10 // size of a schema in bytes
	maxValue  = 4 << 20
	maxSteps  = 100_000 // steps for reading a schema; a check of a value has more steps, depending on the length of the value
	maxLevels = 256     // nesting depth of a schema, and of a value
)

// Schema is a parsed schema. It is safe for concurrent use.
type Schema struct {
	root  *node
	names map[string]bool
	why   string // why the schema cannot be used; "" if it can
}

// Outcome is the result of a check.
type Outcome struct {
	Verdict Verdict
	// Why is the keyword that the value does not fit, or the reason why the value was not checked.
	// It has no text of the schema or the value.
	Why string
	// At is the path to the part of the value that does not fit: member names and element indexes, the
	// innermost first.
	At []string
}

// ReadSchema parses a schema. text is JSON that internal/wire/frame has admitted. The caller must
// not change text while the Schema is in use.
func ReadSchema(text []byte) *Schema {
	if len(text) > maxSchema {
		return &Schema{why: "the schema is too large"}
	}
	r := reader{src: jsonscan.ValueOf(text), left: maxSteps, refs: map[string]*node{}, names: map[string]bool{}}
	if dialect := r.src.Member("$schema"); dialect != "" {
		known := false
		if r.old, known = dialects[strings.TrimSuffix(dialect.Text(), "#")]; !known {
			return &Schema{why: "the schema is of a dialect that is not known"}
		}
	}
	s := &Schema{root: &node{}, names: r.names}
	r.refs["#"] = s.root
	if r.readNode(s.root, r.src); r.left < 0 {
		r.why = "reading the schema takes too many steps"
	}
	s.why = r.why
	return s
}

// HasProperty reports whether the schema has a property of this name anywhere.
func (s *Schema) HasProperty(property string) bool { return s.names[property] }

// dialects are the known values of $schema; true means draft 7.
var dialects = map[string]bool{
	"https://json-schema.org/draft/2020-12/schema": false, "http://json-schema.org/draft-07/schema": true, "https://json-schema.org/draft-07/schema": true,
}

// CheckValue checks a value. value is JSON that internal/wire/frame has admitted.
func (s *Schema) CheckValue(value []byte) Outcome {
	switch {
	case s.why != "":
		return Outcome{Why: s.why}
	case len(value) > maxValue:
		return Outcome{Why: "the value is too large"}
	}
	c := check{left: maxSteps + len(value)/2}
	a := Outcome{Verdict: c.checkNode(s.root, jsonscan.ValueOf(value))}
	switch {
	case a.Verdict == Unfit:
		a.Why, a.At = c.unfit, c.at
	case a.Verdict == Unchecked && c.left < 0:
		a.Why = "checking takes too many steps"
	case a.Verdict == Unchecked:
		a.Why = c.unchecked
	}
	return a
}
