package remote

import (
	"math"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// binding is one argument of a tool that is repeated in a header: its schema
// says x-mcp-header (MCP 2026-07-28).
type binding struct {
	path   []string // member names, outermost first
	header string   // without Mcp-Param-
}

// bindings are those of the tools a server has listed, by name.
type bindings map[string][]binding

// maxBound and maxSchemaDepth keep a server's list from costing more than it is
// worth.
const (
	maxBound       = 64
	maxSchemaDepth = 16
)

// learnTools takes in one answer to tools/list.
func (b *bindings) learnTools(result []byte) {
	gjson.GetBytes(result, "tools").ForEach(func(_, tool gjson.Result) bool {
		name := tool.Get("name").Str
		if found := collectBindings(nil, tool.Get("inputSchema.properties"), nil); len(found) > 0 {
			if *b == nil {
				*b = make(bindings)
			}
			(*b)[name] = found
		} else {
			delete(*b, name)
		}
		return true
	})
}

func collectBindings(to []binding, properties gjson.Result, path []string) []binding {
	if len(path) > maxSchemaDepth {
		return to
	}
	properties.ForEach(func(key, schema gjson.Result) bool {
		here := append(path[:len(path):len(path)], key.Str)
		if h := schema.Get("x-mcp-header"); h.Type == gjson.String && isHeaderToken(h.Str) && len(to) < maxBound {
			to = append(to, binding{here, h.Str})
		}
		to = collectBindings(to, schema.Get("properties"), here)
		return true
	})
	return to
}

// headerValue gives the argument as the header has it; false when it is absent, null or
// no string, boolean or integer that every double holds.
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

// isPresent reports that the argument is neither absent nor null.
func (b *binding) isPresent(args gjson.Result) bool { return b.findArgument(args).Type != gjson.Null }

func (b *binding) findArgument(args gjson.Result) gjson.Result {
	for _, name := range b.path {
		found := gjson.Result{}
		args.ForEach(func(key, v gjson.Result) bool { // a name is data, never a path
			if key.Str == name {
				found = v
			}
			return found.Type == gjson.Null && found.Raw == ""
		})
		args = found
	}
	return args
}

// formatInteger writes n in decimal digits, however the client wrote it: 42.0 and 4.2e1 are
// 42, and only what lies within ±(2^53-1) may stand in a header (MCP 2026-07-28
// basic/transports/streamable-http, value encoding).
func formatInteger(n float64) (string, bool) {
	if n != math.Trunc(n) || math.Abs(n) > 1<<53-1 {
		return "", false
	}
	return strconv.FormatInt(int64(n), 10), true
}

// isHeaderToken reports a name that a header may have (RFC 9110, section 5.6.2).
func isHeaderToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return s != ""
}
