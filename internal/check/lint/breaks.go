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

// breaks finds expressions of rules that close and that a line break dodges: in place
// of a blank, after it, or as a line more in front or behind. A dot and an anchor of a
// line do so no longer (policy/where/scalar), but for one that says (?-s) or (?-m).
func breaks(l *linter) {
	l.each(func(i int, r *policy.Source) {
		if opens(r) || l.reach[i].Witness == nil {
			return
		}
		for _, w := range r.Where {
			c, regex := w.Constraint.(interface{ Expression() string })
			if regex && l.missed(i, r, &w, c.Expression()) {
				return
			}
		}
	})
}

// missed looks for a text that rule i refuses or asks about, and that gets further with
// a line break.
func (l *linter) missed(i int, r *policy.Source, w *policy.WhereSource, expr string) bool {
	on := policy.ArgSource{Path: w.Path, Pos: w.Pos}
	texts := []sample{sampled(expr)}
	if s, ok := textIn(l.reach[i].Witness, w.Path); ok {
		texts = append(texts, sample{text: s})
	}
	for _, base := range append([]opening{{i, *l.reach[i].Witness}}, l.openings(i)...) {
		if base.rule != i && !l.takes(r, &base, on) {
			continue
		}
		for _, s := range texts {
			whole := with(&base.call, w.Path, s.text)
			if whole == nil {
				continue
			}
			if d := l.policy.Decide(whole); d.Rule == nil || d.Rule.Index != i {
				continue
			}
			for _, b := range s.broken() {
				broken := with(&base.call, w.Path, b.text)
				if d := l.policy.Decide(broken); d.Action <= r.Action {
					continue
				}
				f := check.Finding{Code: BreakDodges, Message: fmt.Sprintf("%s.regex does not match with a line break %s", policytext.Key("where", w.Path...), b.where), Fix: b.fix}
				l.show(&f, broken)
				l.add(r, w.Pos, f)
				return true
			}
		}
	}
	return false
}

// sample is a text that an expression matches, when it is simple.
type sample struct {
	text string
	dots []int // bytes of text that stand for a dot
}

// broken is a text with a line break in it.
type broken struct{ text, where, fix string }

// broken lists the sample with a break where a blank or a dot is, and around it.
func (s *sample) broken() (all []broken) {
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

// maxSample bounds the text that is made for an expression.
const maxSample = 1 << 9

// sampled makes a sample in which all that may be there is there once.
func sampled(expr string) (s sample) {
	if re, err := syntax.Parse(expr, syntax.Perl); err == nil {
		s.spell(re.Simplify(), 0)
	}
	return s
}

func (s *sample) spell(re *syntax.Regexp, depth int) {
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
		s.spell(re.Sub[0], depth+1)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			s.spell(sub, depth+1)
		}
	case syntax.OpRepeat:
		for range max(re.Min, 1) {
			s.spell(re.Sub[0], depth+1)
		}
	default: // anchors are no text
	}
}

// blankOr picks a character of a class: a blank where it has one.
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
