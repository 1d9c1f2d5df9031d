package policy

import (
	"strings"

	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/reading"
)

// coversPattern says that p surely matches whatever q surely matches, in every reading
// of a value. It may say no where that is so, and never yes where it is not.
func (p *pattern) coversPattern(q *pattern) bool {
	written := p.asWritten.glob.String()
	if len(written) > 1 && strings.Trim(written, "*") == "" {
		return true
	}
	if p.pathLike != q.pathLike || p.local != q.local || q.spells && !p.spells {
		return false // one is compared with a text that the other never sees
	}
	either := p.effects | q.effects
	for h := reading.Transforms(0); ; h++ {
		if h&^either == 0 && !p.guiseFor(h).coversGuise(q.guiseFor(h)) {
			return false
		}
		if h == either {
			return true
		}
	}
}

// coversGuise is the same of what both become under the same transformations. What
// g is at its home is seen to where ~ is among these.
func (f *guise) coversGuise(g *guise) bool {
	if f.quoted != g.quoted || f.file != g.file {
		return false // what they are compared with is not the same
	}
	return coversGlob(f.glob, g.glob) || f.home != nil && coversGlob(f.home, g.glob)
}

// coversGlob says that outer matches whatever inner matches. What ends in stars goes
// on matching when more of what they stand for is put at its end; so it is
// enough that outer ends so and matches the text that inner's stars stand
// behind.
func coversGlob(outer, inner *glob.Pattern) bool {
	o, i := outer.String(), inner.String()
	text, ends := strings.TrimRight(i, "*"), 0
	switch {
	case o == i:
		return true
	case strings.HasSuffix(o, "**"):
		ends = 2
	case strings.HasSuffix(o, "*"):
		ends = 1
	}
	if !strings.ContainsAny(text, "*?") {
		return min(len(i)-len(text), 2) <= ends && outer.Match(text)
	}
	// Everything below a literal place covers whatever begins there.
	return ends == 2 && strings.HasPrefix(inner.LiteralPrefix(), outer.LiteralPrefix()) &&
		len(outer.LiteralPrefix()) == len(strings.TrimRight(o, "*"))
}

// intersectGlobs lists globs that match only what both lists match. What it cannot say is
// left out, so it may be empty where some texts match both.
func intersectGlobs(asked, wanted []string, home string) (both []string) {
	outer, inner := compilePatterns(asked, home), compilePatterns(wanted, home)
	taken := map[string]bool{}
	add := func(p *pattern) {
		if s := p.asWritten.glob.String(); !taken[s] {
			taken[s] = true
			both = append(both, s)
		}
	}
	for _, w := range inner {
		held := false
		for _, a := range outer {
			held = held || a.coversPattern(w)
		}
		if held {
			add(w)
			continue
		}
		for _, a := range outer {
			if w.coversPattern(a) {
				add(a)
			}
		}
	}
	return both
}

// compilePatterns compiles globs; what is none is left out.
func compilePatterns(globs []string, home string) (ps []*pattern) {
	for _, text := range globs {
		if p, err := newPattern(text, home, false); err == nil {
			ps = append(ps, p)
		}
	}
	return ps
}
