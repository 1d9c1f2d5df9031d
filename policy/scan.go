package policy

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

func (sc *scanner) blanks() {
	for sc.at < len(sc.src) {
		switch sc.src[sc.at] {
		case ' ', '\t', '\r', '\n':
			sc.at++
		default:
			return
		}
	}
}

// peek is the next byte, 0 at the end.
func (sc *scanner) peek() byte {
	if sc.at < len(sc.src) {
		return sc.src[sc.at]
	}
	return 0
}

func (sc *scanner) take(c byte) bool {
	if sc.peek() != c {
		return false
	}
	sc.at++
	return true
}

// enter steps into an object or an array; more says that something is in it.
func (sc *scanner) enter(open byte) (more, ok bool) {
	if sc.depth++; sc.depth > maxDepth || !sc.take(open) {
		return false, false
	}
	sc.blanks()
	if sc.take(open + 2) { // } after {, ] after [
		sc.depth--
		return false, true
	}
	return true, true
}

// after steps over what stands behind a member or an element.
func (sc *scanner) after(end byte) (more, ok bool) {
	sc.blanks()
	if sc.take(',') {
		sc.blanks()
		return true, true
	}
	sc.depth--
	return false, sc.take(end)
}

// members visits the members of an object, each at its value.
func (sc *scanner) members(visit func(key string) bool) bool {
	more, ok := sc.enter('{')
	for more {
		key, found := sc.key()
		if !found || !visit(key) {
			return false
		}
		more, ok = sc.after('}')
	}
	return ok
}

// elements visits the elements of an array, each at its start.
func (sc *scanner) elements(visit func() bool) bool {
	more, ok := sc.enter('[')
	for more {
		if !visit() {
			return false
		}
		more, ok = sc.after(']')
	}
	return ok
}

// key reads the name of a member, up to its value.
func (sc *scanner) key() (string, bool) {
	key, ok := sc.str()
	sc.blanks()
	if !ok || !sc.take(':') {
		return "", false
	}
	sc.blanks()
	return key, true
}

// skip passes over one value.
func (sc *scanner) skip() bool {
	switch sc.peek() {
	case '"':
		return sc.quoted()
	case '{':
		return sc.members(func(string) bool { return sc.skip() })
	case '[':
		return sc.elements(sc.skip)
	}
	start := sc.at
	for sc.at < len(sc.src) {
		switch c := sc.src[sc.at]; {
		case '0' <= c && c <= '9', isLetter(c), c == '-', c == '+', c == '.':
			sc.at++
		default:
			return sc.word(start)
		}
	}
	return sc.word(start)
}

// quoted passes over a string.
func (sc *scanner) quoted() bool {
	for start := sc.at + 1; ; {
		n := strings.IndexByte(sc.src[start:], '"')
		if n < 0 {
			return false
		}
		end := start + n
		back := end
		for back > start && sc.src[back-1] == '\\' {
			back--
		}
		start = end + 1
		if (end-back)%2 == 0 { // else the last backslash escapes it
			sc.at = start
			return true
		}
	}
}

// str reads a string and decodes it.
func (sc *scanner) str() (string, bool) {
	if sc.peek() != '"' {
		return "", false
	}
	start := sc.at + 1
	end := strings.IndexByte(sc.src[start:], '"')
	if end < 0 {
		return "", false
	}
	if s := sc.src[start : start+end]; strings.IndexByte(s, '\\') < 0 {
		sc.at = start + end + 1
		return s, true
	}
	if !sc.quoted() {
		return "", false
	}
	return unquote(sc.src[start : sc.at-1])
}

// unquote decodes the escapes of a JSON string (RFC 8259, section 7).
func unquote(s string) (string, bool) {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b = append(b, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case '"', '\\', '/':
			b = append(b, c)
		case 'u':
			r, ok := codeUnit(s[i+1:])
			if !ok {
				return "", false
			}
			i += 4
			if utf16.IsSurrogate(r) && len(s) > i+2 && s[i+1] == '\\' && s[i+2] == 'u' {
				low, _ := codeUnit(s[i+3:])
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					r = pair
					i += 6
				}
			}
			b = utf8.AppendRune(b, r)
		default:
			return "", false
		}
	}
	return string(b), true
}

// codeUnit reads the four digits of a \u escape.
func codeUnit(s string) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	var r rune
	for i := range 4 {
		d := hexDigit(s[i])
		if d < 0 {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}
