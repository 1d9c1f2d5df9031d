package term

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"unicode/utf8"
)

// Number of characters that are shown from the head and from the tail of a long value. Both are
// shown, because an attack may be at either end.
const (
	headRunes = 200
	tailRunes = 100
)

// VisibleValue returns s in quotes on one line, escaped by VisibleLine. For a value of more than
// 300 characters it returns the first 200 and the last 100, with the length in characters and the
// first 12 digits of the SHA-256 outside the quotes, where no text of the value can be.
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

// runeOffset returns the byte offset of the n-th character.
func runeOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
