package redact

import (
	"bytes"
	"strings"
)

// netrc reads the words of an entry of netrc. A tool may have written the same sign before each of
// its lines, and an entry may be an escaped text or the elements of a list.
type netrc struct {
	s    []byte
	sign []byte // what stands before the entry in its line
}

// netrcKeys are the words that a value follows.
var netrcKeys = [...]string{"login", "password", "account", "port"}

// netrcAt reads the password of "machine HOST login USER password PASSWORD", in any order, and of
// the default entry. Where two lines of a diff have a password, the span covers both.
func netrcAt(s []byte, i, from int) span {
	isDefault := bytes.HasPrefix(s[i:], []byte("default"))
	if !isDefault && !bytes.HasPrefix(s[i:], []byte("machine")) {
		return span{}
	}
	n := netrc{s, s[max(0, i-maxSign, min(i, memberEnd(s))):i]}
	n.sign = n.sign[bytes.LastIndexByte(n.sign, '\n')+1:]
	at := i + len("machine") // "machine" and "default" have the same length
	if n.skipGap(at) == at {
		return span{}
	}
	if !isDefault {
		_, at = n.nextWord(at)
	}
	password, login := span{}, false
	for range 6 {
		key, next := n.nextWord(at)
		value, end := n.nextWord(next)
		switch string(key) {
		case "login":
			login = len(value) > 0
		case "account", "port":
		case "password":
			value, end = n.readPassword(i, next)
			if beginsWithKey(value) { // an entry without a password, and the next one
				next = 0
			} else if password.to == 0 {
				password = span{end - len(value), end, placedKind}
			} else if len(value) > 0 {
				password.to = end
			}
		default:
			next = 0
		}
		if next == 0 {
			break
		}
		at = end
	}
	if !login || password.from < from || isDefault && !bytes.ContainsAny(s[password.from:password.to], "0123456789") { // prose has no such word
		return span{}
	}
	return password
}

// nextWord returns the next word from s[at], and its end.
func (n *netrc) nextWord(at int) (word []byte, end int) {
	at = n.skipGap(at)
	for end = at; end < len(n.s) && n.s[end] > ' ' && lineEscape(n.s[end:]) == 0 && !isElementEnd(n.s[end:]) && tagLength(n.s[end:]) == 0; end++ {
	}
	return n.s[at:end], end
}

// readPassword returns the password that follows s[at], and its end: a blank, or its quote, or a
// quote that was open before the entry, which begins at s[begin].
func (n *netrc) readPassword(begin, at int) (value []byte, end int) {
	s := n.s
	at = n.skipGap(at)
	open := at
	for open < len(s) && s[open] == '\\' {
		open++
	}
	if open < len(s) && isQuote(s[open]) && !(&enclosure{s: s, at: begin}).isOpen(s[open], open > at) {
		if end = quotedEnd(s, open); end > open {
			return s[open+1 : end], end
		}
		at = open + 1
	}
	for end = at; end < len(s) && s[end] > ' ' && (lineEscape(s[end:]) == 0 || !beginsWithKey(s[end:])); end++ {
	}
	end = at + len(beforeMarkup(s[at:end]))
	end = outerEnd(s, begin, at, end)
	return s[at:end], end
}

// skipGap returns the end of what stands between two words.
func (n *netrc) skipGap(at int) int {
	s := n.s
	for at < len(s) {
		switch c := s[at]; {
		case c == '\n':
			at += 1 + n.signLength(s[at+1:])
		case c == ' ' || c == '\t' || c == '\r':
			at++
		case lineEscape(s[at:]) > 0, isElementEnd(s[at:]):
			at += 2
		case tagLength(s[at:]) > 0:
			at += tagLength(s[at:])
		case isQuote(c) && beginsWithKey(s[at+1:]):
			at++
		default:
			return at
		}
	}
	return at
}

// signLength returns the length of the sign that a line begins with. A line that a diff adds or
// removes may stand beside one that it keeps.
func (n *netrc) signLength(line []byte) int {
	if len(line) > 0 && (line[0] == '+' || line[0] == '-') && (len(n.sign) == 0 || strings.IndexByte(" +-", n.sign[0]) >= 0) {
		return 1
	}
	if len(n.sign) == maxSign {
		return 0
	}
	length, _ := signLength(line, n.sign)
	return length
}

// lineEscape returns the length of an escape of a line's end or a tab at the start of s, otherwise
// 0.
func lineEscape(s []byte) int {
	if len(s) > 1 && s[0] == '\\' && strings.IndexByte("nrt", s[1]) >= 0 {
		return 2
	}
	return 0
}

// isElementEnd reports whether s begins with the end of a list's element in quotes.
func isElementEnd(s []byte) bool { return len(s) > 1 && isQuote(s[0]) && s[1] == ',' }

// tagLength returns the length of the tag that s begins with and that ends a line: an end tag or a
// line break. 0 for other text.
func tagLength(s []byte) int {
	if len(s) < 4 || s[0] != '<' || !bytes.HasPrefix(s, []byte("</")) && !bytes.HasPrefix(s, []byte("<br")) {
		return 0
	}
	return bytes.IndexByte(s[:min(len(s), maxName)], '>') + 1
}

// beginsWithKey reports whether s begins with blanks and a word of netrc.
func beginsWithKey(s []byte) bool {
	for s = s[:min(len(s), maxSign)]; ; {
		rest := s[skipBytes(s, 0, " \t"):]
		if s = rest[lineEscape(rest):]; len(s) == len(rest) {
			break
		}
	}
	for _, key := range netrcKeys {
		if bytes.HasPrefix(s, []byte(key)) {
			return true
		}
	}
	return bytes.HasPrefix(s, []byte("machine")) || bytes.HasPrefix(s, []byte("default"))
}
