package check

import (
	"slices"

	"github.com/clawai/clawai/policy"
)

// Severity is the severity of a finding, in SARIF's words.
type Severity string

// The severities. Reports treat an unknown severity as Error.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Severities lists the severities, from the least to the most severe.
func Severities() []Severity { return []Severity{Note, Warning, Error} }

// Compare returns a negative number if s is less severe than t, and 0 if they are equal.
func (s Severity) Compare(t Severity) int {
	return slices.Index(Severities(), s) - slices.Index(Severities(), t)
}

// Finding is one problem in a file. All checks and all reports use this type.
type Finding struct {
	Code     string // kind of the finding; stable, for searching and suppressing
	Severity Severity
	Pos      policy.Position // the file is always set; a line or column of 0 is unknown
	EndLine  int             // last line of the finding; 0 when unknown
	Text     string          // the line at Pos; may be ""
	Message  string          // one sentence: what is wrong
	Why      string          // possible consequence; may be ""
	Fix      string          // what to write instead; may be ""
	// Fixture is a call that shows the finding, as a fixture that expects the policy's present
	// answer. Call is the same call on one line. Both are empty when no such call is known.
	Fixture []byte
	Call    string
	Related []Related
}

// Related is another place that belongs to a finding.
type Related struct {
	Pos     policy.Position
	Message string
}

// FindingKind describes a finding code.
type FindingKind struct {
	Code     string
	Severity Severity // the usual severity of the code
	Summary  string
	Why      string
}

// RuleRef identifies a rule in documents for programs.
type RuleRef struct {
	File        string `json:"file"`
	Line        int    `json:"line"`
	Description string `json:"description,omitempty"`
}

// RefOf returns the reference to a rule, or nil if r is nil.
func RefOf(r *policy.Rule) *RuleRef {
	if r == nil {
		return nil
	}
	return &RuleRef{r.Pos.File, r.Pos.Line, r.Description}
}
