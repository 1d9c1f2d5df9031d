package frame

import (
	"hash/maphash"
	"strconv"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// maxDepth bounds recursion whatever the limits say.
const maxDepth = jsonscan.MaxDepth

// scanner reads one line once. A broken rule about names, numbers or depth is
// noted and the scan goes on, because only a frame that is well-formed to its
// end has an id that can be answered; anything that is not JSON stops it.
//
// Its methods take and return offsets in b; a negative one means stopped.
type scanner struct {
	b      []byte
	depth  int    // deepest nesting allowed
	result int    // the same of a result
	high   uint64 // every word of text or-ed: non-ASCII bytes show in highs

	payload payload // the params, the result or the error that is read
	params  bool    // inside params, where __proto__ is refused
	judged  bool    // names are compared folded at every depth, and big numbers noted
	noted   *Refusal
	stopped *Refusal

	seed   maphash.Seed
	plain  [2][]byte // scratch of key
	folded [2][]byte
}

// note keeps the first broken rule.
func (s *scanner) note(code string, at int) {
	if s.noted == nil {
		s.noted = refuse(code, at)
	}
}

func (s *scanner) stop(code string, at int) int {
	s.stopped = refuse(code, at)
	return -1
}

// unexpected stops at a byte no rule allows here.
func (s *scanner) unexpected(i int) int {
	if i < len(s.b) && s.b[i] < 0x20 {
		return s.stop(CodeControl, i)
	}
	return s.stop(CodeSyntax, i)
}

// finish is the verdict on a value that ended at i: what is not one JSON value
// in UTF-8 first, then the first broken rule.
func (s *scanner) finish(i int) *Refusal {
	if i >= 0 && i < len(s.b) {
		s.unexpected(i)
		if s.stopped.Code == CodeSyntax {
			s.stop(CodeTrailing, i)
		}
	}
	// UTF-8 is checked once, at the end: no byte of a multi-byte character
	// equals an ASCII one, so valid text cannot have been scanned wrongly.
	if s.stopped == nil && s.high&highs != 0 && !utf8.Valid(s.b) {
		s.stop(CodeUTF8, invalid(s.b))
	}
	if s.stopped != nil {
		return s.stopped
	}
	return s.noted
}

func invalid(b []byte) int {
	for i := 0; ; {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
}

// blank skips the only white space every reader skips. A CR here would split
// the frame in two for readers with universal newlines.
func (s *scanner) blank(i int) int {
	for i < len(s.b) && (s.b[i] == ' ' || s.b[i] == '\t') {
		i++
	}
	return i
}

// value scans the value at i, which stands inside depth others.
func (s *scanner) value(i, depth int) int {
	if i >= len(s.b) {
		return s.unexpected(i)
	}
	switch c := s.b[i]; c {
	case '"':
		end, _ := s.text(i + 1)
		if end < 0 {
			return end
		}
		return end + 1
	case '{':
		return s.object(i, depth+1, s.judged)
	case '[':
		return s.array(i, depth+1)
	case 't':
		return s.literal(i, "true")
	case 'f':
		return s.literal(i, "false")
	case 'n':
		return s.literal(i, "null")
	default:
		return s.number(i)
	}
}

func (s *scanner) literal(i int, word string) int {
	if len(s.b)-i < len(word) || string(s.b[i:i+len(word)]) != word {
		return s.unexpected(i)
	}
	return i + len(word)
}

// enter counts one more level.
func (s *scanner) enter(i, depth int) bool {
	if depth > maxDepth {
		s.stop(CodeDepth, i)
		return false
	}
	if depth > s.depth {
		s.note(CodeDepth, i)
	}
	return true
}

// object scans the object whose brace is at i. fold says whether its names may
// not differ in case only.
func (s *scanner) object(i, depth int, fold bool) int {
	if !s.enter(i, depth) {
		return -1
	}
	i = s.blank(i + 1)
	if i < len(s.b) && s.b[i] == '}' {
		return i + 1
	}
	var seen names
	for more := true; more; {
		n, v := s.member(i)
		if v < 0 {
			return v
		}
		s.add(&seen, n, fold)
		if depth == s.payload.depth {
			i = s.payloadMember(n, v)
		} else {
			i = s.value(v, depth)
		}
		if i < 0 {
			return i
		}
		i, more = s.after(i, '}')
	}
	return i
}

func (s *scanner) array(i, depth int) int {
	if !s.enter(i, depth) {
		return -1
	}
	i = s.blank(i + 1)
	if i < len(s.b) && s.b[i] == ']' {
		return i + 1
	}
	for more := true; more; {
		if i = s.value(i, depth); i < 0 {
			return i
		}
		i, more = s.after(i, ']')
	}
	return i
}

// member scans a name and its colon and returns where the value begins.
func (s *scanner) member(i int) (n name, v int) {
	if i >= len(s.b) || s.b[i] != '"' {
		return n, s.unexpected(i)
	}
	n.from = i + 1
	n.to, n.escaped = s.text(n.from)
	if n.to < 0 {
		return n, -1
	}
	if i = s.blank(n.to + 1); i >= len(s.b) || s.b[i] != ':' {
		return n, s.unexpected(i)
	}
	return n, s.blank(i + 1)
}

// after looks behind a value: at the next one, or behind the closing bracket.
func (s *scanner) after(i int, closing byte) (next int, more bool) {
	if i = s.blank(i); i >= len(s.b) {
		return s.unexpected(i), false
	}
	switch s.b[i] {
	case ',':
		return s.blank(i + 1), true
	case closing:
		return i + 1, false
	}
	return s.unexpected(i), false
}

func (s *scanner) number(i int) int {
	from := i
	if s.b[i] == '-' {
		i++
	}
	whole := s.digits(i)
	if whole < 0 {
		return whole
	}
	if whole > i+1 && s.b[i] == '0' {
		return s.unexpected(i + 1)
	}
	i = whole
	if i < len(s.b) && s.b[i] == '.' {
		if i = s.digits(i + 1); i < 0 {
			return i
		}
	}
	if i < len(s.b) && s.b[i]|0x20 == 'e' {
		if i++; i < len(s.b) && (s.b[i] == '+' || s.b[i] == '-') {
			i++
		}
		if i = s.digits(i); i < 0 {
			return i
		}
	}
	if s.judged && !kept(s.b[from:i], i == whole) {
		s.note(CodeBigNumber, from)
	}
	return i
}

// digits scans one or more.
func (s *scanner) digits(i int) int {
	from := i
	for i < len(s.b) && s.b[i]-'0' <= 9 {
		i++
	}
	if i == from {
		return s.unexpected(i)
	}
	return i
}

// kept says whether every reader keeps the number: an integer that is exact in
// a double, or a fraction a double can hold.
func kept(num []byte, integer bool) bool {
	if integer {
		return exact(num)
	}
	_, err := strconv.ParseFloat(string(num), 64)
	return err == nil
}

// exact says whether an integer literal is within ±(2^53-1), beyond which
// readers that keep doubles round (RFC 8259 section 6).
func exact(num []byte) bool {
	if num[0] == '-' {
		num = num[1:]
	}
	const most = "9007199254740991"
	return len(num) < len(most) || len(num) == len(most) && string(num) <= most
}
