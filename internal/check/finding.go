package check

import (
	"slices"

	"github.com/clawai/clawai/policy"
)

// Severity is how much a finding weighs, in SARIF's words.
type Severity string

// The severities. An unknown one is reported as an error.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Severities lists them, the least first.
func Severities() []Severity { return []Severity{Note, Warning, Error} }

// Compare orders severities.
func (s Severity) Compare(t Severity) int {
	return slices.Index(Severities(), s) - slices.Index(Severities(), t)
}

// Finding is one thing to look at in a file: one shape for all that find, and for
// all that report it.
type Finding struct {
	Code     string // names the kind of finding; stable, for people to search and suppress
	Severity Severity
	Pos      policy.Position // its file at least; a line or column of 0 is not known
	EndLine  int             // where what it is about ends; 0 when that is not known
	Text     string          // the line at Pos, as it stands in the file; may be ""
	Message  string          // one sentence: what is wrong
	Why      string          // what may come of it; may be ""
	Fix      string          // what to write instead; may be ""
	// Fixture is a call that shows it, as a fixture that expects the policy's
	// present answer, and Call the same in one line; empty when there is none.
	Fixture []byte
	Call    string
	Related []Related
}

// Related is another place that has to do with a finding.
type Related struct {
	Pos     policy.Position
	Message string
}

// FindingKind is what a code stands for.
type FindingKind struct {
	Code     string
	Severity Severity // most findings of the code have this
	Summary  string
	Why      string
}

// RuleRef is a rule as documents for programs name it.
type RuleRef struct {
	File        string `json:"file"`
	Line        int    `json:"line"`
	Description string `json:"description,omitempty"`
}

// RefOf gives where a rule stands; nil, which is no rule, stays nil.
func RefOf(r *policy.Rule) *RuleRef {
	if r == nil {
		return nil
	}
	return &RuleRef{r.Pos.File, r.Pos.Line, r.Description}
}
