package schema

import (
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Verdict says whether a value fits. It is three-valued: of what is not known the opposite
// is not known either.
type Verdict uint8

// The verdicts.
const (
	Unchecked Verdict = iota
	Fits
	Unfit
)

func (v Verdict) String() string { return [...]string{"unchecked", "fits", "unfit"}[v] }

// Bounds of a schema and of a value: what is larger is not checked.
const (
	maxSchema = 256 << 10 // bytes
	maxValue  = 4 << 20
	maxSteps  = 100_000 // of reading a schema; a look at a value has more by its length
	maxLevels = 256     // of schemas within schemas, and of values within values
)

// Schema is one that was read. It is safe for concurrent use.
type Schema struct {
	root  *node
	names map[string]bool
	why   string // it cannot be read at all; "" when it can
}

// Outcome is what is said of a value.
type Outcome struct {
	Verdict Verdict
	// Why is the keyword that the value does not fit, or why it was not checked, in words
	// that hold nothing of schema or value.
	Why string
	// At leads to what does not fit, from the value: names of members and places of
	// elements.
	At []string
}

// ReadSchema reads a schema: JSON that internal/wire/frame has admitted. Nobody may write to text while
// the Schema is in use.
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

// HasProperty reports whether a property of that name stands somewhere in it.
func (s *Schema) HasProperty(property string) bool { return s.names[property] }

// dialects are those that are known, and whether one is of draft 7.
var dialects = map[string]bool{
	"https://json-schema.org/draft/2020-12/schema": false, "http://json-schema.org/draft-07/schema": true, "https://json-schema.org/draft-07/schema": true,
}

// CheckValue reports whether a value fits: JSON that internal/wire/frame has admitted.
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
