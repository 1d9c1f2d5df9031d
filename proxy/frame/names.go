package frame

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"unicode"
	"unicode/utf8"
)

// name is a member's name as written, between its quotes.
type name struct {
	from, to int
	escaped  bool
}

// names is the set of an object's names: a short list while there are few, a
// table hashed with a random seed when there are many, so that no choice of
// names makes it slow. It keeps offsets only.
type names struct {
	n     int
	few   [12]slot
	table []slot
}

// slot is one name; at is never 0, for a quote stands before it.
type slot struct{ tag, at uint32 }

// add notes what is wrong with the name, and puts it into the set.
func (s *scanner) add(seen *names, n name, fold bool) {
	text := s.b[n.from:n.to]
	tag, odd := quick(text)
	if n.escaped || odd || len(text) == len("__proto__") {
		s.check(n)
	}
	if seen.table != nil || seen.n == len(seen.few) {
		s.addMany(seen, n, fold)
		return
	}
	if n.escaped || fold && odd {
		tag, _ = quick(s.key(n, fold, 0))
	}
	for _, other := range seen.few[:seen.n] {
		if other.tag == tag && s.same(int(other.at), n, fold) {
			return
		}
	}
	seen.few[seen.n] = slot{tag, uint32(n.from)}
	seen.n++
}

// addMany is add for the table.
func (s *scanner) addMany(seen *names, n name, fold bool) {
	if seen.table == nil {
		s.seed = maphash.MakeSeed()
		seen.table = make([]slot, 4*len(seen.few))
		for _, few := range seen.few {
			other := s.nameAt(int(few.at))
			put(seen.table, slot{s.hash(other, fold), few.at})
		}
	}
	tag := s.hash(n, fold)
	mask := uint32(len(seen.table) - 1)
	for i := tag & mask; seen.table[i].at != 0; i = (i + 1) & mask {
		if seen.table[i].tag == tag && s.same(int(seen.table[i].at), n, fold) {
			return
		}
	}
	put(seen.table, slot{tag, uint32(n.from)})
	if seen.n++; seen.n > len(seen.table)/2 {
		grown := make([]slot, 2*len(seen.table))
		for _, old := range seen.table {
			if old.at != 0 {
				put(grown, old)
			}
		}
		seen.table = grown
	}
}

func put(table []slot, v slot) {
	mask := uint32(len(table) - 1)
	i := v.tag & mask
	for table[i].at != 0 {
		i = (i + 1) & mask
	}
	table[i] = v
}

func (s *scanner) hash(n name, fold bool) uint32 {
	return uint32(maphash.Bytes(s.seed, s.key(n, fold, 0)))
}

// nameAt finds again a name that was scanned before.
func (s *scanner) nameAt(at int) name {
	end, escaped := s.text(at)
	return name{at, end, escaped}
}

// same says whether the name at an earlier offset is n, and notes it.
func (s *scanner) same(at int, n name, fold bool) bool {
	other := s.nameAt(at)
	switch {
	case bytes.Equal(s.key(other, false, 0), s.key(n, false, 1)):
		s.note(CodeDuplicate, n.from)
	case fold && bytes.Equal(s.key(other, true, 0), s.key(n, true, 1)):
		s.note(CodeFolded, n.from)
	default:
		return false
	}
	return true
}

// check notes a name that readers with C strings, or with prototypes, take for
// another one.
func (s *scanner) check(n name) {
	key := s.key(n, false, 0)
	if s.params && string(key) == "__proto__" {
		s.note(CodeProto, n.from)
	}
	if bytes.ContainsFunc(key, unicode.IsControl) {
		s.note(CodeControlName, n.from)
	}
}

// key is the name as readers compare it: unescaped, and folded if asked. It
// may alias the frame or the scratch buffer of that number.
func (s *scanner) key(n name, fold bool, buf int) []byte {
	key := s.b[n.from:n.to]
	if n.escaped {
		s.keys[buf] = unescape(s.keys[buf][:0], key)
		key = s.keys[buf]
	}
	if fold {
		s.folds[buf] = Fold(s.folds[buf][:0], key)
		key = s.folds[buf]
	}
	return key
}

// quick is a cheap hash that does not tell ASCII letters' case apart, and
// whether any byte is DEL or not ASCII.
func quick(b []byte) (tag uint32, odd bool) {
	const mix = 0x9E3779B97F4A7C15
	h, all := uint64(len(b)), uint64(0)
	for ; len(b) >= 8; b = b[8:] {
		w := binary.LittleEndian.Uint64(b)
		all |= w | (w + ones)
		h = (h ^ (w | ones*0x20)) * mix
		h ^= h >> 29
	}
	var w uint64
	for _, c := range b {
		w = w<<8 | uint64(c)
	}
	all |= w | (w + ones)
	h = (h ^ (w | ones*0x20)) * mix
	return uint32(h >> 32), all&highs != 0
}

// Fold appends the name with its letters folded as the most generous
// case-insensitive reader folds them: Unicode simple folding (which takes
// U+017F for s and U+212A for k), and the Turkish i besides.
func Fold(dst, name []byte) []byte {
	for len(name) > 0 {
		c := name[0]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c |= 0x20
			}
			dst, name = append(dst, c), name[1:]
			continue
		}
		r, n := utf8.DecodeRune(name)
		dst, name = utf8.AppendRune(dst, foldRune(r)), name[n:]
	}
	return dst
}

func foldRune(r rune) rune {
	r = unicode.ToLower(unicode.ToUpper(r))
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return unicode.ToLower(least)
}
