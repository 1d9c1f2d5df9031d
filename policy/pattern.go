package policy

import (
	"errors"
	"math/bits"
	"slices"
	"strings"
	"unicode"

	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/internal/effort"
	"github.com/clawai/clawai/policy/reading"
	"github.com/clawai/clawai/policy/where"
)

// pattern is a glob on an argument or a URI. The transformations of values also change the glob, so
// a pattern has several forms (guises).
type pattern struct {
	asWritten guise
	others    []guise            // one guise for each set of transformations that changes the glob
	effects   reading.Transforms // the transformations that change the glob
	pathLike  bool               // the policy reads values as paths for this glob
	absolute  bool               // a path whose base is not known could lie under the glob
	homeless  bool               // the glob begins with ~, and the home is not known
	spells    bool               // the glob is about texts that hold JSON
	blank     bool               // the glob has blanks in it
	boolean   bool               // the glob is true or false; a server may also read other words as true or false
	aliased   bool               // at least one guise has further globs, in the field named also
	closes    bool               // the glob is in a deny or a prompt rule
	local     bool               // the glob begins at the folder where relative paths start
}

// guise is the form that a pattern has after a set of transformations.
type guise struct {
	transforms reading.Transforms
	glob       *glob.Pattern
	home       *glob.Pattern   // for a pattern that begins with ~: the same path below the owner's home; else nil
	rest       *glob.Pattern   // for a pattern that begins with **/: the rest of the pattern; else nil
	also       []*glob.Pattern // additional globs that the pattern may mean; only in a deny or a prompt rule
	quoted     bool            // a transformation decoded the glob, and wildcards came out
	file       bool            // the glob was a file: URI and is now a path, so only paths can match
}

var errBaseWord = errors.New(reading.BaseWord + " stands at the beginning, before a / or alone")

// newPattern compiles a glob. The parameter closes is true if the glob is in a deny or a prompt
// rule.
func newPattern(text, home string, closes bool) (*pattern, error) {
	g, err := glob.Compile(text)
	if err != nil {
		return nil, err
	}
	if err := checkBaseWord(text); err != nil {
		return nil, err
	}
	p := &pattern{
		effects:  reading.GlobEffects(text, home),
		pathLike: reading.StartsLikePath(text) || strings.HasPrefix(text, "**/") || inFolder(text),
		absolute: reading.IsAbsolute(text),
		homeless: home == "" && text[0] == '~',
		spells:   reading.SpellsJSON(text),
		boolean:  text == "true" || text == "false",
		closes:   closes,
		local:    reading.FromBase(text),
		blank:    strings.ContainsFunc(text, unicode.IsSpace),
	}
	p.pathLike, p.absolute = p.pathLike || p.local, p.absolute || p.local
	p.asWritten = p.newGuise(g, text, home, 0, closes)
	for h := -p.effects & p.effects; h != 0; h = (h - p.effects) & p.effects { // every subset of p.effects except the empty one, in ascending order
		g, _ = glob.Compile(reading.TransformGlob(text, h, home)) // no error: no transformation makes a pattern empty
		p.others = append(p.others, p.newGuise(g, text, home, h, closes))
	}
	return p, nil
}

func checkBaseWord(text string) error {
	if strings.IndexByte(text, reading.BaseWord[0]) < 0 {
		return nil // most globs end here: they have no $ and so no BaseWord
	}
	if strings.Contains(strings.TrimPrefix(text, reading.BaseWord), reading.BaseWord) || strings.HasPrefix(text, reading.BaseWord) && !reading.FromBase(text) {
		return errBaseWord
	}
	return nil
}

// inFolder reports whether a glob is a relative path that begins with a folder: src/**.
func inFolder(text string) bool {
	folder, _, found := strings.Cut(text, "/")
	return found && !strings.Contains(folder, "**") && !strings.ContainsFunc(folder, unicode.IsSpace) && !reading.SpellsJSON(text)
}

func (p *pattern) newGuise(g *glob.Pattern, text, home string, h reading.Transforms, closes bool) guise {
	f := guise{
		transforms: h,
		glob:       g,
		quoted:     reading.HasQuoted(g.String()),
		file:       h&reading.Located != 0 && reading.IsFile(reading.TransformGlob(text, h&^reading.Located, home)),
	}
	if text[0] == '~' && h&reading.Located == 0 && p.effects&reading.Located != 0 {
		f.home, _ = glob.Compile(reading.TransformGlob(text, h|reading.Located, home))
	}
	if rest, found := strings.CutPrefix(g.String(), "**/"); found && rest != "" {
		f.rest, _ = glob.Compile(rest)
	}
	if closes {
		f.also = aliasGlobs(g)
		p.aliased = p.aliased || f.also != nil
	}
	return f
}

// guiseFor returns the pattern's guise for a reading after the transformations h.
func (p *pattern) guiseFor(h reading.Transforms) *guise {
	if h &= p.effects; h != 0 {
		for i := range p.others {
			if p.others[i].transforms == h {
				return &p.others[i]
			}
		}
	}
	return &p.asWritten
}

func (f *guise) matchText(s string, left *effort.Left) bool {
	s, ok := f.prepareText(s)
	return ok && (left.MatchGlob(f.glob, s) || f.home != nil && left.MatchGlob(f.home, s))
}

// prepareText returns s in the form in which it is compared with the guise. It returns false if s
// cannot match.
func (f *guise) prepareText(s string) (string, bool) {
	if f.file && !(strings.HasPrefix(s, "/") || reading.HasDrive(s)) {
		return "", false
	}
	if f.quoted {
		s = reading.QuoteWildcards(s)
	}
	return s, true
}

// mayMean reports whether s may be another name of something that the guise matches.
func (f *guise) mayMean(s string, left *effort.Left) bool {
	if len(f.also) == 0 || s == "" {
		return false
	}
	left.Spend(patternEffort * len(f.also))
	s, ok := f.prepareText(s)
	return ok && slices.ContainsFunc(f.also, func(g *glob.Pattern) bool { return left.MatchGlob(g, s) })
}

// patternEffort is the effort for one pattern of a condition, apart from the cost of its match.
const patternEffort = 8

// matchReading compares one reading with the pattern.
func (p *pattern) matchReading(r *reading.Reading, left *effort.Left) where.Match {
	if r.Recast && !p.pathLike {
		return p.matchRecast(*r, left)
	}
	if (r.PathOnly || r.Climbs && p.blank) && !p.pathLike {
		return max(verdictOf(p.asWritten.matchText(r.Raw, left)), p.matchPlaces(r, left))
	}
	f, placed := p.guiseFor(r.Transforms), p.matchPlaces(r, left)
	switch {
	case p.local && (r.Base == "" || r.UnknownBase && len(r.Places) == 0):
		return where.Maybe
	case p.local, placed == where.Yes:
		return placed
	case f.matchText(r.Text, left), r.Unslashed != "" && f.matchText(r.Unslashed, left), r.Normal != "" && p.guiseFor(r.Transforms|reading.Located).matchText(r.Normal, left):
		return where.Yes
	case placed == where.Maybe, r.UnknownBase && p.absolute && len(r.Places) == 0, p.homeless && (r.Rooted || len(r.Places) > 0):
		return where.Maybe
	case p.aliased && p.mayMean(r, left):
		return where.Maybe
	case p.boolean && reading.ParseBoolean(r.Text) == p.asWritten.glob.String():
		return where.Maybe
	case r.Relative && f.rest != nil && (left.MatchGlob(f.rest, r.Text) || r.Unslashed != "" && left.MatchGlob(f.rest, r.Unslashed)):
		return where.Maybe
	}
	return where.No
}

// matchPlaces compares the pattern with the places to which a relative path or a file: URI leads.
// It uses all spellings of the folder at which the path starts.
func (p *pattern) matchPlaces(r *reading.Reading, left *effort.Left) where.Match {
	if len(r.Places) == 0 || !p.pathLike && !p.closes || r.Places[0].Own && !p.local {
		return where.No
	}
	least, most := where.Yes, where.No
	for i := range r.Places {
		m := p.matchPlace(&r.Places[i], left)
		least, most = min(least, m), max(most, m)
	}
	if least < most {
		return where.Maybe
	}
	return least
}

func (p *pattern) matchPlace(place *reading.Place, left *effort.Left) where.Match {
	f, text := p.guiseFor(place.Transforms), place.Text
	if p.local {
		text = place.Local
	}
	switch {
	case text == "":
		return where.No
	case f.matchText(text, left):
		if place.Doubtful {
			return where.Maybe
		}
		return where.Yes
	case p.aliased && f.mayMean(text, left):
		return where.Maybe
	}
	return where.No
}

// mayMean reports whether the reading may be another name of something that the pattern matches.
func (p *pattern) mayMean(r *reading.Reading, left *effort.Left) bool {
	f := p.guiseFor(r.Transforms)
	return f.mayMean(r.Text, left) || f.mayMean(r.Unslashed, left) || p.guiseFor(r.Transforms|reading.Located).mayMean(r.Normal, left)
}

func verdictOf(b bool) where.Match {
	if b {
		return where.Yes
	}
	return where.No
}

// condition is a condition on one argument (args.<name>), the URI globs of a resource rule, or a
// typed constraint. One of its patterns must match.
type condition struct {
	slot     int32
	patterns []*pattern
	sieve    *sieve // the sieve of all conditions on the slot; if nil, all patterns are compared
	word     int    // number of the condition's first set of patterns in the sieve
	typed    *constraint
	not      bool // the condition is an exception: it holds if none of the patterns matches
}

// matchReading judges one reading for a rule with the action a. A refused reading is one whose
// meaning is not certain. It never matches an allow rule and always matches a deny or prompt rule.
// There is an exception: if the refused value may be only a text (PathOnly), or lies in the JSON of
// a text, only conditions about paths treat the reading as refused.
func (c *condition) matchReading(r *reading.Reading, a Action, seen *picks, left *effort.Left) where.Match {
	switch {
	case r.Kind == reading.Refused && (!r.PathOnly && r.Within == "" || c.pathLike()):
		return verdictOf(a != Allow)
	case c.typed != nil:
		return c.typed.matchReading(r, a, left)
	case r.Kind == reading.Absent:
		return where.No
	}
	left.Spend(patternEffort * len(c.patterns))
	if c.sieve == nil || r.UnknownBase { // compare all patterns: a path without a known base does not show where it leads
		return matchPatterns(c.patterns, r, left)
	}
	best, set := where.No, seen.pickReading(c.sieve, r)[c.word:]
	for i := range (len(c.patterns) + 63) / 64 {
		for word := set[i]; word != 0 && best < where.Yes; word &= word - 1 {
			best = max(best, c.patterns[i<<6+bits.TrailingZeros64(word)].matchReading(r, left))
		}
	}
	return best
}

// matchPatterns compares one reading with every pattern.
func matchPatterns(patterns []*pattern, r *reading.Reading, left *effort.Left) where.Match {
	best := where.No
	for _, p := range patterns {
		if best = max(best, p.matchReading(r, left)); best == where.Yes {
			break
		}
	}
	return best
}

func (c *condition) pathLike() bool {
	if c.typed != nil {
		return c.typed.path
	}
	for _, p := range c.patterns {
		if p.pathLike {
			return true
		}
	}
	return false
}
