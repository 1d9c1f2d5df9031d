package check

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/clawai/clawai/policy"
)

// Tool is the program that makes findings. If Kinds is empty, the report has only the codes of
// findings.
type Tool struct {
	Name, Version string
	Kinds         []FindingKind
}

// Run is one run of fixtures against a policy.
type Run struct {
	Policy   string // name of the policy file
	Revision string
	Results  []Result
	Start    time.Time // start of the run, for JUnit XML
	Duration time.Duration
	Version  string // version of clawai
}

// mismatch and unreadable are the codes of findings about fixtures.
const (
	mismatch   = "fixture-mismatch"
	unreadable = "fixture-unreadable"
)

// describeTool returns the Tool for the findings of a run.
func (r Run) describeTool() Tool {
	return Tool{Name: "clawai policy test", Version: r.Version, Kinds: []FindingKind{
		{Code: mismatch, Summary: "The policy's answer to a recorded request is not the expected one.",
			Why: "Either the policy changed its meaning or the expectation is out of date."},
		{Code: unreadable, Summary: "A fixture cannot be read.", Why: "A test that is not read proves nothing."},
	}}
}

// Findings returns a finding for each failed test of a run. Its place is the first line of the
// fixture.
func (r Run) Findings() []Finding {
	var out []Finding
	for _, result := range r.Results {
		f := Finding{Code: mismatch, Severity: Error, Pos: policy.Position{File: result.Path, Line: 1}}
		switch {
		case result.Err != nil:
			f.Code, f.Message = unreadable, result.Err.Error()
		case result.IsMismatch():
			f.Message = formatMismatch(result)
			if rule := result.Rule; rule != nil {
				f.Related = []Related{{Pos: rule.Pos, Message: "the rule that decided"}}
			}
		default:
			continue
		}
		out = append(out, f)
	}
	return out
}

// formatMismatch returns one line about a mismatch.
func formatMismatch(r Result) string {
	if *r.Expected == r.Action {
		return fmt.Sprintf("%s (%s by %s)", r.DescribeMismatch(), r.Action, ExplainResult(r))
	}
	return fmt.Sprintf("expected %s, got %s by %s", r.Expected, r.Action, ExplainResult(r))
}

// slashPath returns a path with slashes as separators.
func slashPath(path string) string { return filepath.ToSlash(path) }

// escapeInvisible returns a text with Go escapes for invisible characters and invalid bytes. Line
// breaks and tabs stay.
func escapeInvisible(s string) string {
	plain := func(r rune) bool { return r == '\n' || r == '\t' || unicode.IsPrint(r) }
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case plain(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}
