package shell

import (
	"strconv"
	"strings"
)

// ansiC decodes the inside of $'...' (Bash manual, ANSI-C Quoting). Only rules that
// deny use it: a word in this spelling never allows a call.
func ansiC(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		c := s[i+1]
		i += 2
		if at := strings.IndexByte(`abeEfnrtv\'"?`, c); at >= 0 {
			b.WriteByte("\a\b\x1b\x1b\f\n\r\t\v\\'\"?"[at])
			continue
		}
		base, most := 16, 0
		switch {
		case c >= '0' && c <= '7':
			base, most = 8, 3
			i--
		case c == 'x':
			most = 2
		case c == 'u':
			most = 4
		case c == 'U':
			most = 8
		case c == 'c' && i < len(s):
			b.WriteByte(s[i] & 0x1f)
			i++
			continue
		}
		n := countDigits(s[i:], base, most)
		if n == 0 {
			b.WriteByte('\\')
			b.WriteByte(c)
			continue
		}
		v, _ := strconv.ParseUint(s[i:i+n], base, 32)
		if c == 'u' || c == 'U' {
			b.WriteRune(rune(v))
		} else {
			b.WriteByte(byte(v))
		}
		i += n
	}
	// Bash ends the string at a NUL.
	text, _, _ := strings.Cut(b.String(), "\x00")
	return text
}

// countDigits counts the digits at the beginning of s, in the given base. It stops at the number in
// the parameter most.
func countDigits(s string, base, most int) int {
	n := 0
	for n < len(s) && n < most {
		if _, err := strconv.ParseUint(s[n:n+1], base, 8); err != nil {
			break
		}
		n++
	}
	return n
}
