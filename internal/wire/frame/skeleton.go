package frame

import (
	"unicode/utf8"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Skeletons remembers how lines of one direction are built, so that it can admit a similar line by
// comparing. Parse alone defines the result: Parse would admit each line that Skeletons admits, as
// the same frame. Skeletons leaves a line to Parse when it is in doubt. The zero value is ready. It
// is not safe for concurrent use.
type Skeletons struct {
	limits Limits // the limits within which the known skeletons were admitted
	known  [8]*skeleton
	last   int     // index in known of the skeleton that admitted the last line
	next   int     // index in known of the next skeleton
	wait   int     // number of unknown lines after which the next skeleton is made
	line   scanner // scanner for the strings of the present line
	sums   [maxHoles + 1]uint32
}

// A skeleton has at most maxHoles holes and maxFixed fixed bytes. Lines longer than maxCompared go
// directly to Parse: such a line may be compared almost to its end with each skeleton, which is slow.
// After an unknown line that cannot have a skeleton, the next maxWait unknown lines get none either.
// The same holds after a new skeleton, if the next one would replace an older one.
const (
	maxHoles    = 32
	maxFixed    = 1 << 10
	maxCompared = 64 << 10
	maxWait     = 64
)

// skeleton is a line with holes. A hole is the text of a string or the digits of a small integer,
// inside the id, params, result or error. Only the holes may differ from line to line. All other bytes
// are fixed, above all the names of members, the method, and the literals.
type skeleton struct {
	holes []hole
	end   string // the bytes after the last hole

	kind        Kind
	method      string
	id          extent
	payload     int // mParams, mResult or mError; 0 when all are absent
	part        extent
	unambiguous bool
	members     []extent // the name and the value of each member in the index, in turn
}

// hole is a part of a line that may differ.
type hole struct {
	before string // the fixed bytes before the hole
	digits bool   // the hole is a number; otherwise it is the text of a string
	most   int    // maximum length of the hole
}

// place is an offset in a line. It counts the fixed bytes and the holes that come before the
// offset.
type place struct{ fixed, holes uint32 }

// extent is a part of a line. The zero value is an absent part.
type extent struct{ from, to place }

// Parse does the same as Frame.Parse, but it first compares the line with the known skeletons. A nil
// *Skeletons knows none.
func (m *Skeletons) Parse(f *Frame, line []byte, l Limits) error {
	if m == nil || len(line) > min(maxCompared, l.MaxBytes) {
		return f.Parse(line, l)
	}
	if l != m.limits {
		*m = Skeletons{limits: l}
	}
	k := m.find(line)
	if m.line.b = nil; k != nil { // set to nil, so that the line can be freed
		k.fillFrame(f, line, &m.sums)
		return nil
	}
	err := f.Parse(line, l)
	if m.wait--; err == nil && m.wait < 0 {
		m.learnLine(f, line)
	}
	return err
}

// find returns the skeleton of a line, or nil. It first tries the skeleton that the last line had.
func (m *Skeletons) find(line []byte) *skeleton {
	for n := range m.known {
		at := (m.last + n) % len(m.known)
		if k := m.known[at]; k != nil && m.fits(k, line) {
			m.last = at
			return k
		}
	}
	return nil
}

// learnLine keeps the skeleton of an admitted line. If no place is free, the skeleton replaces the
// oldest one.
func (m *Skeletons) learnLine(f *Frame, line []byte) {
	if k := newSkeleton(f, line); k != nil {
		m.known[m.next] = k
		m.next = (m.next + 1) % len(m.known)
		if m.known[m.next] == nil {
			return
		}
	}
	m.wait = maxWait
}

// fits reports whether a line has the fixed bytes of k, and in its holes only values that Parse admits
// there. It sets sums[n] to the length of the first n holes.
func (m *Skeletons) fits(k *skeleton, line []byte) bool {
	tail := len(line) - len(k.end)
	if tail < 0 || string(line[tail:]) != k.end {
		return false
	}
	s := &m.line
	s.b, s.high, s.stopped = line, 0, nil
	at := 0
	for n := range k.holes {
		h := &k.holes[n]
		from := at + len(h.before)
		if from > tail || string(line[at:from]) != h.before {
			return false
		}
		if h.digits {
			at = endOfDigits(line, from)
		} else {
			at, _ = s.scanString(from)
		}
		if at < 0 || at-from > h.most {
			return false
		}
		m.sums[n+1] = m.sums[n] + uint32(at-from)
	}
	return at == tail && (s.high&highs == 0 || utf8.Valid(line))
}

// maxDigits is the maximum number of digits of an integer for which every reader keeps the exact
// value.
const maxDigits = 15

// endOfDigits returns the end of the integer at i; -1 when there is none or it begins with a zero that
// JSON does not allow.
func endOfDigits(b []byte, i int) int {
	from := i
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	if i == from || b[from] == '0' && i > from+1 {
		return -1
	}
	return i
}

// fillFrame fills in the frame of a line that fits.
func (k *skeleton) fillFrame(f *Frame, line []byte, sums *[maxHoles + 1]uint32) {
	*f = Frame{Raw: line[:len(line):len(line)], Kind: k.kind, Method: k.method, Unambiguous: k.unambiguous}
	offset := func(p place) uint32 { return p.fixed + sums[p.holes] }
	cut := func(x extent) []byte {
		from, to := offset(x.from), offset(x.to)
		return line[from:to:to]
	}
	if k.id != (extent{}) {
		f.ID = cut(k.id)
	}
	switch k.payload {
	case mParams:
		f.Params = cut(k.part)
	case mResult:
		f.Result = cut(k.part)
	case mError:
		f.Error = cut(k.part)
	}
	begin := offset(k.part.from)
	for i := 0; i < len(k.members); i += 2 {
		name, value := &k.members[i], &k.members[i+1]
		f.Index.AddMember(jsonscan.Span{
			Name: offset(name.from) - begin, NameEnd: offset(name.to) - begin,
			Value: offset(value.from) - begin, End: offset(value.to) - begin,
		})
	}
}
