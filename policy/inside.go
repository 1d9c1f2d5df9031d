package policy

import (
	"strings"

	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/reading"
)

// coversPattern reports whether p surely matches every value that q surely matches, in every
// reading of the value. The result true is certain; the result false may be wrong.
func (p *pattern) coversPattern(q *pattern) bool {
	written := p.asWritten.glob.String()
	if len(written) > 1 && strings.Trim(written, "*") == "" {
		return true
	}
	if p.pathLike != q.pathLike || p.local != q.local || q.spells && !p.spells {
		return false // a text is compared with only one of the two patterns
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

// coversGuise does what coversPattern does, for two guises under the same transformations. It
// ignores g.home, because coversPattern also compares the guises in which ~ is replaced by the
// home.
func (f *guise) coversGuise(g *guise) bool {
	if f.quoted != g.quoted || f.file != g.file {
		return false // the two guises are compared with different texts
	}
	return coversGlob(f.glob, g.glob) || f.home != nil && coversGlob(f.home, g.glob)
}

// coversGlob reports whether outer matches every text that inner matches. A glob that ends in stars
// still matches a text after further characters are added to the end of the text. So if outer ends
// in such stars, it is enough that outer matches the part of inner in front of inner's last stars.
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
	// A literal followed by ** covers every glob that begins with the literal.
	return ends == 2 && strings.HasPrefix(inner.LiteralPrefix(), outer.LiteralPrefix()) &&
		len(outer.LiteralPrefix()) == len(strings.TrimRight(o, "*"))
}

// intersectGlobs lists globs that match only what both lists match. The result may be incomplete or
// empty, because one glob cannot always express what both lists match.
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

// compilePatterns compiles globs and leaves out invalid ones.
func compilePatterns(globs []string, home string) (ps []*pattern) {
	for _, text := range globs {
		if p, err := newPattern(text, home, false); err == nil {
			ps = append(ps, p)
		}
	}
	return ps
}
