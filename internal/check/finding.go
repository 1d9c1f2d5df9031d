package check

import (
	"slices"

	"github.com/clawai/clawai/policy"
)

// Severity tells how serious a finding is. The words are those of SARIF.
type Severity string

// Values of Severity. Reports treat an unknown value as Error.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Severities lists the severities, from the least to the most severe.
func Severities() []Severity { return []Severity{Note, Warning, Error} }

// Compare returns a negative number if s is less severe than t, 0 if they are equal, and otherwise
// a positive number.
func (s Severity) Compare(t Severity) int {
	return slices.Index(Severities(), s) - slices.Index(Severities(), t)
}

// Finding is one problem in a file. All checks and all reports use this type.
type Finding struct {
	Code     string // kind of finding, a stable word for searching and suppressing
	Severity Severity
	Pos      policy.Position // the file is always set; 0 as line or column means unknown
	EndLine  int             // last line of the finding; 0 if unknown
	Text     string          // the line at Pos; "" if unknown
	Message  string          // one sentence that tells what is wrong
	Why      string          // what can happen because of it; may be ""
	Fix      string          // what to write instead; may be ""
	// Fixture is a call that shows the finding, as a fixture that expects the present answer of the
	// policy. Call is the same call on one line. Both are empty if no such call is known.
	Fixture []byte
	Call    string
	Related []Related
}

// Related is another place in a file that has to do with a finding.
type Related struct {
	Pos     policy.Position
	Message string
}

// FindingKind describes the findings with one code.
type FindingKind struct {
	Code     string
	Severity Severity // the severity that the code usually has
	Summary  string
	Why      string
}

// RuleRef identifies a rule in documents for programs.
type RuleRef struct {
	File        string `json:"file"`
	Line        int    `json:"line"`
	Description string `json:"description,omitempty"`
}

// RefOf returns the reference to a rule; nil if r is nil.
func RefOf(r *policy.Rule) *RuleRef {
	if r == nil {
		return nil
	}
	return &RuleRef{r.Pos.File, r.Pos.Line, r.Description}
}
