package frame

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"unicode"

	"github.com/clawai/clawai/internal/wire/escape"
)

// name is the position of a member's name, between its quotes.
type name struct {
	from, to int
	escaped  bool
}

// names is the set of an object's names: a short list for few names, a map for many. It
// keeps only offsets.
type names struct {
	n    int
	few  [24]slot
	bits uint64            // one bit for each tag in few: most new names need no search
	many map[uint64]uint32 // offsets by seeded hash, so that no choice of names makes it slow
}

// slot is one name. at, the offset of the name, is never 0, because a quote precedes
// the name.
type slot struct{ tag, at uint32 }

// addName notes the faults of a name and adds it to its object's set. With fold, two
// names that differ only in case are a fault, too.
func (s *scanner) addName(seen *names, n name, fold bool) {
	tag, odd := quickHash(s.b[n.from:n.to])
	if n.escaped || odd || s.params && n.to-n.from == len("__proto__") && s.b[n.from] == '_' {
		s.checkName(n)
	}
	if seen.n >= len(seen.few) {
		s.addMany(seen, n, fold)
		return
	}
	if n.escaped || fold && odd || n.to-n.from > longName {
		tag = s.nameTag(n, fold)
	}
	bit := uint64(1) << (tag & 63)
	if seen.bits&bit != 0 && s.hasName(seen.few[:seen.n], tag, n, fold) {
		return
	}
	seen.bits |= bit
	seen.few[seen.n] = slot{tag, uint32(n.from)}
	seen.n++
}

// longName is the maximum length of a name for the cheap hash. Comparing long names is
// slow, so an attacker must not be able to choose which ones are compared.
const longName = 64

// nameTag returns the hash of a name that is long, escaped or folded.
func (s *scanner) nameTag(n name, fold bool) uint32 {
	key := s.nameKey(n, fold, 0)
	if len(key) > longName {
		return uint32(s.hashName(key))
	}
	tag, _ := quickHash(key)
	return tag
}

// hashName returns a seeded hash, so that an attacker cannot choose names that
// collide.
func (s *scanner) hashName(key []byte) uint64 {
	if s.seed == (maphash.Seed{}) {
		s.seed = maphash.MakeSeed()
	}
	return maphash.Bytes(s.seed, key)
}

func (s *scanner) hasName(few []slot, tag uint32, n name, fold bool) bool {
	for _, other := range few {
		if other.tag == tag && s.sameName(other.at, n, fold) {
			return true
		}
	}
	return false
}

// addMany does the work of addName when the list is full.
func (s *scanner) addMany(seen *names, n name, fold bool) {
	if seen.many == nil {
		seen.many = make(map[uint64]uint32, 2*len(seen.few))
		for _, few := range seen.few {
			s.addMany(seen, s.nameAt(few.at), fold)
		}
	}
	for tag := s.hashName(s.nameKey(n, fold, 0)); ; tag++ {
		at, taken := seen.many[tag]
		if !taken {
			seen.many[tag] = uint32(n.from)
			return
		}
		if s.sameName(at, n, fold) {
			return
		}
	}
}

// nameAt scans again a name that was scanned before.
func (s *scanner) nameAt(at uint32) name {
	end, escaped := s.scanString(int(at))
	return name{int(at), end, escaped}
}

// sameName reports whether an earlier name with the same tag equals n. If so, it notes
// the fault.
func (s *scanner) sameName(earlier uint32, n name, fold bool) bool {
	other := s.nameAt(earlier)
	switch {
	case bytes.Equal(s.nameKey(other, false, 0), s.nameKey(n, false, 1)):
		s.noteFault(CodeDuplicate, n.from)
	case fold && bytes.Equal(s.nameKey(other, true, 0), s.nameKey(n, true, 1)):
		s.noteFault(CodeFolded, n.from)
	default:
		return false
	}
	return true
}

// checkName notes a fault for a name that readers with C strings, or with prototypes,
// read as another name.
func (s *scanner) checkName(n name) {
	key := s.nameKey(n, false, 0)
	if s.params && string(key) == "__proto__" {
		s.noteFault(CodeProto, n.from)
	}
	if bytes.ContainsFunc(key, unicode.IsControl) {
		s.noteFault(CodeControlName, n.from)
	}
}

// nameKey returns a name as readers compare it: unescaped, and folded if fold is set.
// The result may alias the frame or the scratch buffer with number buf.
func (s *scanner) nameKey(n name, fold bool, buf int) []byte {
	key := s.b[n.from:n.to]
	if n.escaped {
		s.plain[buf] = escape.UndoEscapes(s.plain[buf][:0], key)
		key = s.plain[buf]
	}
	if fold {
		s.folded[buf] = FoldName(s.folded[buf][:0], key)
		key = s.folded[buf]
	}
	return key
}

// quickHash returns a cheap hash that is the same for both cases of ASCII letters, and
// reports whether any byte is DEL or not ASCII.
func quickHash(b []byte) (tag uint32, odd bool) {
	const mix = 0x9E3779B97F4A7C15
	h, high := uint64(len(b)), uint64(0)
	for ; len(b) > 8; b = b[8:] {
		w := binary.LittleEndian.Uint64(b)
		high |= w | (w + ones)
		h = (h ^ w | ones*0x20) * mix
		h ^= h >> 32
	}
	var w uint64
	switch n := len(b); {
	case n == 8:
		w = binary.LittleEndian.Uint64(b)
	case n >= 4:
		w = uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<32
	case n > 0:
		w = uint64(b[0]) | uint64(b[n/2])<<8 | uint64(b[n-1])<<16
	}
	high |= w | (w + ones)
	h = (h ^ w | ones*0x20) * mix
	return uint32(h >> 32), high&highs != 0
}
