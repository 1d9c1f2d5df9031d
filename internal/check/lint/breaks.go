package lint

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// findLineBreaks finds regular expressions of denies and prompts that an agent can evade with a line
// break. The line break replaces a blank, follows a blank, or adds a line before or after the text.
// Dots and line anchors also match at line breaks (policy/where/scalar), except with (?-s) or (?-m).
func findLineBreaks(l *linter) {
	l.visitRules(func(i int, r *policy.Source) {
		if isAllow(r) || l.reach[i].Witness == nil {
			return
		}
		for _, w := range r.Where {
			c, regex := w.Constraint.(interface{ Expression() string })
			if regex && l.findMissedText(i, r, &w, c.Expression()) {
				return
			}
		}
	})
}

// findMissedText looks for a text that matches rule i, but gets a weaker answer with a line break in
// it. It reports whether it added a finding.
func (l *linter) findMissedText(i int, r *policy.Source, w *policy.WhereSource, expr string) bool {
	on := policy.ArgSource{Path: w.Path, Pos: w.Pos}
	texts := []sample{sampleOf(expr)}
	if s, ok := textIn(l.reach[i].Witness, w.Path); ok {
		texts = append(texts, sample{text: s})
	}
	for _, base := range append([]opening{{i, *l.reach[i].Witness}}, l.findOpenings(i)...) {
		if base.rule != i && !l.takesArgument(r, &base, on) {
			continue
		}
		for _, s := range texts {
			whole := withArgument(&base.call, w.Path, s.text)
			if whole == nil {
				continue
			}
			if d := l.policy.Decide(whole); d.Rule == nil || d.Rule.Index != i {
				continue
			}
			for _, b := range s.listBreaks() {
				broken := withArgument(&base.call, w.Path, b.text)
				if d := l.policy.Decide(broken); d.Action <= r.Action {
					continue
				}
				f := check.Finding{Code: BreakDodges, Message: fmt.Sprintf("%s.regex does not match with a line break %s", policytext.DottedKey("where", w.Path...), b.where), Fix: b.fix}
				l.addWitness(&f, broken)
				l.addFinding(r, w.Pos, f)
				return true
			}
		}
	}
	return false
}

// sample is a text that a regular expression matches. For a complicated expression, the text may not
// match.
type sample struct {
	text string
	dots []int // byte offsets of the characters that a dot in the expression matches
}

// broken is a text with a line break. where is a phrase for the place of the break, and fix is a
// suggestion for the rule.
type broken struct{ text, where, fix string }

// listBreaks returns copies of the sample. Each copy has one line break: at a blank or a dot, before
// the text, or after the text.
func (s *sample) listBreaks() (all []broken) {
	for k := range len(s.text) {
		switch {
		case slices.Contains(s.dots, k):
			all = append(all, broken{s.text[:k] + "\n" + s.text[k+1:], "where a dot stands", "write (?s) in place of (?-s), so that a dot is a line break too"})
		case s.text[k] == ' ', s.text[k] == '\t':
			const fix = `write \s+ where blanks are meant; in a class \s`
			all = append(all, broken{s.text[:k] + "\n" + s.text[k+1:], "in place of a blank", fix}, broken{s.text[:k+1] + "\n" + s.text[k+1:], "beside a blank", fix})
		}
	}
	const fix = `write ^ and $ with (?m) in place of \A, \z and (?-m), or leave them away: one line that matches is enough`
	return append(all, broken{"x\n" + s.text, "and a line in front of it", fix}, broken{s.text + "\nx", "and a line behind it", fix})
}

// maxSample limits the length of a sample in bytes.
const maxSample = 1 << 9

// sampleOf returns a sample of a regular expression. The sample contains each optional part once.
func sampleOf(expr string) (s sample) {
	if re, err := syntax.Parse(expr, syntax.Perl); err == nil {
		s.spellRegexp(re.Simplify(), 0)
	}
	return s
}

func (s *sample) spellRegexp(re *syntax.Regexp, depth int) {
	if depth > 100 || len(s.text) > maxSample {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		s.text += string(re.Rune)
	case syntax.OpCharClass:
		s.text += string(blankOr(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		s.dots = append(s.dots, len(s.text))
		s.text += "x"
	case syntax.OpAlternate, syntax.OpCapture, syntax.OpPlus, syntax.OpStar, syntax.OpQuest:
		s.spellRegexp(re.Sub[0], depth+1)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			s.spellRegexp(sub, depth+1)
		}
	case syntax.OpRepeat:
		for range max(re.Min, 1) {
			s.spellRegexp(re.Sub[0], depth+1)
		}
	default: // anchors match no characters
	}
}

// blankOr returns a character of a character class. It prefers a blank.
func blankOr(ranges []rune) rune {
	for _, want := range " \tx0a-_" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= want && want <= ranges[i+1] {
				return want
			}
		}
	}
	if len(ranges) == 0 || strings.ContainsRune("\r\n", ranges[0]) {
		return 'x'
	}
	return ranges[0]
}
