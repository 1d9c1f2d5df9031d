package lint

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
)

// AtLeast returns the findings that have the given severity or a higher one.
func (r *Report) AtLeast(least check.Severity) []check.Finding {
	below := func(f check.Finding) bool { return f.Severity.Compare(least) < 0 }
	return slices.DeleteFunc(slices.Clone(r.Findings), below)
}

// HasFailed reports whether a finding has the given severity or a higher one.
func (r *Report) HasFailed(least check.Severity) bool {
	return len(r.AtLeast(least)) > 0
}

// fewUndecided limits how many undecided rules the text lists for one reason.
const fewUndecided = 10

// WriteText writes findings and a summary for people. It omits findings with a severity below the
// parameter least.
func (r *Report) WriteText(w io.Writer, file string, least check.Severity) error {
	var b strings.Builder
	told := r.AtLeast(least)
	for _, f := range told {
		fmt.Fprintf(&b, "%s:%d:%d: %s: %s [%s]\n", policy.FileName(f.Pos.File), f.Pos.Line, f.Pos.Column, f.Severity, replaceUnprintable(f.Message), f.Code)
		if f.Text != "" {
			fmt.Fprintf(&b, "%6d | %s\n", f.Pos.Line, replaceUnprintable(strings.TrimSpace(f.Text)))
		}
		for _, more := range []struct{ label, text string }{{"why", f.Why}, {"fix", f.Fix}, {"call", f.Call}} {
			if more.text != "" {
				fmt.Fprintf(&b, "%6s | %s\n", more.label, replaceUnprintable(more.text))
			}
		}
		b.WriteByte('\n')
	}
	r.writeUndecided(&b)
	if len(r.Undecided) > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%s: %s, %s", policy.FileName(file), countNoun(r.Rules, "rule"), countNoun(len(told), "finding"))
	if held := len(r.Findings) - len(told); held > 0 {
		fmt.Fprintf(&b, " (%d below %s)", held, least)
	}
	if n := len(r.Undecided); n > 0 {
		fmt.Fprintf(&b, ", %s not decided", countNoun(n, "rule"))
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// writeUndecided writes each reason once, together with its rules.
func (r *Report) writeUndecided(b *strings.Builder) {
	var reasons []string // in the order of the rules
	about := map[string][]Undecided{}
	for _, u := range r.Undecided {
		key := u.Pos.File + "\x00" + u.Reason
		if about[key] == nil {
			reasons = append(reasons, key)
		}
		about[key] = append(about[key], u)
	}
	for _, key := range reasons {
		all := about[key]
		first := &all[0]
		if len(all) == 1 {
			fmt.Fprintf(b, "%s:%d: not decided whether a call gets to this rule: %s\n", policy.FileName(first.Pos.File), first.Pos.Line, replaceUnprintable(first.Reason))
			continue
		}
		var lines []string
		for _, u := range all[:min(len(all), fewUndecided)] {
			lines = append(lines, strconv.Itoa(u.Pos.Line))
		}
		more := ""
		if len(all) > fewUndecided {
			more = fmt.Sprintf(" and %d more", len(all)-fewUndecided)
		}
		fmt.Fprintf(b, "%s: not decided whether a call gets to %d rules: %s (lines %s%s)\n", policy.FileName(first.Pos.File), len(all), replaceUnprintable(first.Reason), strings.Join(lines, ", "), more)
	}
}

func countNoun(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// replaceUnprintable replaces characters that a terminal would not show.
func replaceUnprintable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// DescribeTool returns the description of the linter for a SARIF log.
func DescribeTool(version string) check.Tool {
	return check.Tool{Name: "clawai policy lint", Version: version, Kinds: Kinds()}
}
