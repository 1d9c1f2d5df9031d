package term

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"unicode/utf8"
)

// What is shown of a long value: its head and its tail, for an attack may stand
// at either end.
const (
	headRunes = 200
	tailRunes = 100
)

// VisibleValue shows s in quotes on one line, made harmless by Visible. Of a value of
// more than 300 characters the first 200 and the last 100 are shown, with its
// length in characters and the first 12 digits of its SHA-256 outside the
// quotes, where no value can write.
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

// runeOffset gives where the n-th character starts.
func runeOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
