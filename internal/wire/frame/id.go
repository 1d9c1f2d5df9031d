package frame

import (
	"bytes"

	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// maxID is the maximum length of an id token in bytes, with its quotes.
const maxID = 1024 + 2

// validID reports whether every reader reads the token as the same id. MCP allows strings and
// integers as ids, but not null.
func validID(token []byte) bool {
	if len(token) > 0 && token[0] == '"' {
		return len(token) <= maxID
	}
	return validInt(token)
}

// validInt reports whether a token is an integer that every reader reads as the same number. It
// rejects 1.0, 1e0 and -0, because only some readers read them as the integers 1, 1 and 0.
func validInt(token []byte) bool {
	digits := bytes.TrimPrefix(token, []byte("-"))
	if len(digits) == 0 || len(bytes.Trim(digits, "0123456789")) > 0 || string(token) == "-0" {
		return false
	}
	return isExactInteger(token)
}

// IDKey returns an id as a map key. Two id tokens of admitted frames have the same key if and only
// if the ids have the same type and value. Escapes make no difference. The key shares the token's
// memory if possible.
func IDKey(token []byte) string {
	if bytes.IndexByte(token, '\\') < 0 {
		return string(jsonscan.ValueOf(token))
	}
	return string(escape.UndoEscapes(make([]byte, 0, len(token)), token[:len(token)-1])) + `"`
}
