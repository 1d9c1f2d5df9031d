package term

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"unicode/utf8"
)

// Number of characters from the start and from the end of a long value that are shown. An attack
// may be at either end.
const (
	headRunes = 200
	tailRunes = 100
)

// VisibleValue returns s in quotes on one line, escaped like VisibleLine. If s has more than 300
// characters, it returns the first 200 and the last 100. The length and the first 12 digits of the
// SHA-256 follow outside the quotes, so that no text of the value can imitate them.
func VisibleValue(s string) string {
	total := utf8.RuneCountInString(s)
	if total <= headRunes+tailRunes {
		return `"` + VisibleLine(s) + `"`
	}
	sum := sha256.Sum256([]byte(s))
	return fmt.Sprintf(`"%s" … "%s" (%d characters, SHA-256 %s)`,
		VisibleLine(s[:runeOffset(s, headRunes)]),
		VisibleLine(s[runeOffset(s, total-tailRunes):]),
		total, hex.EncodeToString(sum[:6]))
}

// runeOffset returns the byte offset of character number n, counted from 0.
func runeOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
