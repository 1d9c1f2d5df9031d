package reading

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// shape holds the properties of a value that one pass over its bytes shows.
type shape uint8

const (
	hasNUL   shape = 1 << iota
	hasBreak       // the value has a line feed, a carriage return or a tab
	hasSpace       // the value has white space of any kind
	hasSlash       // the value has a slash or a backslash
	hasUpper       // the value has an ASCII capital letter
	unplain        // at least one stage could change or refuse the value
)

// shapeOf makes one pass over the bytes of a value. A value is plain if all of this is true: it is
// printable ASCII without escapes, backslashes and colons; no name in it ends in a dot or a blank;
// it has no quotes at its ends and no double slashes. cleanPath does not change a plain path.
func shapeOf(v string) shape {
	var sh shape
	prev := byte('/')
	for i := 0; i < len(v); i++ {
		c := v[i]
		class := byteClass[c]
		if class == plainByte {
			prev = c
			continue
		}
		switch class {
		case upperByte:
			sh |= hasUpper
		case slashByte:
			sh |= hasSlash
			if prev == '/' && i > 0 || prev == '.' || prev == ' ' {
				sh |= unplain
			}
		case dotByte:
			if prev == '.' || prev == ' ' || prev == '/' && i+1 == len(v) {
				sh |= unplain
			}
		case blankByte:
			sh |= hasSpace
			if i == 0 {
				sh |= unplain
			}
		case oddByte:
			sh |= oddShape(v, i)
		}
		prev = c
	}
	if len(v) > 1 && (prev == '/' || prev == '.' || prev == ' ' || isQuote(prev)) {
		sh |= unplain
	}
	if v != "" && (v[0] == '~' || v[0] == '$' || isQuote(v[0])) {
		sh |= unplain
	}
	return sh
}

func isQuote(c byte) bool { return c == '"' || c == '\'' }

const (
	plainByte = iota
	upperByte
	slashByte
	dotByte
	blankByte
	oddByte
)

var byteClass = func() (t [256]uint8) {
	for c := range t {
		switch {
		case 'A' <= c && c <= 'Z':
			t[c] = upperByte
		case c == '/':
			t[c] = slashByte
		case c == '.':
			t[c] = dotByte
		case c == ' ':
			t[c] = blankByte
		case c < ' ' || c >= 0x7F || c == '%' || c == '\\' || c == ':':
			t[c] = oddByte
		}
	}
	return t
}()

func oddShape(v string, i int) shape {
	switch c := v[i]; {
	case c == 0:
		return hasNUL | unplain
	case c == '\n' || c == '\r' || c == '\t':
		return hasBreak | hasSpace | unplain
	case c == '\\':
		return hasSlash | unplain
	case c == '\v' || c == '\f':
		return hasSpace | unplain
	case c >= utf8.RuneSelf:
		if r, _ := utf8.DecodeRuneInString(v[i:]); unicode.IsSpace(r) {
			return hasSpace | unplain
		}
	}
	return unplain
}

// pathLike reports whether the whole value can be one path or URI.
func pathLike(v string, sh shape) bool {
	if StartsLikePath(v) {
		return true
	}
	if sh&hasBreak != 0 {
		return false
	}
	if sh&hasSlash != 0 && (sh&hasSpace == 0 || hasDotDot(v)) {
		return true
	}
	return strings.IndexByte(v, '%') >= 0 && decodesToPath(v)
}

// hasDotDot reports whether a component of a value is "..". Such a value may be a path even if it
// has blanks or line breaks, because ".." removes the component that has them.
func hasDotDot(v string) bool {
	for at := 0; ; {
		i := strings.Index(v[at:], "..")
		if i < 0 {
			return false
		}
		at += i + 2
		if (at == 2 || isSlash(v[at-3])) && (at == len(v) || isSlash(v[at])) {
			return true
		}
	}
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }

func decodesToPath(v string) bool {
	for range maxDecodings {
		u := unescapeOnce(v)
		if u == v {
			return false
		}
		if v = u; StartsLikePath(v) || hasDotDot(v) {
			return true
		}
	}
	return false
}
