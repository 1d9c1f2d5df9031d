// Package report writes what checks of a policy find in the forms that CI
// systems read: SARIF 2.1.0, GitHub's workflow annotations, JUnit XML and TAP 14.
// What it is given may hold an attacker's text: no form lets it end a line, an
// element or a command early. Pure.
package report

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/clawai/clawai/policy/check"
)

// Severity is how much a finding weighs, in SARIF's words.
type Severity string

// The severities. An unknown one is written as an error.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Finding is one thing to look at in a file.
type Finding struct {
	Code     string // names the kind of finding; stable, for people to search and suppress
	Severity Severity
	Place
	Message string // one sentence: what is wrong
	Why     string // what may come of it; may be ""
	Fix     string // what to write instead; may be ""
	Related []Related
}

// Place is where a finding stands. Lines and columns count from 1, columns in
// characters; 0 says that they are not known.
type Place struct {
	File               string
	Line, Column       int
	EndLine, EndColumn int
}

// Related is another place that has to do with a finding.
type Related struct {
	Place
	Message string
}

// Kind describes a code to readers of a SARIF log.
type Kind struct {
	Code    string
	Summary string
	Help    string
}

// Tool is who found it. Kinds may be empty: codes are then named alone.
type Tool struct {
	Name, Version string
	Kinds         []Kind
}

// Run is one run of fixtures against a policy.
type Run struct {
	Policy   string // the file
	Revision string
	Results  []check.Result
	Start    time.Time // of the run; JUnit XML names it
	Duration time.Duration
	Version  string // of clawai
}

// mismatch and unreadable are the codes of test results.
const (
	mismatch   = "fixture-mismatch"
	unreadable = "fixture-unreadable"
)

// tool is who reports the findings of a run.
func (r Run) tool() Tool {
	return Tool{Name: "clawai policy test", Version: r.Version, Kinds: []Kind{
		{mismatch, "The policy's answer to a recorded request is not the expected one.",
			"Either the policy changed its meaning or the expectation is out of date."},
		{unreadable, "A fixture cannot be read.", "A test that is not read proves nothing."},
	}}
}

// Findings are the failed tests of a run, each at its fixture's first line.
func (r Run) Findings() []Finding {
	var out []Finding
	for _, result := range r.Results {
		f := Finding{Code: mismatch, Severity: Error, Place: Place{File: result.Path, Line: 1}}
		switch {
		case result.Err != nil:
			f.Code, f.Message = unreadable, result.Err.Error()
		case result.Mismatch():
			f.Message = failure(result)
			if rule := result.Rule; rule != nil {
				f.Related = []Related{{Place{File: rule.Pos.File, Line: rule.Pos.Line, Column: rule.Pos.Column}, "the rule that decided"}}
			}
		default:
			continue
		}
		out = append(out, f)
	}
	return out
}

// failure is one line on a mismatch.
func failure(r check.Result) string {
	return fmt.Sprintf("expected %s, got %s by %s", r.Expected, r.Action, check.Because(r))
}

// slashed is a path as the web writes it.
func slashed(path string) string { return filepath.ToSlash(path) }

// visible writes control and other unseen characters, and bytes that are no
// text, as Go escapes. Line breaks and tabs stay.
func visible(s string) string {
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

// oneLine is visible text without breaks.
func oneLine(s string) string {
	return strings.NewReplacer("\n", `\n`, "\t", " ").Replace(visible(s))
}
