package remote

import (
	"math"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// binding is one tool argument that a header repeats, because the argument's schema has
// x-mcp-header (MCP 2026-07-28).
type binding struct {
	path   []string // member names on the way to the argument, the outermost first
	header string   // header name without the prefix Mcp-Param-
}

// maxBound and maxSchemaDepth limit the work that a server's tool list can cause.
const (
	maxBound       = 64
	maxSchemaDepth = 16
)

func collectBindings(to []binding, properties gjson.Result, path []string) []binding {
	if len(path) > maxSchemaDepth {
		return to
	}
	properties.ForEach(func(key, schema gjson.Result) bool {
		here := append(path[:len(path):len(path)], key.Str)
		if h := schema.Get("x-mcp-header"); h.Type == gjson.String && IsHeaderName(h.Str) && len(to) < maxBound {
			to = append(to, binding{here, h.Str})
		}
		to = collectBindings(to, schema.Get("properties"), here)
		return true
	})
	return to
}

// headerValue returns the value of the argument in the form for the header. It returns false when
// the argument is missing or null. It also returns false unless the argument is a string, a
// boolean, or an integer that a double holds exactly.
func (b *binding) headerValue(args gjson.Result) (string, bool) {
	switch v := b.findArgument(args); v.Type {
	case gjson.String:
		return v.Str, true
	case gjson.True, gjson.False:
		return v.Raw, true
	case gjson.Number:
		return formatInteger(v.Num)
	}
	return "", false
}

// isPresent reports whether the argument is present and not null.
func (b *binding) isPresent(args gjson.Result) bool { return b.findArgument(args).Type != gjson.Null }

func (b *binding) findArgument(args gjson.Result) gjson.Result {
	for _, name := range b.path {
		found := gjson.Result{}
		args.ForEach(func(key, v gjson.Result) bool { // compared here without a gjson path, because a name may contain path characters
			if key.Str == name {
				found = v
			}
			return found.Type == gjson.Null && found.Raw == ""
		})
		args = found
	}
	return args
}

// formatInteger returns n in decimal digits, even if the client wrote 42.0 or 4.2e1 for 42. It
// returns false unless n is an integer within ±(2^53-1): only these may be in a header (MCP
// 2026-07-28 basic/transports/streamable-http, value encoding).
func formatInteger(n float64) (string, bool) {
	if n != math.Trunc(n) || math.Abs(n) > 1<<53-1 {
		return "", false
	}
	return strconv.FormatInt(int64(n), 10), true
}

// IsHeaderName reports whether s is a valid header name (RFC 9110, section 5.6.2).
func IsHeaderName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}
