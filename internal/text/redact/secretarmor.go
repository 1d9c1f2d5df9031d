package redact

import "bytes"

// armor is a text format of private keys: lines of base64 between a first and a last line with a
// label.
type armor struct{ begin, dashes, end string }

var armors = [...]armor{
	{"-----BEGIN ", "-----", "-----END "}, // RFC 7468
	{"---- BEGIN ", " ----", "---- END "}, // RFC 4716
}

// Limits on the text of a private key. No real label is longer than a few words. Before the first
// line of base64 there may be headers. Before each other line there may be a number, a sign or a
// part of a program.
const (
	maxLabel   = 4 << 10
	maxHeaders = 512
	maxBetween = 160
)

// isPrivate reports whether s begins with the first line of a private key. n is the length of that
// line. unread means that the line is too long to be read.
func (a *armor) isPrivate(s []byte) (n int, unread bool) {
	if !bytes.HasPrefix(s, []byte(a.begin)) {
		return 0, false
	}
	s = s[len(a.begin):min(len(s), len(a.begin)+maxLabel)]
	label := s[:min(len(s), 64)]
	if i := bytes.IndexByte(s, '\n'); i >= 0 {
		s = s[:max(i, len(label))]
	}
	if i := bytes.Index(s, []byte(a.dashes)); i >= 0 {
		label = s[:i]
	} else if len(s) == maxLabel {
		return 0, true
	}
	if !bytes.Contains(label, []byte(keyLabel)) {
		return 0, false
	}
	return len(a.begin) + bytes.Index(label, []byte(keyLabel)) + len(keyLabel), false
}

const keyLabel = "PRIVATE KEY"

// pemAt returns the length of the private key at the start of s: its first line, the base64, and
// the last line, which may be missing. A first line without base64 is no key, because it only
// mentions the format.
func pemAt(s []byte) (n int, unread bool) {
	for i := range armors {
		first, unread := armors[i].isPrivate(s)
		if unread {
			return 0, true
		}
		if first > 0 {
			return armors[i].keyLength(s, first), false
		}
	}
	return 0, false
}

// keyLength returns the length of the private key at the start of s; 0 if there is none. The
// parameter first is the length of its first line.
func (a *armor) keyLength(s []byte, first int) int {
	for at := first; ; at += len(a.begin) { // a key ends before the next key begins
		next := bytes.Index(s[at:], []byte(a.begin))
		if next < 0 {
			break
		}
		at += next
		if n, _ := a.isPrivate(s[at:]); n > 0 {
			s = s[:at]
			break
		}
	}
	end := bytes.Index(s, []byte(a.end))
	if end < 0 {
		return base64End(s, first, maxHeaders)
	}
	stop := base64End(s[:end], first, maxHeaders)
	switch {
	case stop == 0 && !hasGroups(s[first:end]):
		return 0
	case stop > 0 && end-stop > maxBetween: // s[end] is in the last line of another key
		return stop
	}
	label := s[end+len(a.end):]
	if n := bytes.Index(label[:min(len(label), maxBetween)], []byte(a.dashes)); n >= 0 {
		if !bytes.Contains(label[:n], []byte(keyLabel)) { // the label is that of a certificate or another public text
			return 0
		}
		return end + len(a.end) + n + len(a.dashes)
	}
	return len(s)
}

// puttyAt finds the private lines of a PuTTY key.
func puttyAt(s []byte, i int) span {
	const word = "Private-Lines:"
	if !bytes.HasPrefix(s[i:], []byte(word)) {
		return span{}
	}
	if end := base64End(s, i+len(word), maxBetween); end > 0 {
		return span{i, end, "pem"}
	}
	return span{}
}

// base64End returns the end of the lines of base64 of a key, from s[at] on; 0 if there are none.
// The parameter most is the maximum distance in bytes from s[at] to the first line.
func base64End(s []byte, at, most int) (end int) {
	last := at
	for at < len(s) && at-last <= most {
		from := at
		for at < len(s) && classes[s[at]]&(alnum|slashes) != 0 {
			at++
		}
		if at == from {
			at++
			continue
		}
		switch {
		case isKeyLine(s, from, at, end > 0):
			last, end, most = at, at, maxBetween
		case end > 0 && from-end <= maxShort && (at == len(s) || s[at] == '='): // the last line is shorter, or ends with =
			end = at
		}
	}
	return end
}

const (
	minLine   = 24 // minimum number of base64 letters in a line of a key
	minCut    = 16 // minimum number of base64 letters in a line whose end is missing
	wholeLine = 40 // minimum number of base64 letters in a line with nothing else
	longLine  = 60 // a run with so many base64 letters is no word of a program
	maxShort  = 16 // maximum number of bytes between two lines at the end of a key
	minGroups = 48 // minimum number of base64 letters in all groups together
	minGroup  = 6
)

// isKeyLine reports whether a run of base64 letters is a line of a key. A word of a program or a
// path is also such a run, but base64 changes more often between capitals, small letters and
// digits. another means that an earlier line of the key was found.
func isKeyLine(s []byte, from, to int, another bool) bool {
	run := s[from:to]
	if len(run) < minLine && (to < len(s) || len(run) < minCut) {
		return false
	}
	begin := bytes.TrimPrefix(run, []byte("n"))                                          // leave out the n of an escaped line end
	if bytes.HasPrefix(begin, []byte("MI")) || bytes.HasPrefix(begin, []byte("b3Blb")) { // the start of a key in RFC 5208, and in the format of OpenSSH
		return true
	}
	changes, mixed := countChanges(run)
	if !mixed { // a single line may have no capital, no small letter or no digit
		return len(run) >= wholeLine && changes > 0 && from > 0 && (s[from-1] == '\n' || s[from-1] == '\\') && (to == len(s) || s[to] == '\n' || s[to] == '\r' || s[to] == '\\')
	}
	return another || len(run) >= longLine || changes*20 >= len(run)*9
}

// countChanges counts the changes between capitals, small letters and other bytes in a run. mixed
// means that the run has all three.
func countChanges(run []byte) (changes int, mixed bool) {
	var was, all class
	for i, c := range run {
		of := classes[c]
		switch {
		case of&(lowerHex|lowerRest) != 0:
			of = lowerHex
		case of&(upperHex|upperRest) != 0:
			of = upperHex
		case of == slashes:
			of = decimal
		}
		if i > 0 && of != was {
			changes++
		}
		was, all = of, all|of
	}
	return changes, all == hexes
}

// hasGroups reports whether a key has its base64 in groups that are shorter than lines. s is the
// text between the key's first and last line.
func hasGroups(s []byte) bool {
	n := 0
	for at := 0; at < len(s); at++ {
		from := at
		for at < len(s) && classes[s[at]]&(alnum|slashes) != 0 {
			at++
		}
		if _, mixed := countChanges(s[from:at]); mixed && at-from >= minGroup {
			n += at - from
		}
	}
	return n >= minGroups && n*2 >= len(s)
}
