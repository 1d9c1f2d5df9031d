// Package lint finds probable mistakes in a policy. Examples are rules that no call reaches, denies
// whose calls an allow above takes, and globs in the syntax of another glob language.
// internal/check/prove proves the statements about calls. To show a statement, lint gives a call that
// the policy has judged. The package does no I/O.
package lint

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/glob"
)

// Options holds the linter's knowledge besides the policy.
type Options struct {
	// File is the name of the owner's policy file. If it is "", the file of the first rule is used,
	// unless this rule is from an extended file. The owner cannot change the rules of extended files.
	// So a finding about such a rule is placed at the owner's rule that causes it, or is dropped.
	File string
	// Servers has the names of the declared tools, by server name.
	Servers map[string][]string
	// Arguments has the names of the arguments in recorded calls, by tool name.
	Arguments map[string][]string
	// Whole is the policy together with its layers; nil if no layers are known. Only findings about
	// several layers together use Whole.
	Whole *policy.Policy
	Work  int // limit of the proofs' work; see prove.Options
}

// Report holds the findings of one policy, sorted by line.
type Report struct {
	Findings  []check.Finding
	Undecided []Undecided
	Rules     int
}

// Undecided is a rule that the linter could not decide: perhaps a call reaches the rule, perhaps no
// call does.
type Undecided struct {
	Pos    policy.Position
	Reason string
}

// Run checks a policy. src is the text of the policy.
func Run(p *policy.Policy, src []byte, o Options) *Report {
	l := &linter{
		policy: p, sources: p.Sources(), lines: bytes.Split(src, []byte("\n")), options: o,
		proof: prove.New(p, prove.Options{Work: o.Work}), report: &Report{}, globs: map[string]*glob.Pattern{},
	}
	l.report.Rules = len(l.sources)
	if o.File == "" && len(l.sources) > 0 && l.sources[0].From == "" {
		l.options.File = l.sources[0].Pos.File
	}
	l.reach = l.proof.Reach()
	for _, check := range []func(*linter){
		findDuplicates, findUnreachable, findOpenedDenials, findNeedlessAllows, findLineBreaks, findShortStars, findOpenHosts, findCommandGlobs, findIdleWildcards, findBrackets, findRepeats, findIdleExceptions, findClosedSubjects, findUntiedFolders, checkTools, findOtherNames, findOpenAllows, checkFurther, findIdleLimits, checkReplies, findIdleTrusts, findIdlePreviews, findFewApprovers, findFreeActors, findUnreadFolders, findAnswerRules, compareSandboxes,
	} {
		check(l)
	}
	slices.SortStableFunc(l.report.Findings, func(a, b check.Finding) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column), b.Severity.Compare(a.Severity))
	})
	return l.report
}

// linter is one run of the linter on one policy.
type linter struct {
	policy  *policy.Policy
	sources []policy.Source
	lines   [][]byte
	options Options
	proof   *prove.Analysis
	reach   []prove.Finding // one element per rule in sources
	report  *Report

	globs    map[string]*glob.Pattern // compiled globs, with their texts as keys
	reported map[int]bool             // indexes of the rules that an earlier check has reported as superfluous
}

// addFinding adds a finding at a rule of the owner. It drops a finding at a rule of an extended file.
// pos is the position of the finding in the rule; the zero position means the first line of the rule.
func (l *linter) addFinding(rule *policy.Source, pos policy.Position, f check.Finding) {
	if rule.From != "" {
		return
	}
	if pos == (policy.Position{}) {
		pos = rule.Pos
	}
	f.Pos = pos
	f.Severity = cmp.Or(f.Severity, kindOf(f.Code).Severity)
	f.EndLine = l.lineOf(rule.End)
	if pos.Line >= 1 && pos.Line <= len(l.lines) {
		f.Text = string(bytes.TrimRight(l.lines[pos.Line-1], "\r"))
	}
	f.Why = cmp.Or(f.Why, kindOf(f.Code).Why)
	l.report.Findings = append(l.report.Findings, f)
}

// lineOf returns the number of the line that contains a byte. The parameter at is the offset of the
// byte in the file.
func (l *linter) lineOf(at int) int {
	for i, line := range l.lines {
		if at -= len(line) + 1; at < 0 {
			return i + 1
		}
	}
	return len(l.lines)
}

// addWitness adds the call c to a finding, to show the finding. It does nothing if c is nil.
func (l *linter) addWitness(f *check.Finding, c *policy.Call) {
	if c == nil {
		return
	}
	d := l.policy.Decide(c)
	if composed, err := check.Compose(c, d.Action); err == nil {
		f.Fixture = composed.Text
	}
	f.Call = l.oneLine(c, &d)
}

// describeRule returns a phrase for the rule at a position.
func (l *linter) describeRule(pos policy.Position) string { return "the rule " + l.formatLocation(pos) }

func (l *linter) formatLocation(pos policy.Position) string {
	if pos.File == l.options.File {
		return "on line " + formatInt(pos.Line)
	}
	return "at " + policy.FileName(pos.File) + ":" + formatInt(pos.Line)
}
