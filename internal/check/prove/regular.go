package prove

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// regular is the language of a regular expression: the texts that it matches completely. Two such
// languages can be compared like globs. A includes B if there is no text that the automaton of B
// accepts and the automaton of A does not.
type regular struct {
	expr string
	prog *syntax.Prog
	ends bool   // the expression has ^ or $ at the ends of the text
	cuts []rune // the first characters of the ranges of characters that the expression distinguishes
}

// maxRegular limits the work of one comparison of expressions, in visited instructions.
const maxRegular = 1 << 21

// newRegular compiles an expression. It returns nil if the expression is invalid, or if it uses \b
// or the ends of lines, which these automata do not support.
func newRegular(expr string) *regular {
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil
	}
	r := &regular{expr: expr, prog: prog}
	for i := range prog.Inst {
		switch inst := &prog.Inst[i]; inst.Op {
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^(syntax.EmptyBeginText|syntax.EmptyEndText) != 0 {
				return nil
			}
			r.ends = true
		case syntax.InstRuneAnyNotNL:
			r.addCuts('\n', '\n')
		case syntax.InstRune, syntax.InstRune1:
			r.cutAll(inst)
		}
	}
	return r
}

func (r *regular) addCuts(from, to rune) { r.cuts = append(r.cuts, from, to+1) }

func (r *regular) cutAll(inst *syntax.Inst) {
	if len(inst.Rune) > 1 {
		for i := 0; i+1 < len(inst.Rune); i += 2 {
			r.addCuts(inst.Rune[i], inst.Rune[i+1])
		}
		return
	}
	for _, c := range inst.Rune {
		r.addCuts(c, c)
		for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
			r.addCuts(f, f)
		}
	}
}

// expandStates begins at the instructions in the list from, and follows them as far as this is
// possible without reading a character. It returns the instructions reached that read a character
// or end the match. The parameters begin and end are true if the position is at the beginning or at
// the end of the text.
func (r *regular) expandStates(from []uint32, begin, end bool) (to []uint32) {
	seen := make([]bool, len(r.prog.Inst))
	stack := slices.Clone(from)
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		switch inst := &r.prog.Inst[pc]; inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, inst.Out)
		case syntax.InstEmptyWidth:
			at := syntax.EmptyOp(inst.Arg)
			if (begin || at&syntax.EmptyBeginText == 0) && (end || at&syntax.EmptyEndText == 0) {
				stack = append(stack, inst.Out)
			}
		case syntax.InstFail:
		default:
			to = append(to, pc)
		}
	}
	return to
}

func (r *regular) acceptsEnd(from []uint32, begin bool) bool {
	return slices.ContainsFunc(r.expandStates(from, begin, true), func(pc uint32) bool { return r.prog.Inst[pc].Op == syntax.InstMatch })
}

// statesAfter returns the instructions after one more character. expanded is a result of
// expandStates.
func (r *regular) statesAfter(expanded []uint32, c rune) (to []uint32) {
	for _, pc := range expanded {
		inst := &r.prog.Inst[pc]
		switch inst.Op {
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if inst.MatchRune(c) {
				to = append(to, inst.Out)
			}
		}
	}
	slices.Sort(to)
	return slices.Compact(to)
}

// apartText looks for the shortest text that is in every language of needed and in no language of
// avoided. The result all is false if the work limit was reached. If all is true and found is
// false, it is proved that there is no such text.
func apartText(needed, avoided []*regular) (text string, found, all bool) {
	rs := slices.Concat(needed, avoided)
	alphabet := runesOf(rs)
	type node struct {
		at     [][]uint32
		parent int
		char   rune
	}
	start := node{parent: -1}
	for _, r := range rs {
		start.at = append(start.at, []uint32{uint32(r.prog.Start)})
	}
	nodes, seen, left := []node{start}, map[string]bool{}, maxRegular
	for i := 0; i < len(nodes); i++ {
		begin, fits := i == 0, true
		expanded := make([][]uint32, len(rs))
		for k, r := range rs {
			fits = fits && r.acceptsEnd(nodes[i].at[k], begin) == (k < len(needed))
			expanded[k] = r.expandStates(nodes[i].at[k], begin, false)
		}
		if fits {
			var runes []rune
			for ; nodes[i].parent >= 0; i = nodes[i].parent {
				runes = append(runes, nodes[i].char)
			}
			slices.Reverse(runes)
			return string(runes), true, true
		}
		for _, c := range alphabet {
			next := node{parent: i, char: c}
			dead := false
			for k, r := range rs {
				left -= 1 + len(expanded[k])
				next.at = append(next.at, r.statesAfter(expanded[k], c))
				dead = dead || k < len(needed) && len(next.at[k]) == 0
			}
			if key := keyOf(next.at); !dead && !seen[key] {
				seen[key] = true
				nodes = append(nodes, next)
			}
		}
		if left < 0 {
			return "", false, false
		}
	}
	return "", false, true
}

func keyOf(states [][]uint32) string {
	var b []byte
	for _, set := range states {
		b = binary.AppendUvarint(b, uint64(len(set)))
		for _, pc := range set {
			b = binary.AppendUvarint(b, uint64(pc))
		}
	}
	return string(b)
}

// runesOf returns one character from each range that the expressions distinguish, a plain one if
// possible.
func runesOf(rs []*regular) (runes []rune) {
	cuts := []rune{0, 0xD800, 0xE000, unicode.MaxRune + 1}
	for _, r := range rs {
		cuts = append(cuts, r.cuts...)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for i := range cuts[:len(cuts)-1] {
		from, to := cuts[i], cuts[i+1]-1
		if from >= 0xD800 && to < 0xE000 {
			continue // surrogates are no characters
		}
		plain := strings.IndexFunc("xa0A_-.", func(c rune) bool { return from <= c && c <= to })
		if plain >= 0 {
			from = rune("xa0A_-."[plain])
		}
		runes = append(runes, from)
	}
	slices.SortStableFunc(runes, func(a, b rune) int { return rankRune(a) - rankRune(b) })
	return runes
}

func rankRune(c rune) int {
	switch {
	case c > ' ' && c < unicode.MaxASCII:
		return runeOddness(c)
	case unicode.IsPrint(c):
		return 10
	}
	return 11
}
