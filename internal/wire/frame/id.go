package frame

import (
	"bytes"

	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// maxID is the longest id token in bytes, quotes included.
const maxID = 1024 + 2

// validID reports whether every reader reads the token as the same id. MCP allows
// strings and integers, never null.
func validID(token []byte) bool {
	if len(token) > 0 && token[0] == '"' {
		return len(token) <= maxID
	}
	return validInt(token)
}

// validInt reports whether a token is an integer literal that every reader reads as the
// same number. It does not accept 1.0, 1e0 and -0, because only some readers read them
// as 1, 1 and 0.
func validInt(token []byte) bool {
	digits := bytes.TrimPrefix(token, []byte("-"))
	if len(digits) == 0 || len(bytes.Trim(digits, "0123456789")) > 0 || string(token) == "-0" {
		return false
	}
	return isExactInteger(token)
}

// IDKey returns the id as a map key. The keys of two id tokens of admitted frames are
// equal exactly when the ids have equal type and value, however they are escaped. The
// key aliases the token where possible.
func IDKey(token []byte) string {
	if bytes.IndexByte(token, '\\') < 0 {
		return string(jsonscan.ValueOf(token))
	}
	return string(escape.UndoEscapes(make([]byte, 0, len(token)), token[:len(token)-1])) + `"`
}
