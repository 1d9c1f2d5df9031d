package sql

import (
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/textclass"
)

// lexQuoted scans a string or an identifier in quotes. Two quotes in a row stand for one quote.
func (x *lexer) lexQuoted(k kind, q byte, backslash bool) flaw {
	if k == text && x.escaped == len(x.toks) {
		return doubtful
	}
	start := x.pos
	for x.pos++; x.pos < len(x.src); x.pos++ {
		c := x.src[x.pos]
		// In a double-byte encoding (GBK, Shift JIS), a byte of 0x40 and above may be the second
		// half of the previous character.
		if (c == '\\' && backslash || c == q && q >= 0x40) && x.src[x.pos-1] >= utf8.RuneSelf {
			return doubtful
		}
		switch {
		case c == '\\' && backslash:
			x.pos++
		case c != q:
		case x.peekByte(1) == q:
			x.pos++
		default:
			x.pos++
			return x.emitToken(k, start)
		}
	}
	return broken
}

// lexBracket scans a square bracket.
func (x *lexer) lexBracket() flaw {
	start := x.pos
	switch x.bracket {
	case subscript:
		x.pos++
		return x.emitToken(mark, start)
	case nameTwice:
		return x.lexQuoted(quoted, ']', false)
	case name:
		n := strings.IndexByte(x.src[x.pos:], ']')
		if n < 0 {
			return broken
		}
		x.pos += n + 1
		return x.emitToken(quoted, start)
	}
	return broken
}

// lineComment skips to the end of the line. Only \n ends a line in every dialect.
func (x *lexer) lineComment() flaw {
	rest := x.src[x.pos:]
	if n := strings.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n]
	}
	if cr := strings.IndexByte(rest, '\r'); cr >= 0 && cr != len(rest)-1 {
		return doubtful
	}
	if strings.ContainsAny(rest, textclass.OddLineBreaks) {
		return doubtful
	}
	x.pos += len(rest)
	return sound
}

// skipComment skips a comment between /* and */. A comment that MySQL or MariaDB
// executes, and an optimizer hint that sets a variable, are in doubt.
func (x *lexer) skipComment() flaw {
	start, depth := x.pos, 0
	for x.pos < len(x.src) {
		switch {
		case x.peekByte(0) == '/' && x.peekByte(1) == '*' && (x.nested || depth == 0):
			depth++
			x.pos += 2
		case x.peekByte(0) == '*' && x.peekByte(1) == '/':
			depth--
			x.pos += 2
		default:
			x.pos++
		}
		if depth == 0 {
			return x.checkComment(x.src[start:x.pos])
		}
	}
	return broken
}

func (x *lexer) checkComment(c string) flaw {
	if x.executable && (strings.HasPrefix(c, "/*!") || strings.HasPrefix(c, "/*M!") || strings.HasPrefix(c, "/*m!")) {
		return doubtful
	}
	if strings.HasPrefix(c, "/*+") && (strings.Contains(strings.ToLower(c), "set") || strings.ContainsAny(c, "'\"`")) {
		return doubtful // a name in quotes may contain the characters that end a comment
	}
	return sound
}

// quoteLike are characters that become a quote or a backslash when a legacy encoding replaces them
// by their best fit (the Windows best-fit tables, and NFKC).
const quoteLike = "\u02b9\u02ba\u02bc\u02c8\u2032\u2033\u2035\u2036\uff02\uff07\uff3c\uff40\ufe68"

// isPlainText reports whether all programs see the same end of the text and of its strings. It
// returns false for characters that programs treat differently.
func isPlainText(src string) bool {
	if strings.ContainsAny(src, quoteLike) {
		return false
	}
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRuneInString(src[i:])
		i += n
		switch {
		case r == utf8.RuneError && n == 1, r == '\ufeff', r >= 0x7f && r < 0xa0:
			return false
		case r < ' ' && r != '\t' && r != '\n' && r != '\r':
			return false
		case (r == '¥' || r == '₩') && i < len(src) && strings.IndexByte("'\"`\\", src[i]) >= 0:
			return false // in Shift JIS and EUC-KR this character is the byte 0x5c, a backslash
		}
	}
	return true
}
