package lint

import (
	"encoding/json"
	"io"

	"github.com/clawai/clawai/internal/check"
)

type findingJSON struct {
	Code     string          `json:"code"`
	Severity check.Severity  `json:"severity"`
	File     string          `json:"file"`
	Line     int             `json:"line"`
	Column   int             `json:"column"`
	EndLine  int             `json:"end_line,omitempty"`
	Text     string          `json:"text,omitempty"`
	Message  string          `json:"message"`
	Why      string          `json:"why,omitempty"`
	Fix      string          `json:"fix,omitempty"`
	Call     string          `json:"call,omitempty"`
	Fixture  json.RawMessage `json:"fixture,omitempty"`
	Related  []relatedJSON   `json:"related,omitempty"`
}

type relatedJSON struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
}

type undecidedJSON struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

type fileJSON struct {
	File      string          `json:"file"`
	Revision  string          `json:"policy_revision"`
	Rules     int             `json:"rules"`
	Findings  []findingJSON   `json:"findings"`
	Below     int             `json:"below_severity"`
	Undecided []undecidedJSON `json:"undecided"`
}

// Linted is the report on one file.
type Linted struct {
	File, Revision string
	*Report
}

// WriteJSON writes reports as one JSON document. It omits findings with a severity below the
// parameter least.
func WriteJSON(w io.Writer, all []Linted, least check.Severity) error {
	files := make([]fileJSON, 0, len(all))
	for _, l := range all {
		told := l.AtLeast(least)
		f := fileJSON{File: l.File, Revision: l.Revision, Rules: l.Rules, Below: len(l.Findings) - len(told), Findings: []findingJSON{}, Undecided: []undecidedJSON{}}
		for _, t := range told {
			j := findingJSON{Code: t.Code, Severity: t.Severity, File: t.Pos.File, Line: t.Pos.Line, Column: t.Pos.Column,
				EndLine: t.EndLine, Text: t.Text, Message: t.Message, Why: t.Why, Fix: t.Fix, Call: t.Call, Fixture: t.Fixture}
			for _, r := range t.Related {
				j.Related = append(j.Related, relatedJSON{r.Pos.File, r.Pos.Line, r.Message})
			}
			f.Findings = append(f.Findings, j)
		}
		for _, u := range l.Undecided {
			f.Undecided = append(f.Undecided, undecidedJSON{u.Pos.File, u.Pos.Line, u.Reason})
		}
		files = append(files, f)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Files []fileJSON `json:"files"`
	}{files})
}
