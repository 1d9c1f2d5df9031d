package policy

import (
	"sync"

	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/reading"
)

// sieve finds the few patterns that a reading could match, among all long conditions on one
// argument. It keeps three consecutive bytes of each glob of a pattern; every text that matches the
// glob contains these bytes. So one pass over the bytes of a reading replaces a comparison with
// every pattern. A sieve must return every pattern that may match. It may return other patterns
// too.
type sieve struct {
	patterns []*pattern // the patterns of all these conditions; those of each condition begin at a multiple of 64
	once     sync.Once
	// One bit for each pattern: set if the pattern is always compared, because the text alone does
	// not decide whether the pattern matches.
	always []uint64
	// One bit for the hash of each key; for most bytes of a text this table already excludes a key.
	some    [1 << 6]uint64
	byBytes map[triple][]int32 // indexes of the patterns, by key
}

// triple is three consecutive bytes.
type triple uint32

func (t triple) hashOf() uint32 { return uint32(t) * 0x9e3779b1 >> 20 }

// A condition is put into a sieve if it has at least fewPatterns and at most manyPatterns patterns.
const (
	fewPatterns  = 8
	manyPatterns = 256
)

// addPatterns adds the patterns of a condition. It returns the index of the first added pattern,
// divided by 64.
func (s *sieve) addPatterns(patterns []*pattern) (word int) {
	word = len(s.patterns) / 64
	s.patterns = append(s.patterns, patterns...)
	s.patterns = append(s.patterns, make([]*pattern, -len(s.patterns)&63)...)
	return word
}

// build builds the tables of the sieve before the first comparison. It is not done earlier, because
// most arguments that a policy names are never compared.
func (s *sieve) build() {
	s.byBytes, s.always = map[triple][]int32{}, make([]uint64, len(s.patterns)/64)
	for i, p := range s.patterns {
		if p == nil {
			continue
		}
		keys, plain := p.sieveKeys()
		if !plain {
			s.always[i>>6] |= 1 << (i & 63)
			continue
		}
		for _, key := range keys {
			h := key.hashOf()
			s.some[h>>6] |= 1 << (h & 63)
			s.byBytes[key] = append(s.byBytes[key], int32(i))
		}
	}
}

// sieveKeys returns one key for each glob that may be compared with a reading. It returns false if
// a glob has no key, or if the text alone does not decide whether the pattern matches.
func (p *pattern) sieveKeys() (keys []triple, plain bool) {
	if p.local || p.homeless || p.boolean || !p.asWritten.addKeys(&keys) {
		return nil, false
	}
	for i := range p.others {
		if !p.others[i].addKeys(&keys) {
			return nil, false
		}
	}
	return keys, true
}

func (f *guise) addKeys(keys *[]triple) bool {
	if f.quoted { // the text is changed before it is compared
		return false
	}
	for _, g := range append([]*glob.Pattern{f.glob, f.home, f.rest}, f.also...) {
		if g == nil {
			continue
		}
		key, found := keyOf(g)
		if !found {
			return false
		}
		*keys = append(*keys, key)
	}
	return true
}

// keyOf returns three consecutive bytes that every text that matches the glob contains. It prefers
// the longest literal after the first wildcard, because many rules begin with the same folders.
func keyOf(g *glob.Pattern) (key triple, found bool) {
	longest, rest := "", g.String()[len(g.LiteralPrefix()):]
	for from, i := 0, 0; i <= len(rest); i++ {
		if i < len(rest) && rest[i] != '*' && rest[i] != '?' {
			continue
		}
		if i-from > len(longest) {
			longest = rest[from:i]
		}
		from = i + 1
	}
	if len(longest) < 3 {
		longest = g.LiteralPrefix()
	}
	if len(longest) < 3 {
		return 0, false
	}
	at := (len(longest) - 3) / 2
	return triple(longest[at]) | triple(longest[at+1])<<8 | triple(longest[at+2])<<16, true
}

// picks holds the patterns of a sieve that one reading could match, one bit for each pattern. picks
// keeps the result, because most conditions of a call are compared with the same reading.
type picks struct {
	sieve *sieve
	of    *reading.Reading
	set   []uint64
}

// pickReading returns the patterns that a reading may match.
func (p *picks) pickReading(s *sieve, r *reading.Reading) []uint64 {
	if p.sieve != s || p.of == nil || p.of != r && !saysSame(p.of, r) {
		s.once.Do(s.build)
		p.sieve, p.of, p.set = s, r, append(p.set[:0], s.always...)
		p.addReading(r)
	}
	return p.set
}

// saysSame reports whether two readings have the same texts. This happens when a path is also read
// as a text.
func saysSame(a, b *reading.Reading) bool {
	return len(a.Places)+len(b.Places) == 0 && a.Text == b.Text && a.Raw == b.Raw && a.Unslashed == b.Unslashed && a.Normal == b.Normal
}

func (p *picks) addReading(r *reading.Reading) {
	p.addText(r.Text, "")
	for _, text := range [...]string{r.Raw, r.Unslashed, r.Normal} {
		if text != r.Text {
			p.addText(text, "")
		}
	}
	for i := range r.Places {
		text := r.Places[i].Text
		if text == r.Text { // only the last bytes, the slash and two before it, are new
			text = text[max(0, len(text)-2):]
		}
		p.addText(text, "/")
	}
}

// addText adds the patterns that could match the text, or the text followed by the parameter end.
func (p *picks) addText(text, end string) {
	if len(text) < 2 {
		text, end = text+end, ""
	}
	if len(text) < 2 {
		return
	}
	t := triple(text[0])<<8 | triple(text[1])<<16
	for _, more := range [...]string{text[2:], end} {
		for i := range len(more) {
			if t = t>>8 | triple(more[i])<<16; p.sieve.hasKey(t) {
				for _, n := range p.sieve.byBytes[t] {
					p.set[n>>6] |= 1 << (n & 63)
				}
			}
		}
	}
}

// hasKey reports whether t may be a key. The result false is certain.
func (s *sieve) hasKey(t triple) bool {
	h := t.hashOf()
	return s.some[h>>6%uint32(len(s.some))]&(1<<(h&63)) != 0
}
