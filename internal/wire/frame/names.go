package frame

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"unicode"

	"github.com/clawai/clawai/internal/wire/escape"
)

// name is the position of a member's name. The quotes are outside.
type name struct {
	from, to int
	escaped  bool
}

// names is the set of the names in an object. If the object has few names, they are in a short
// list, and otherwise in a map. The set stores only offsets.
type names struct {
	n    int
	few  [24]slot
	bits uint64            // one bit for each tag in few, so that most new names need no search
	many map[uint64]uint32 // offsets by seeded hash; because of the seed, an attacker cannot choose colliding names
}

// slot is one name. at is the offset of the name. It is never 0, because a quote comes before the
// name.
type slot struct{ tag, at uint32 }

// addName notes the faults of a name and adds the name to the set of its object. With fold, a
// second name that differs only in case is a fault too.
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

// longName is the maximum length of a name for the cheap hash. Long names are slow to compare. So
// their hash must be seeded, because otherwise an attacker could choose names that must be
// compared.
const longName = 64

// nameTag returns the tag of a name that is long, escaped or folded.
func (s *scanner) nameTag(n name, fold bool) uint32 {
	key := s.nameKey(n, fold, 0)
	if len(key) > longName {
		return uint32(s.hashName(key))
	}
	tag, _ := quickHash(key)
	return tag
}

// hashName returns a seeded hash. Because of the seed an attacker cannot choose names that collide.
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

// addMany is addName for a set whose short list is full.
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

// nameAt returns the name at this offset. The name was scanned before.
func (s *scanner) nameAt(at uint32) name {
	end, escaped := s.scanString(int(at))
	return name{int(at), end, escaped}
}

// sameName reports whether n equals the earlier name, which has the same tag. If so, it notes the
// fault.
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

// checkName notes a fault for a name that some readers read as another name. Such readers use C
// strings or have prototypes.
func (s *scanner) checkName(n name) {
	key := s.nameKey(n, false, 0)
	if s.params && string(key) == "__proto__" {
		s.noteFault(CodeProto, n.from)
	}
	if bytes.ContainsFunc(key, unicode.IsControl) {
		s.noteFault(CodeControlName, n.from)
	}
}

// nameKey returns a name in the form in which readers compare it: unescaped, and folded if fold is
// true. The result may be in the memory of the frame or of the scratch buffer with the number buf.
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

// quickHash returns a cheap hash that ignores the case of ASCII letters. The second result reports
// whether a byte is DEL or not ASCII.
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
