package redact

import (
	"bytes"
	"strings"
)

// Functions that find the end of a value in the format that contains the value.

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// quotedEnd finds the quote that closes the quote at s[open]. It returns the index of the closing
// quote. If backslashes before the closing quote belong to it, quotedEnd returns the index of the
// first backslash instead. It returns -1 if no quote in the same line closes s[open]. A backslash
// or a second quote escapes the quotes " and ', but does not escape a backtick. In a text that is
// itself escaped, the closing quote has as many backslashes as the opening quote.
func quotedEnd(s []byte, open int) int {
	quote, level := s[open], 0
	for level < open && s[open-level-1] == '\\' {
		level++
	}
	slashes := 0
	for at := open + 1; at < len(s) && s[at] != '\n' && s[at] != '\r'; at++ {
		switch {
		case s[at] == '\\' && quote != '`':
			slashes++
			continue
		case s[at] != quote:
		case slashes < level: // this quote ends the text around it
			return at - slashes
		case (slashes-level)/(level+1)%2 == 1:
		case level == 0 && at > open+1 && at+1 < len(s) && s[at+1] == quote && quote != '`':
			at++
		default:
			return at - level
		}
		slashes = 0
	}
	return -1
}

// braceEnd returns the place after the closing brace of a value in braces (ODBC, JDBC). A doubled
// brace stands for one brace of the value. If no brace closes the value in the same line, braceEnd
// returns the parameter least.
func braceEnd(value []byte, least int) int {
	first := least
	for at := 1; at < len(value) && value[at] != '\n' && value[at] != '\r'; at++ {
		if value[at] != '}' {
			continue
		}
		if at+1 == len(value) || value[at+1] != '}' {
			return at
		}
		if first == least {
			first = max(at, least)
		}
		at++
	}
	return first
}

// settingEnd returns the end of the value of a setting in a connection string. The value ends at
// the sign between settings, at its closing brace, or at the quote or tag around the connection
// string. If the line has no such sign, the value ends at a blank. s[from:to] is the value that
// valueAfter found without knowing about connections.
func (r *reading) settingEnd(from, to int, c *connection) int {
	if isQuote(r.s[from-1]) || quoteReference(r.s[max(0, from-len("&quot;")):from], true) > 0 {
		return to
	}
	to = from + len(beforeMarkup(r.s[from:to]))
	line := r.s[from:min(len(r.s), from+maxConnection)]
	if line[0] == '{' && c.between != '&' {
		return from + braceEnd(line, to-from)
	}
	outer := byte(0)
	if c.open > 0 && isQuote(r.s[c.open-1]) && c.open != memberEnd(r.s) {
		outer = r.s[c.open-1]
	}
	at, blank := 0, -1 // blank: index of the first blank; -1 for none
	for ; at < len(line); at++ {
		switch b := line[at]; {
		case b == ' ' && c.between != ';', b < ' ' && b != '\t':
			return r.beforeClosers(from, from+at, to)
		case b == c.between:
			if blank < 0 || beginsSetting(line[at+1:]) {
				return max(from+at, to)
			}
			return r.beforeClosers(from, from+blank, to)
		case b == outer:
			if blank < 0 || at-blank < maxBlanks && beginsConnection(r.s[c.open:]) {
				return r.beforeClosers(from, from+at, to)
			}
			return r.beforeClosers(from, from+blank, to)
		case (b == '<' || b == '&') && markupLength(line[at:]) > 0:
			at, line = at-1, line[:at]
		case blank < 0 && (b == ' ' || b == '\t' || lineEscape(line[at:]) > 0):
			blank = at
		}
	}
	if blank >= 0 {
		at = blank
	}
	return r.beforeClosers(from, from+at, to)
}

// beforeClosers returns the end of the value s[from:to] without the signs at its end that close
// something around it. The result is never smaller than the parameter least.
func (r *reading) beforeClosers(from, to, least int) int {
	return max(from+len(bytes.TrimRight(r.s[from:to], closers)), least)
}

// memberEnd returns the offset of TEXT if s has the form NAME":"TEXT, and 0 otherwise. The text of
// a member of a message is searched in this form, together with the member's name and without the
// quotes around both.
func memberEnd(s []byte) int {
	const between = `":"`
	n := bytes.IndexAny(s[:min(len(s), maxSign)], "\"\n")
	if n < 0 || !bytes.HasPrefix(s[n:], []byte(between)) {
		return 0
	}
	return n + len(between)
}

// maxBlanks is the maximum number of bytes from the first blank in a password to the quote that
// ends the connection string.
const maxBlanks = 64

// closers are signs that often follow a value and are not a part of it.
const closers = ")]}>,.'\"`|*\\:"

// beginsSetting reports whether s begins with another setting, or with the end of the connection
// string.
func beginsSetting(s []byte) bool {
	s = s[skipBytes(s[:min(len(s), 64)], 0, " "):]
	n := 0
	for n < len(s) && n < 64 && (isWord[s[n]] || s[n] == ' ' || s[n] == '-' || s[n] == '.') {
		n++
	}
	if n == 0 {
		return len(s) == 0 || s[0] < ' ' || isQuote(s[0]) || s[0] == '<'
	}
	return n < len(s) && s[n] == '='
}

// beginsConnection reports whether s begins with a setting and not with other words.
func beginsConnection(s []byte) bool {
	n := bytes.IndexByte(s[:min(len(s), 64)], '=')
	return n > 0 && endsWithName(s[:n], servers[:])
}

// outerEnd returns the end of the value s[from:to]. The value belongs to an address, an option or
// an entry that begins at s[begin]. A quote that was open before s[begin], or that ends an element
// of a list, ends the value.
func outerEnd(s []byte, begin, from, to int) int {
	outer := enclosure{s: s, at: begin}
	for at := from; ; at++ {
		next := indexQuote(s[at:to])
		if next < 0 {
			return to
		}
		at += next
		end := at
		for end > from && s[end-1] == '\\' {
			end--
		}
		if endsElement(s[at+1:to]) || outer.isOpen(s[at], end < at) {
			return end
		}
	}
}

// indexQuote returns the index of the first quote; -1 if there is none. It searches each sort of
// quote alone, because that is faster in long texts without quotes.
func indexQuote(s []byte) int {
	first := -1
	for _, quote := range []byte("\"'`") {
		if i := bytes.IndexByte(s, quote); i >= 0 {
			first, s = i, s[:i]
		}
	}
	return first
}

// enclosure tells which quotes are open at s[at]. It reads the beginning of the line once.
type enclosure struct {
	s    []byte
	at   int
	read bool
	open [2][4]bool // first index: 1 for a quote after a backslash, otherwise 0; second index: the last two bits of the quote
}

// isOpen reports whether a quote of this sort is open at s[at]. escaped means a quote after a
// backslash. An apostrophe between two letters is no quote.
func (e *enclosure) isOpen(quote byte, escaped bool) bool {
	if !e.read {
		e.read = true
		line := e.s[max(0, e.at-maxCommand):e.at]
		line = line[bytes.LastIndexByte(line, '\n')+1:]
		for n, c := range line {
			switch {
			case !isQuote(c), c == '\'' && n > 0 && n+1 < len(line) && isAlnum[line[n-1]] && isAlnum[line[n+1]]:
			case n > 0 && line[n-1] == '\\':
				e.open[1][c&3] = !e.open[1][c&3]
			default:
				e.open[0][c&3] = !e.open[0][c&3]
			}
		}
	}
	if escaped {
		return e.open[1][quote&3]
	}
	return e.open[0][quote&3]
}

// endsElement reports whether the text after a quote shows that the quote ends an element of a
// list, an argument or a text.
func endsElement(behind []byte) bool {
	if len(behind) == 0 {
		return true
	}
	next := byte(' ')
	if len(behind) > 1 {
		next = behind[1]
	}
	switch behind[0] {
	case ',', ':':
		return next == ' ' || isQuote(next) || next == '{' || next == '['
	case '}', ']', ')', ';':
		return !isAlnum[next]
	}
	return behind[0] <= ' '
}

// insideBase64 reports whether s[from:to] is only a part of a longer run of base64. In a run of
// base64 the signs + and / can separate such a part.
func insideBase64(s []byte, from, to int) bool {
	const side = 256
	return from >= side && len(s)-to >= side && classes[s[from-1]]&slashes != 0 && classes[s[to]]&slashes != 0 &&
		ofClass(s[from:to], alnum) && isBase64(s[from-side:from]) && isBase64(s[to:to+side])
}

// isBase64 reports whether s looks like base64: it has only base64 letters, and as many different
// ones as encoded data has.
func isBase64(s []byte) bool {
	seen := [256]bool{}
	upper, lower, digits := 0, 0, 0
	for _, c := range s {
		switch {
		case classes[c]&(alnum|slashes) == 0:
			return false
		case seen[c]:
			continue
		case c >= 'a':
			lower++
		case c >= 'A':
			upper++
		default:
			digits++
		}
		seen[c] = true
	}
	return upper >= 6 && lower >= 6 && digits >= 3
}

// quoteReference returns the length of an HTML reference for a quote, such as &quot;. The reference
// is at the start of s or, if atEnd is set, at the end of s. The result is 0 if there is no such
// reference.
func quoteReference(s []byte, atEnd bool) int {
	for _, name := range [...]string{"&quot;", "&#34;", "&#39;", "&apos;", "&#x22;", "&#x27;", "&#039;"} {
		if !atEnd && bytes.HasPrefix(s, []byte(name)) || atEnd && bytes.HasSuffix(s, []byte(name)) {
			return len(name)
		}
	}
	return 0
}

// markupLength returns the length of the markup at the start of s that ends a text: an end tag, a
// line break, or an HTML reference for a quote. It returns 0 if s begins with something else.
func markupLength(s []byte) int {
	for _, mark := range [...]string{"</", "<br", "&lt;"} {
		if bytes.HasPrefix(s, []byte(mark)) {
			return len(mark)
		}
	}
	return quoteReference(s, false)
}

// beforeMarkup returns the part of a word before markup that ends a text. The last word of a
// command is often followed by the end tag of its element.
func beforeMarkup(word []byte) []byte {
	for at := 1; at < len(word); at++ {
		n := bytes.IndexAny(word[at:], "<&")
		if n < 0 {
			break
		}
		if at += n; markupLength(word[at:]) > 0 {
			return word[:at]
		}
	}
	return word
}

// referenceSpan returns the text between the HTML reference for a quote at s[at] and the next
// reference of the same kind in the line. If there is no such reference, the second offset is -1.
func referenceSpan(s []byte, at int) (from, to int) {
	n := quoteReference(s[at:], false)
	if n == 0 {
		return at, -1
	}
	from = at + n
	for to = from; to < len(s) && strings.IndexByte("\r\n", s[to]) < 0; to++ {
		if s[to] == '&' && bytes.HasPrefix(s[to:], s[at:from]) {
			return from, to
		}
	}
	return from, -1
}
