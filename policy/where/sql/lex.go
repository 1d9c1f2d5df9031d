package sql

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// flaw is the result of splitting a text into tokens.
type flaw uint8

const (
	sound    flaw = iota
	doubtful      // a server might split it in another way
	broken        // no server of this dialect accepts it
)

// lexis is one way in which a server may split a text into tokens. Each boolean field is true if
// the sentence in its comment is true.
type lexis struct {
	backslash    bool // '\'' is one string, because a backslash escapes the quote
	doubleString bool // "…" is a string
	backtick     bool // `…` is an identifier
	nested       bool // comments nest
	hashComment  bool // # begins a comment
	dashSpace    bool // -- begins a comment only before white space
	dollarString bool // $tag$…$tag$ is a string
	escapeString bool // E'\'' is a string
	executable   bool // /*!…*/ is executed
	at           bool // @name is a variable
	dollarParam  bool // $name is a variable, and $name(…) is one token
	// attributes means that a.f may be the call f(a), and that operators may be
	// user-defined functions.
	attributes bool
	// setting means that a server reads a text in this way only with a certain setting. If the
	// server refuses a text with this setting, the text can still be read-only.
	setting bool
	// lineEnds means that a line with GO or a slash ends a statement in some clients (sqlcmd, the
	// shell of SQLite).
	lineEnds bool
	// transact means SQL Server: $ begins a number, and a line that begins with a colon is a
	// command to the client (sqlcmd).
	transact bool
	// differs is the byte that the setting is about. For a text without this byte the setting
	// changes nothing.
	differs byte
	// bracket is the meaning of […].
	bracket bracket
	// wordChars are additional characters of a bare word.
	wordChars string
}

// bracket is the meaning of a square bracket in a dialect.
type bracket uint8

const (
	noBracket bracket = iota // square brackets are not allowed
	subscript                // punctuation
	name                     // quotes around an identifier, which ends at the first ]
	nameTwice                // quotes around an identifier, in which ]] stands for ]
)

type lexer struct {
	*lexis
	src  string
	pos  int
	toks []token
	// escaped is the value of len(toks) directly after an E'…' string, and -1 before the first such
	// string. A string that directly follows may continue the E'…' string, and then it also has
	// escapes.
	escaped int
}

// lexText splits src into tokens, appends them to toks, and stops at the first flaw.
func (l *lexis) lexText(src string, toks []token) ([]token, flaw) {
	x := &lexer{lexis: l, src: src, toks: toks, escaped: -1}
	for x.pos < len(src) {
		if f := x.lexToken(); f != sound {
			return x.toks, f
		}
	}
	return x.toks, sound
}

// peekByte returns the byte n after the cursor, or zero after the end.
func (x *lexer) peekByte(n int) byte {
	if x.pos+n < len(x.src) {
		return x.src[x.pos+n]
	}
	return 0
}

func (x *lexer) emitToken(k kind, start int) flaw {
	x.toks = append(x.toks, token{kind: k, start: int32(start), end: int32(x.pos)})
	return sound
}

func (x *lexer) lexToken() flaw {
	start, c := x.pos, x.peekByte(0)
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r' && x.peekByte(1) == '\n':
		x.pos++
		return sound
	case c < ' ' || c == 0x7f:
		return doubtful
	case c == '-' && x.peekByte(1) == '-' && (!x.dashSpace || x.peekByte(2) <= ' '):
		return x.lineComment()
	case c == '#' && x.hashComment:
		return x.lineComment()
	case c == '/' && x.peekByte(1) == '*':
		return x.skipComment()
	case c == '\'':
		return x.lexQuoted(text, '\'', x.backslash)
	case c == '"' && x.doubleString:
		return x.lexQuoted(text, '"', x.backslash)
	case c == '"':
		return x.lexQuoted(quoted, '"', false)
	case c == '`' && x.backtick:
		return x.lexQuoted(quoted, '`', false)
	case c == '[':
		return x.lexBracket()
	case c >= '0' && c <= '9':
		return x.lexNumber()
	case c == '$':
		return x.lexDollar()
	case c == '@' && x.at, c == ':', c == '#' && x.dollarParam:
		return x.lexVariable()
	case c == '!' && strings.IndexByte("=<>~", x.peekByte(1)) < 0, c == '*' && x.peekByte(1) == '/':
		return doubtful // in some dialects these characters are an operator: !1, !!q, 2*/**/3
	case c == '/' && x.lineEnds && x.startsLine(start) && x.endsLine(start+1):
		return doubtful
	case c == ']' && x.bracket != subscript:
		return broken
	case isLetter(c) || c >= utf8.RuneSelf || strings.IndexByte(x.wordChars, c) >= 0:
		return x.lexWord()
	case strings.IndexByte("!%&()*+,-./;<=>?@^|~]#", c) >= 0:
		x.pos++
		return x.emitToken(mark, start)
	case x.attributes && c != '`', c == '[':
		return broken
	}
	return doubtful // MySQL accepts {d '…'} and \N
}

// startsLine reports whether only blanks stand before a position in its line.
func (x *lexer) startsLine(at int) bool {
	before := strings.TrimRight(x.src[:at], " \t")
	return before == "" || before[len(before)-1] == '\n'
}

// endsLine reports whether only blanks and comments stand after a position in its line.
func (x *lexer) endsLine(at int) bool {
	rest, _, _ := strings.Cut(x.src[at:], "\n")
	rest = strings.TrimLeft(rest, " \t\r")
	return rest == "" || strings.HasPrefix(rest, "--") || strings.HasPrefix(rest, "/*")
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// lexWord scans a bare word. In Postgres the word may be the prefix of a string that has escapes.
func (x *lexer) lexWord() flaw {
	start := x.pos
	if !x.wordRun() {
		return doubtful
	}
	w := x.src[start:x.pos]
	if x.lineEnds && len(w) == 2 && strings.EqualFold(w, "go") && x.startsLine(start) {
		return doubtful
	}
	if x.executable && strings.IndexByte(w, 0xa0) >= 0 {
		return doubtful // if the client writes Latin-1, this byte of a letter is a blank
	}
	if x.escapeString && len(w) == 1 {
		switch {
		case w[0]|0x20 == 'e' && x.peekByte(0) == '\'':
			f := x.lexQuoted(text, '\'', true)
			x.escaped = len(x.toks)
			return f
		case w[0]|0x20 == 'u' && x.peekByte(0) == '&' && x.peekByte(1) == '"':
			return doubtful // a name with escapes (U&"…"); the text can choose the escape character
		case w[0]|0x20 == 'u' && x.peekByte(0) == '&' && x.peekByte(1) == '\'':
			if x.backslash {
				return broken // a server without standard_conforming_strings refuses it
			}
			x.pos++ // the escapes need not be decoded, because no escape gives a quote
			return x.lexQuoted(text, '\'', false)
		}
	}
	return x.emitToken(word, start)
}

// wordRun scans the characters of a word. It refuses letters that another encoding, a
// case mapping or a normal form could turn into an ASCII letter.
func (x *lexer) wordRun() bool {
	for x.pos < len(x.src) {
		c := x.src[x.pos]
		if c < utf8.RuneSelf {
			if !isLetter(c) && !isDigit(c) && c != '$' && strings.IndexByte(x.wordChars, c) < 0 {
				return true
			}
			x.pos++
			continue
		}
		r, n := utf8.DecodeRuneInString(x.src[x.pos:])
		if !unicode.In(r, unicode.L, unicode.M, unicode.N) || r == 'ı' || r == 'İ' ||
			!norm.NFKC.IsNormalString(x.src[x.pos:x.pos+n]) {
			return false
		}
		x.pos += n
	}
	return true
}

// lexNumber scans a number. A text is in doubt if some servers read a number and a word in it, and
// other servers read one word.
func (x *lexer) lexNumber() flaw {
	start := x.pos
	if c := x.peekByte(1) | 0x20; x.peekByte(0) == '0' && (c == 'x' || c == 'b' || c == 'o') {
		x.pos += 2
		for isDigit(x.peekByte(0)) || x.peekByte(0)|0x20 >= 'a' && x.peekByte(0)|0x20 <= 'f' {
			x.pos++
		}
	} else {
		x.skipDigits()
		if x.peekByte(0) == '.' && x.peekByte(1) != '.' {
			x.pos++
			x.skipDigits()
		}
		if x.peekByte(0)|0x20 == 'e' {
			sign := 1
			if x.peekByte(1) == '+' || x.peekByte(1) == '-' {
				sign = 2
			}
			if isDigit(x.peekByte(sign)) {
				x.pos += sign
				x.skipDigits()
			}
		}
	}
	if c := x.peekByte(0); isLetter(c) || c == '$' || c >= utf8.RuneSelf || c == '@' || c == '#' && x.wordChars != "" {
		return doubtful
	}
	return x.emitToken(number, start)
}

func (x *lexer) skipDigits() {
	for isDigit(x.peekByte(0)) || x.peekByte(0) == '_' && isDigit(x.peekByte(1)) {
		x.pos++
	}
}

// lexDollar scans a parameter or a dollar-quoted string.
func (x *lexer) lexDollar() flaw {
	start := x.pos
	x.pos++
	if x.dollarString && isDigit(x.peekByte(0)) {
		x.skipDigits()
		if isLetter(x.peekByte(0)) || x.peekByte(0) == '$' {
			return doubtful
		}
		return x.emitToken(param, start)
	}
	if x.transact && !isLetter(x.peekByte(0)) {
		for isDigit(x.peekByte(0)) {
			x.pos++
		}
		if c := x.peekByte(0); x.pos == start+1 || isLetter(c) || c >= utf8.RuneSelf || strings.IndexByte(".$@#", c) >= 0 && x.pos < len(x.src) {
			return doubtful // the rest may be a separate word, for example after $1
		}
		return x.emitToken(number, start)
	}
	for c := x.peekByte(0); isLetter(c) || isDigit(c) || c >= utf8.RuneSelf; c = x.peekByte(0) {
		x.pos++
	}
	if !x.dollarString {
		if x.pos == start+1 || x.peekByte(0) == '$' {
			return doubtful
		}
		return x.variableEnd(start)
	}
	if x.peekByte(0) != '$' {
		return broken
	}
	x.pos++
	tag := x.src[start:x.pos]
	n := strings.Index(x.src[x.pos:], tag)
	if n < 0 {
		return broken
	}
	x.pos += n + len(tag)
	return x.emitToken(text, start)
}

// lexVariable scans @name and @@name, SQLite's :name and #name, and the marks := and ::. Other
// servers read a colon as a separate token, and then read the text after the colon, such as an
// E'…'.
func (x *lexer) lexVariable() flaw {
	start, c := x.pos, x.peekByte(0)
	x.pos++
	next := x.peekByte(0)
	switch {
	case c == ':' && (next == '=' || next == ':') && !(x.dollarParam && x.peekByte(1) == ':'):
		x.pos++
		return x.emitToken(mark, start)
	case c == ':' && x.transact && x.startsLine(start):
		return doubtful
	case c == ':' && !x.dollarParam:
		return x.emitToken(mark, start)
	case c == '@' && next == '@':
		x.pos++
		next = x.peekByte(0)
	}
	if x.dollarParam && next == ':' && x.peekByte(1) == ':' {
		return doubtful
	}
	if !isLetter(next) && next < utf8.RuneSelf && !(x.dollarParam && (isDigit(next) || next == '$')) {
		return x.emitToken(mark, start)
	}
	if !x.wordRun() {
		return doubtful
	}
	return x.variableEnd(start)
}

// variableEnd ends a variable. SQLite reads parentheses after a variable as part of the variable's
// name (tokenize.c). So a text with such parentheses is in doubt in every dialect.
func (x *lexer) variableEnd(start int) flaw {
	if x.peekByte(0) == '(' || x.dollarParam && x.peekByte(0) == ':' && x.peekByte(1) == ':' {
		return doubtful
	}
	return x.emitToken(param, start)
}
