package mcp

import (
	"slices"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Facts of the protocol that both sides of a proxy need.
const (
	MetaPrefix    = "io.modelcontextprotocol/" // prefix of the protocol's own members of _meta
	ModernVersion = "2026-07-28"               // the first version in which each message states its version
	BatchVersion  = "2025-03-26"               // the only version with arrays
)

// LegacyVersions are the versions that a client may request in initialize, the latest last.
var LegacyVersions = []string{"2024-11-05", BatchVersion, "2025-06-18", "2025-11-25"}

// AgreeVersion returns the version with which a server answers initialize. asked is the version in
// the request.
func AgreeVersion(asked string) string {
	if slices.Contains(LegacyVersions, asked) {
		return asked
	}
	return LegacyVersions[len(LegacyVersions)-1]
}

// ListShape describes the result of a list method. Entries is the member with the entries, and Name
// is the member of an entry with its name.
type ListShape struct{ Entries, Name string }

var lists = [...]struct {
	method string
	ListShape
}{
	{"tools/list", ListShape{"tools", "name"}},
	{"prompts/list", ListShape{"prompts", "name"}},
	{"resources/list", ListShape{"resources", "uri"}},
	{"resources/templates/list", ListShape{"resourceTemplates", "uriTemplate"}},
	{"skills/list", ListShape{"skills", "uri"}},
}

// ListOf returns the shape of the result of a list method. It returns the zero ListShape for any
// other method.
func ListOf(method string) ListShape {
	for i := range lists {
		if lists[i].method == method {
			return lists[i].ListShape
		}
	}
	return ListShape{}
}

// IsToken reports whether a value has the type of a request id or a progress token.
func IsToken(v jsonscan.Value) bool {
	k := v.Kind()
	return k == jsonscan.String || k == jsonscan.Number
}

// ProgressToken returns the progress token from the params of a request. The result is Absent if
// there is none.
func ProgressToken(params []byte) jsonscan.Value {
	if token := jsonscan.ValueOf(params).Member("_meta").Member("progressToken"); IsToken(token) {
		return token
	}
	return ""
}

// RequestLine returns a request as a line. id, method and params are JSON.
func RequestLine(id []byte, method string, params []byte) []byte {
	return joinLine(id, `,"method":`+method+`,"params":`, params)
}

// ResultLine returns an answer with a result. id and result are JSON.
func ResultLine(id, result []byte) []byte { return joinLine(id, `,"result":`, result) }

// ErrorLine returns an answer with an error. id is JSON, and failure is the JSON of an error
// object.
func ErrorLine(id, failure []byte) []byte { return joinLine(id, `,"error":`, failure) }

func joinLine(id []byte, between string, last []byte) []byte {
	return slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(between), last, []byte{'}'})
}
