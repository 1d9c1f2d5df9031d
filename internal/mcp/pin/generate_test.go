package pin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// tools draws tools as servers have them, with something of every kind in them.
func tools(t *rapid.T) map[string]any {
	properties := map[string]any{"path": map[string]any{"type": "string", "description": "Where to look.", "maxLength": json.Number("100"), "pattern": "^/"}}
	for i := range rapid.IntRange(0, 4).Draw(t, "parameters") {
		properties[fmt.Sprintf("p%d", i)] = parameter(t, 2)
	}
	properties["mode"] = map[string]any{"type": "string", "enum": []any{"fast", "slow", "dry"}, "default": "slow"}
	properties["depth"] = map[string]any{"type": []any{"integer", "null"}, "minimum": json.Number("1"), "maximum": json.Number("12345678901234567890123")}
	return map[string]any{
		"name":        rapid.StringMatching(`[a-z]{3,8}_[a-z]{3,8}`).Draw(t, "name"),
		"description": rapid.StringMatching(`[A-Z][a-z é日]{0,40}\.`).Draw(t, "description"),
		"annotations": map[string]any{"readOnlyHint": true, "openWorldHint": false, "title": "Look"},
		"title":       "Look",
		"inputSchema": map[string]any{
			"type": "object", "properties": properties, "required": []any{"path", "mode"}, "additionalProperties": false,
			"$defs": map[string]any{"x": map[string]any{"type": "string"}},
		},
		"outputSchema": map[string]any{"type": "object"},
	}
}

func parameter(t *rapid.T, depth int) any {
	switch n := rapid.IntRange(0, 3+min(depth, 1)*2).Draw(t, "parameter"); n {
	case 0:
		return map[string]any{"type": "string", "description": rapid.StringMatching(`[a-z ]{0,20}`).Draw(t, "text")}
	case 1:
		return map[string]any{"type": "number", "minimum": json.Number(fmt.Sprint(rapid.Int64().Draw(t, "number")))}
	case 2:
		return map[string]any{"enum": []any{"b", json.Number("1"), "a"}}
	case 3:
		return true
	case 4:
		return map[string]any{"type": "array", "items": parameter(t, depth-1)}
	default:
		return map[string]any{"anyOf": []any{parameter(t, depth-1), map[string]any{"type": "null"}}}
	}
}

// spelled writes a tree in one of the many ways in which it can be written.
func spelled(t *rapid.T, v any, in string) string {
	blank := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n\t"}).Draw(t, "blank") }
	switch v := v.(type) {
	case map[string]any:
		names := rapid.Permutation(slices.Sorted(maps.Keys(v))).Draw(t, "order")
		var parts []string
		for _, name := range names {
			parts = append(parts, spelledText(t, name)+blank()+":"+blank()+spelled(t, v[name], name))
		}
		return "{" + blank() + strings.Join(parts, blank()+","+blank()) + blank() + "}"
	case []any:
		_, isWords := textArray(v)
		if in == "required" || in == "enum" && isWords || in == "type" && len(v) > 0 {
			v = append(rapid.Permutation(v).Draw(t, "set"), v[0])
		}
		var parts []string
		for _, element := range v {
			parts = append(parts, spelled(t, element, ""))
		}
		return "[" + strings.Join(parts, ","+blank()) + blank() + "]"
	case json.Number:
		s := string(v)
		if !strings.ContainsAny(s, ".e") {
			s += rapid.SampledFrom([]string{"", ".0", ".00e0", "E+0"}).Draw(t, "number")
		}
		return s
	case string:
		return spelledText(t, v)
	}
	return string(encodeTree(v))
}

func spelledText(t *rapid.T, s string) string {
	if !rapid.Bool().Draw(t, "escaped") {
		return string(encodeTree(s))
	}
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, `\u%04X`, r) // the generator draws nothing above U+FFFF
	}
	return `"` + b.String() + `"`
}

func mustRead(t interface{ Fatalf(string, ...any) }, kind EntryKind, src string) Entry {
	e, err := Read(kind, []byte(src))
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return e
}

func clone(v any) map[string]any {
	tree, err := parseTree(encodeTree(v))
	if err != nil {
		panic(err)
	}
	return tree.(map[string]any)
}
