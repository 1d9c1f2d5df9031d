package frame

import (
	"hash/maphash"
	"strconv"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// maxDepth limits the recursion, whatever Limits say.
const maxDepth = jsonscan.MaxDepth

// scanner reads one line once. After a fault in a name, a number or the depth, it notes the fault
// and continues. It continues because only a line that is valid JSON to its end has an id for an
// error answer. It stops at text that is not JSON.
//
// Its methods take and return offsets in b. A negative offset means that the scan has stopped.
type scanner struct {
	b      []byte
	depth  int    // maximum nesting depth
	result int    // maximum nesting depth in a result
	high   uint64 // bitwise OR of all words of text so far; a non-ASCII byte sets a bit of highs

	payload payload // the params, result or error that is being scanned
	params  bool    // the scan is in params, where __proto__ is refused
	judged  bool    // folded names are compared at every depth, and large numbers are noted
	noted   *Refusal
	stopped *Refusal

	seed   maphash.Seed
	plain  [2][]byte // scratch buffers of nameKey
	folded [2][]byte
}

// noteFault stores a fault if it is the first one.
func (s *scanner) noteFault(code string, at int) {
	if s.noted == nil {
		s.noted = refuseAt(code, at)
	}
}

func (s *scanner) stopScan(code string, at int) int {
	s.stopped = refuseAt(code, at)
	return -1
}

// stopUnexpected stops the scan at a byte that is not allowed at this place.
func (s *scanner) stopUnexpected(i int) int {
	if i < len(s.b) && s.b[i] < 0x20 {
		return s.stopScan(CodeControl, i)
	}
	return s.stopScan(CodeSyntax, i)
}

// finishScan returns the refusal of a value that ends at offset i, or nil. It returns the first of
// these: the reason why the scan stopped, invalid UTF-8, the first noted fault.
func (s *scanner) finishScan(i int) *Refusal {
	if i >= 0 && i < len(s.b) {
		s.stopUnexpected(i)
		if s.stopped.Code == CodeSyntax {
			s.stopScan(CodeTrailing, i)
		}
	}
	// UTF-8 is checked only once, at the end. This is safe because no byte of a multi-byte
	// character equals an ASCII byte, so the scan of valid text cannot go wrong.
	if s.stopped == nil && s.high&highs != 0 && !utf8.Valid(s.b) {
		s.stopScan(CodeUTF8, invalidOffset(s.b))
	}
	if s.stopped != nil {
		return s.stopped
	}
	return s.noted
}

func invalidOffset(b []byte) int {
	for i := 0; ; {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
}

// skipBlank skips the white space that every reader skips. It does not skip a CR, because readers
// with universal newlines would split the line there.
func (s *scanner) skipBlank(i int) int {
	for i < len(s.b) && (s.b[i] == ' ' || s.b[i] == '\t') {
		i++
	}
	return i
}

// scanValue scans the value at offset i. depth is the number of values around it.
func (s *scanner) scanValue(i, depth int) int {
	if i >= len(s.b) {
		return s.stopUnexpected(i)
	}
	switch c := s.b[i]; c {
	case '"':
		end, _ := s.scanString(i + 1)
		if end < 0 {
			return end
		}
		return end + 1
	case '{':
		return s.scanObject(i, depth+1, s.judged)
	case '[':
		return s.scanArray(i, depth+1)
	case 't':
		return s.scanLiteral(i, "true")
	case 'f':
		return s.scanLiteral(i, "false")
	case 'n':
		return s.scanLiteral(i, "null")
	default:
		return s.scanNumber(i)
	}
}

func (s *scanner) scanLiteral(i int, word string) int {
	if len(s.b)-i < len(word) || string(s.b[i:i+len(word)]) != word {
		return s.stopUnexpected(i)
	}
	return i + len(word)
}

// enterLevel checks whether the nesting depth is allowed.
func (s *scanner) enterLevel(i, depth int) bool {
	if depth > maxDepth {
		s.stopScan(CodeDepth, i)
		return false
	}
	if depth > s.depth {
		s.noteFault(CodeDepth, i)
	}
	return true
}

// scanObject scans the object with its brace at offset i. With fold, two names that differ only in
// case are a fault.
func (s *scanner) scanObject(i, depth int, fold bool) int {
	if !s.enterLevel(i, depth) {
		return -1
	}
	i = s.skipBlank(i + 1)
	if i < len(s.b) && s.b[i] == '}' {
		return i + 1
	}
	var seen names
	for more := true; more; {
		n, v := s.scanMember(i)
		if v < 0 {
			return v
		}
		s.addName(&seen, n, fold)
		if depth == s.payload.depth {
			i = s.payloadMember(n, v)
		} else {
			i = s.scanValue(v, depth)
		}
		if i < 0 {
			return i
		}
		i, more = s.scanNext(i, '}')
	}
	return i
}

func (s *scanner) scanArray(i, depth int) int {
	if !s.enterLevel(i, depth) {
		return -1
	}
	i = s.skipBlank(i + 1)
	if i < len(s.b) && s.b[i] == ']' {
		return i + 1
	}
	for more := true; more; {
		if i = s.scanValue(i, depth); i < 0 {
			return i
		}
		i, more = s.scanNext(i, ']')
	}
	return i
}

// scanMember scans a name and its colon. It returns the name and the offset of the value.
func (s *scanner) scanMember(i int) (n name, v int) {
	if i >= len(s.b) || s.b[i] != '"' {
		return n, s.stopUnexpected(i)
	}
	n.from = i + 1
	n.to, n.escaped = s.scanString(n.from)
	if n.to < 0 {
		return n, -1
	}
	if i = s.skipBlank(n.to + 1); i >= len(s.b) || s.b[i] != ':' {
		return n, s.stopUnexpected(i)
	}
	return n, s.skipBlank(i + 1)
}

// scanNext returns the offset of the next value, or the offset after the closing bracket.
func (s *scanner) scanNext(i int, closing byte) (next int, more bool) {
	if i = s.skipBlank(i); i >= len(s.b) {
		return s.stopUnexpected(i), false
	}
	switch s.b[i] {
	case ',':
		return s.skipBlank(i + 1), true
	case closing:
		return i + 1, false
	}
	return s.stopUnexpected(i), false
}

func (s *scanner) scanNumber(i int) int {
	from := i
	if s.b[i] == '-' {
		i++
	}
	whole := s.scanDigits(i)
	if whole < 0 {
		return whole
	}
	if whole > i+1 && s.b[i] == '0' {
		return s.stopUnexpected(i + 1)
	}
	i = whole
	if i < len(s.b) && s.b[i] == '.' {
		if i = s.scanDigits(i + 1); i < 0 {
			return i
		}
	}
	if i < len(s.b) && s.b[i]|0x20 == 'e' {
		if i++; i < len(s.b) && (s.b[i] == '+' || s.b[i] == '-') {
			i++
		}
		if i = s.scanDigits(i); i < 0 {
			return i
		}
	}
	if s.judged && !isPreserved(s.b[from:i], i == whole) {
		s.noteFault(CodeBigNumber, from)
	}
	return i
}

// scanDigits scans one or more digits.
func (s *scanner) scanDigits(i int) int {
	from := i
	for i < len(s.b) && s.b[i]-'0' <= 9 {
		i++
	}
	if i == from {
		return s.stopUnexpected(i)
	}
	return i
}

// isPreserved reports whether every reader keeps the value of the number. This is so for an integer
// that a double holds exactly, and for a fraction in the range of a double.
func isPreserved(num []byte, integer bool) bool {
	if integer {
		return isExactInteger(num)
	}
	_, err := strconv.ParseFloat(string(num), 64)
	return err == nil
}

// isExactInteger reports whether an integer is within ±(2^53-1). Readers that use doubles round
// larger integers (RFC 8259 section 6).
func isExactInteger(num []byte) bool {
	if num[0] == '-' {
		num = num[1:]
	}
	const most = "9007199254740991"
	return len(num) < len(most) || len(num) == len(most) && string(num) <= most
}
