package check

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/clawai/clawai/policy"
)

// Summary counts the results of a run.
type Summary struct {
	Fixtures   int `json:"fixtures"`
	AsExpected int `json:"as_expected"`
	Mismatched int `json:"mismatched"`
	Unchecked  int `json:"unchecked"` // number of fixtures that expect no answer
	Unreadable int `json:"unreadable"`
}

// Summarize counts the results.
func Summarize(results []Result) Summary {
	s := Summary{Fixtures: len(results)}
	for _, r := range results {
		switch {
		case r.Err != nil:
			s.Unreadable++
		case r.Expected == nil:
			s.Unchecked++
		case r.IsMismatch():
			s.Mismatched++
		default:
			s.AsExpected++
		}
	}
	return s
}

// WriteText writes one line for each fixture and a summary line. Fixtures that need attention come
// last, so that they are near the summary on a terminal.
func WriteText(w io.Writer, results []Result) error {
	results = slices.Clone(results)
	slices.SortStableFunc(results, func(a, b Result) int { return a.rankForText() - b.rankForText() })
	width := 0
	for _, r := range results {
		width = max(width, len(policy.FileName(r.Path)))
	}
	for _, r := range results {
		mark, note := "ok", ""
		switch {
		case r.Err != nil:
			if _, err := fmt.Fprintf(w, "ERROR %-6s  %v\n", "", r.Err); err != nil {
				return err
			}
			continue
		case r.Expected == nil:
			mark = "-"
		case r.IsMismatch():
			mark, note = "FAIL", "  ("+r.DescribeMismatch()+")"
		}
		if _, err := fmt.Fprintf(w, "%-5s %-6s  %-*s  %s%s\n", mark, r.Action, width, policy.FileName(r.Path), ExplainResult(r), note); err != nil {
			return err
		}
		if r.Expected == nil && len(r.Alters) > 0 && r.Received != nil {
			if _, err := fmt.Fprintf(w, "      the client gets %s\n", shortenJSON(r.Received)); err != nil {
				return err
			}
		}
	}
	s := Summarize(results)
	noun := "fixtures"
	if s.Fixtures == 1 {
		noun = "fixture"
	}
	_, err := fmt.Fprintf(w, "\n%d %s: %d as expected, %d mismatched, %d without expectation, %d unreadable\n",
		s.Fixtures, noun, s.AsExpected, s.Mismatched, s.Unchecked, s.Unreadable)
	return err
}

// rankForText returns a number by which WriteText sorts the results.
func (r Result) rankForText() int {
	switch {
	case r.Err != nil:
		return 3
	case r.Expected == nil:
		return 1
	case r.IsMismatch():
		return 2
	}
	return 0
}

// ExplainResult returns the position and description of the rule that decided, or the reason if no
// rule did. Then it lists the alterations and the undecided conditions.
func ExplainResult(r Result) string {
	because := describeDecision(r)
	for _, a := range r.Alters {
		because += fmt.Sprintf("  (%s%s by %s)", a.Rule.Action, ofKind(a.Kind), formatRule(a.Rule))
	}
	for _, what := range r.Undecided {
		hint := "with --root DIR clawai looks at that disk" // for the constraint "under", which is no call key
		if k, found := policy.CallKeyOf(what); found {
			hint = k.Hint
		}
		because += fmt.Sprintf("  (%s is undecided; %s)", what, hint)
	}
	return because
}

func describeDecision(r Result) string {
	if r.Rule == nil {
		return r.Reason
	}
	at := formatRule(r.Rule)
	if r.Reading != "" {
		at += fmt.Sprintf(" read as %q", r.Reading)
	}
	if r.Reason != "" {
		at += ": " + r.Reason
	}
	return at
}

func formatRule(r *policy.Rule) string {
	at := fmt.Sprintf("%s:%d", policy.FileName(r.Pos.File), r.Pos.Line)
	if r.Description != "" {
		at += fmt.Sprintf(" %q", r.Description)
	}
	return at
}

// ofKind returns " of KIND" for a kind of findings; "" if kind is "".
func ofKind(kind string) string {
	if kind == "" {
		return ""
	}
	return " of " + kind
}

type jsonResult struct {
	Fixture  string   `json:"fixture"`
	Decision string   `json:"decision,omitempty"`
	Expected string   `json:"expected,omitempty"`
	OK       bool     `json:"ok"`
	Rule     *RuleRef `json:"rule,omitempty"`
	Reading  string   `json:"reading,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Error    string   `json:"error,omitempty"`

	Finds     []string        `json:"finds,omitempty"`
	Alters    []jsonAlter     `json:"alters,omitempty"`
	Received  json.RawMessage `json:"received,omitempty"`
	Undecided []string        `json:"undecided,omitempty"`
}

type jsonAlter struct {
	Action string   `json:"action"`
	Kind   string   `json:"kind,omitempty"`
	Rule   *RuleRef `json:"rule"`
}

// WriteJSON writes one JSON document: {"policy_revision", "results": [...], "summary"}.
func WriteJSON(w io.Writer, p *policy.Policy, results []Result) error {
	out := struct {
		Policy  string       `json:"policy_revision"`
		Results []jsonResult `json:"results"`
		Summary Summary      `json:"summary"`
	}{Policy: p.Revision(), Results: []jsonResult{}, Summary: Summarize(results)}
	for _, r := range results {
		out.Results = append(out.Results, r.toJSON())
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

func (r Result) toJSON() jsonResult {
	j := jsonResult{Fixture: r.Path, OK: r.Err == nil && !r.IsMismatch(), Reading: r.Reading, Reason: r.Reason, Undecided: r.Undecided}
	if r.Err != nil {
		j.Error = r.Err.Error()
		return j
	}
	j.Decision = r.Action.String()
	if r.Expected != nil {
		j.Expected = r.Expected.String()
	}
	j.Rule, j.Finds, j.Received = RefOf(r.Rule), r.Finds, r.Received
	for _, a := range r.Alters {
		j.Alters = append(j.Alters, jsonAlter{a.Rule.Action.String(), a.Kind, RefOf(a.Rule)})
	}
	return j
}
