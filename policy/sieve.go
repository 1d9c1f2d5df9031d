package policy

import (
	"sync"

	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/reading"
)

// sieve finds the few patterns of a long condition that a reading could match. From each glob
// of a pattern it takes three bytes in a row that every matching text contains. One scan of the
// bytes of a reading then replaces a comparison with every pattern. It may return patterns that
// do not match, but it must return every pattern that may.
type sieve struct {
	once    sync.Once
	always  []uint8            // patterns that are always compared, because not only the bytes of a text decide
	some    [1 << 6]uint64     // a bit for the hash of each key; most bytes of a text need no further look
	byBytes map[triple][]uint8 // patterns by key
}

// triple is three bytes in a row.
type triple uint32

func (t triple) hashOf() uint32 { return uint32(t) * 0x9e3779b1 >> 20 }

// Numbers of patterns between which a condition has a sieve.
const (
	fewPatterns  = 8
	manyPatterns = 256
)

// build is called before the first comparison: most conditions of a policy are never compared.
func (s *sieve) build(patterns []*pattern) {
	s.byBytes = make(map[triple][]uint8, len(patterns))
	for i, p := range patterns {
		keys, plain := p.sieveKeys()
		if !plain {
			s.always = append(s.always, uint8(i))
			continue
		}
		for _, key := range keys {
			h := key.hashOf()
			s.some[h>>6] |= 1 << (h & 63)
			s.byBytes[key] = append(s.byBytes[key], uint8(i))
		}
	}
}

// sieveKeys returns one key for each glob that a reading may be compared with. It returns false if
// a glob has no key, or if more than the text decides whether the pattern matches.
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

// keyOf returns three bytes in a row that a text must contain to match the glob. It takes them from
// the longest literal behind the first wildcard, if there is one, because many rules begin with the
// same folders.
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

// picked is a set of patterns by index.
type picked [manyPatterns / 64]uint64

// pick adds the patterns that could match the text, with or without end behind it.
func (s *sieve) pick(set *picked, text, end string) {
	if len(text) < 2 {
		text, end = text+end, ""
	}
	if len(text) < 2 {
		return
	}
	t := triple(text[0])<<8 | triple(text[1])<<16
	for i := 2; i < len(text); i++ {
		if t = t>>8 | triple(text[i])<<16; s.hasKey(t) {
			s.pickKey(set, t)
		}
	}
	for i := range len(end) {
		if t = t>>8 | triple(end[i])<<16; s.hasKey(t) {
			s.pickKey(set, t)
		}
	}
}

// hasKey reports whether t may be a key.
func (s *sieve) hasKey(t triple) bool {
	h := t.hashOf()
	return s.some[h>>6%uint32(len(s.some))]&(1<<(h&63)) != 0
}

func (s *sieve) pickKey(set *picked, t triple) {
	for _, n := range s.byBytes[t] {
		set[n>>6] |= 1 << (n & 63)
	}
}

// pickReading returns the patterns that a reading may match.
func (s *sieve) pickReading(r *reading.Reading) (set picked) {
	for _, n := range s.always {
		set[n>>6] |= 1 << (n & 63)
	}
	s.pick(&set, r.Text, "")
	for _, text := range [...]string{r.Raw, r.Unslashed, r.Normal} {
		if text != r.Text {
			s.pick(&set, text, "")
		}
	}
	for i := range r.Places {
		text := r.Places[i].Text
		if text == r.Text { // only the last bytes, with the slash, are new
			text = text[max(0, len(text)-2):]
		}
		s.pick(&set, text, "/")
	}
	return set
}
