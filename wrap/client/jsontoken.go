package client

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// readKey reads the name of a member: a string, or in JSON5 also a name without quotes.
func (j *jsonReader) readKey() bool {
	c := j.peekByte()
	switch {
	case j.err != nil:
	case c == '"' || c == '\'' && j.format == JSON5:
		j.skipString()
	case j.format == JSON5 && j.readBareName():
	default:
		j.failRead(j.at, "a key is missing before %q", j.currentCharacter())
	}
	return j.err == nil
}

// readBareName reads a name without quotes (an identifier name of ECMAScript 5.1). It returns false
// if there is none.
func (j *jsonReader) readBareName() bool {
	start := j.at
	for j.at < len(j.src) {
		r, size := utf8.DecodeRune(j.src[j.at:])
		switch {
		case r == '\\' && hexDigits(j.src[j.at+1:], 'u', 4):
			size = 6
		case r == '$' || r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r):
		case j.at > start && (unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r) ||
			unicode.Is(unicode.Pc, r) || r == '\u200c' || r == '\u200d'):
		default:
			return j.at > start
		}
		j.at += size
	}
	return j.at > start
}

// wideSpace returns the length of a blank that only JSON5 allows; 0 if there is none.
func (j *jsonReader) wideSpace() int {
	r, size := utf8.DecodeRune(j.src[j.at:])
	if r == '\v' || r == '\f' || r == '\u2028' || r == '\u2029' || r == '\ufeff' || unicode.Is(unicode.Zs, r) {
		return size
	}
	return 0
}

// skipString skips a string and checks its escapes.
func (j *jsonReader) skipString() {
	start, quote := j.at, j.src[j.at]
	for j.at++; j.at < len(j.src); {
		switch c := j.src[j.at]; {
		case c == quote:
			j.at++
			return
		case c == '\\':
			j.skipEscape()
		case c < ' ' && (j.format != JSON5 || c == '\n' || c == '\r'):
			j.failRead(j.at, "a control character inside a string")
		default:
			j.at++
		}
	}
	j.failRead(start, "a string that does not end")
}

func (j *jsonReader) skipEscape() {
	rest := j.src[j.at+1:]
	switch {
	case len(rest) == 0:
		j.at++
	case bytes.IndexByte([]byte(`"\/bfnrt`), rest[0]) >= 0:
		j.at += 2
	case hexDigits(rest, 'u', 4):
		j.at += 6
	case j.format != JSON5 || rest[0] == 'u' || rest[0] >= '1' && rest[0] <= '9':
		j.failRead(j.at, "an escape that does not exist")
	case rest[0] == 'x':
		if !hexDigits(rest, 'x', 2) {
			j.failRead(j.at, "an escape that does not exist")
			return
		}
		j.at += 4
	case bytes.HasPrefix(rest, []byte("\r\n")):
		j.at += 3
	default:
		_, size := utf8.DecodeRune(rest)
		j.at += 1 + size
	}
}

// hexDigits reports whether text begins with one byte, given by the parameter mark, and n
// hexadecimal digits.
func hexDigits(text []byte, mark byte, n int) bool {
	if len(text) <= n || text[0] != mark {
		return false
	}
	for _, c := range text[1 : n+1] {
		if !isHex(c) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// readLiteral reads a literal such as true. It returns false and reads nothing if other text is
// there, or if a letter or digit follows.
func (j *jsonReader) readLiteral(literal string) bool {
	if !bytes.HasPrefix(j.src[j.at:], []byte(literal)) {
		return false
	}
	end := j.at + len(literal)
	if end < len(j.src) && (isDigit(j.src[end]) || j.src[end]|0x20 >= 'a' && j.src[end]|0x20 <= 'z') {
		return false
	}
	j.at = end
	return true
}

// readNumber reads a number of RFC 8259; in JSON5 also +1, .5, 5., 0x1f, Infinity and NaN. It
// returns false if there is none.
func (j *jsonReader) readNumber() bool {
	start := j.at
	if c := j.peekByte(); c == '-' || c == '+' && j.format == JSON5 {
		j.at++
	}
	if j.format == JSON5 && (j.readLiteral("Infinity") || j.readLiteral("NaN")) {
		return true
	}
	if rest := j.src[j.at:]; j.format == JSON5 && len(rest) > 2 && rest[0] == '0' && rest[1]|0x20 == 'x' {
		j.at += 2
		return j.skipRun(isHex) > 0
	}
	leading := j.at
	whole, part := j.skipRun(isDigit), -1
	if j.peekByte() == '.' {
		j.at++
		part = j.skipRun(isDigit)
	}
	ok := whole > 0 && part != 0 || j.format == JSON5 && (whole > 0 || part > 0)
	if whole > 1 && j.src[leading] == '0' {
		ok = false
	}
	if ok && j.peekByte()|0x20 == 'e' {
		j.at++
		if c := j.peekByte(); c == '+' || c == '-' {
			j.at++
		}
		ok = j.skipRun(isDigit) > 0
	}
	if !ok {
		j.at = start
	}
	return ok
}

func (j *jsonReader) skipRun(accepts func(byte) bool) int {
	start := j.at
	for j.at < len(j.src) && accepts(j.src[j.at]) {
		j.at++
	}
	return j.at - start
}
