package mcp

import (
	"slices"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Facts of the protocol that both sides of a bridge need.
const (
	MetaPrefix    = "io.modelcontextprotocol/" // prefix of the names of the protocol's own members of _meta
	ModernVersion = "2026-07-28"               // the first version whose messages state their version themselves
	BatchVersion  = "2025-03-26"               // the only version with arrays
)

// LegacyVersions are the versions that a client may ask for in initialize, the latest last.
var LegacyVersions = []string{"2024-11-05", BatchVersion, "2025-06-18", "2025-11-25"}

// AgreeVersion returns the version with which a server answers an initialize.
func AgreeVersion(asked string) string {
	if slices.Contains(LegacyVersions, asked) {
		return asked
	}
	return LegacyVersions[len(LegacyVersions)-1]
}

// ListShape describes the result of a list method: the member that holds the entries, and the member
// that names an entry.
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

// ListOf returns the shape of a list method's result; the zero ListShape for any other method.
func ListOf(method string) ListShape {
	for i := range lists {
		if lists[i].method == method {
			return lists[i].ListShape
		}
	}
	return ListShape{}
}

// IsToken reports whether a value may be a request id or a progress token.
func IsToken(v jsonscan.Value) bool {
	k := v.Kind()
	return k == jsonscan.String || k == jsonscan.Number
}

// ProgressToken returns the progress token in the params of a request. It is absent if the request
// has no token.
func ProgressToken(params []byte) jsonscan.Value {
	if token := jsonscan.ValueOf(params).Member("_meta").Member("progressToken"); IsToken(token) {
		return token
	}
	return ""
}

// RequestLine returns a request. id, method and params are JSON.
func RequestLine(id []byte, method string, params []byte) []byte {
	return joinLine(id, `,"method":`+method+`,"params":`, params)
}

// ResultLine answers the request id with a result, which is JSON.
func ResultLine(id, result []byte) []byte { return joinLine(id, `,"result":`, result) }

// ErrorLine answers the request id with an error, which is the JSON of an error object.
func ErrorLine(id, failure []byte) []byte { return joinLine(id, `,"error":`, failure) }

func joinLine(id []byte, between string, last []byte) []byte {
	return slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(between), last, []byte{'}'})
}
