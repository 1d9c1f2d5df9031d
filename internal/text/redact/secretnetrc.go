package redact

import (
	"bytes"
	"strings"
)

// netrc reads the words of an entry of netrc. An entry may be inside an escaped string, or be a
// list of strings. A tool may have written a sign before each line.
type netrc struct {
	s    []byte
	sign []byte // the text before the entry in its line
}

// netrcKeys are the words after which a value follows.
var netrcKeys = [...]string{"login", "password", "account", "port"}

// netrcAt finds the password in "machine HOST login USER password PASSWORD", in any order, and in
// the default entry. If two lines of a diff have a password, the span covers both.
func netrcAt(s []byte, i, from int) span {
	isDefault := bytes.HasPrefix(s[i:], []byte("default"))
	if !isDefault && !bytes.HasPrefix(s[i:], []byte("machine")) {
		return span{}
	}
	n := netrc{s, s[max(0, i-maxSign, min(i, memberEnd(s))):i]}
	n.sign = n.sign[bytes.LastIndexByte(n.sign, '\n')+1:]
	at := i + len("machine") // "default" has the same length as "machine"
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
			if beginsWithKey(value) { // this entry has no password, and the next entry begins
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
	if !login || password.from < from || isDefault && !bytes.ContainsAny(s[password.from:password.to], "0123456789") { // a default entry whose password has no digit is probably prose
		return span{}
	}
	return password
}

// nextWord returns the next word from s[at] on, and the end of the word.
func (n *netrc) nextWord(at int) (word []byte, end int) {
	at = n.skipGap(at)
	for end = at; end < len(n.s) && n.s[end] > ' ' && lineEscape(n.s[end:]) == 0 && !isElementEnd(n.s[end:]) && tagLength(n.s[end:]) == 0; end++ {
	}
	return n.s[at:end], end
}

// readPassword returns the password after s[at], and its end. The password ends at a blank, at its
// own closing quote, or at a quote that was open before the entry. The entry begins at s[begin].
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

// skipGap returns the end of the text between two words.
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

// signLength returns the length of the sign at the start of a line. In a diff, lines with + or -
// may be beside lines without a sign.
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

// lineEscape returns the length of an escaped line end or tab at the start of s; 0 if there is
// none.
func lineEscape(s []byte) int {
	if len(s) > 1 && s[0] == '\\' && strings.IndexByte("nrt", s[1]) >= 0 {
		return 2
	}
	return 0
}

// isElementEnd reports whether s begins with the closing quote of an element in a list.
func isElementEnd(s []byte) bool { return len(s) > 1 && isQuote(s[0]) && s[1] == ',' }

// tagLength returns the length of a tag at the start of s that ends a line: an end tag or a line
// break. It returns 0 for other text.
func tagLength(s []byte) int {
	if len(s) < 4 || s[0] != '<' || !bytes.HasPrefix(s, []byte("</")) && !bytes.HasPrefix(s, []byte("<br")) {
		return 0
	}
	return bytes.IndexByte(s[:min(len(s), maxName)], '>') + 1
}

// beginsWithKey reports whether s begins with blanks and one of netrcKeys.
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
