package jsonscan

import "encoding/json"

// IsNumber reports whether s is a number by the grammar of RFC 8259 section 6.
func IsNumber(s []byte) bool {
	return len(s) > 0 && (s[0] == '-' || isDigit(s[0])) && isDigit(s[len(s)-1]) && json.Valid(s)
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
