// Package visibletest checks the escaping of text.
package visibletest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Back returns the original of an escaped text. It returns an error if s is not a valid escaped
// text.
func Back(s string) (string, error) {
	var b []byte
	for len(s) > 0 {
		if s[0] != '\\' {
			b, s = append(b, s[0]), s[1:]
			continue
		}
		if len(s) < 2 {
			return "", fmt.Errorf("a backslash alone")
		}
		kind := s[1]
		switch kind {
		case '\\', '"':
			b, s = append(b, kind), s[2:]
			continue
		case 't':
			b, s = append(b, '\t'), s[2:]
			continue
		case 'n':
			b, s = append(b, '\n'), s[2:]
			continue
		}
		end := strings.IndexByte(s, '}')
		if (kind != 'u' && kind != 'x') || end < 4 || s[2] != '{' {
			return "", fmt.Errorf("no escape: %q", s)
		}
		n, err := strconv.ParseUint(s[3:end], 16, 32)
		if err != nil {
			return "", err
		}
		if kind == 'x' {
			b = append(b, byte(n))
		} else {
			b = utf8.AppendRune(b, rune(n))
		}
		s = s[end+1:]
	}
	return string(b), nil
}

// Harmless returns an error if a text moves, hides or reorders something, or breaks the line. It
// uses no code of the packages that escape text.
func Harmless(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("not UTF-8")
	}
	marks := 0
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("%U is not printable in %+q", r, s)
		}
		if unicode.In(r, unicode.Bidi_Control, unicode.Join_Control, unicode.Variation_Selector, unicode.Co,
			unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Noncharacter_Code_Point) {
			return fmt.Errorf("%U hides or reorders in %+q", r, s)
		}
		if marks++; !unicode.IsMark(r) {
			marks = 0
		} else if marks > 3 {
			return fmt.Errorf("a run of marks in %+q", s)
		}
	}
	return nil
}
