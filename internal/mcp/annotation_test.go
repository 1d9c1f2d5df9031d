package mcp

import (
	"fmt"
	"strings"
	"testing"
)

func TestTools(t *testing.T) {
	for result, want := range map[string]map[string]string{
		`{"tools":[{"name":"a","annotations":{"readOnlyHint":true}},{"name":"b"}]}`:                                                      {"a": "open-world", "b": "not-read-only destructive not-idempotent open-world"},
		`{"tools":[{"name":"a","annotations":{"readOnlyHint":true,"openWorldHint":false}},{"name":"a","annotations":{"title":"A"}}]}`:    {"a": "not-read-only destructive not-idempotent open-world"},
		`{"tools":[{"name":"a","annotations":{"readOnlyHint":"true","destructiveHint":null,"idempotentHint":1,"openWorldHint":false}}]}`: {"a": "not-read-only destructive not-idempotent"},
		`{"tools":[{"name":1},{"annotations":{}},7,{"name":"\u0061","annotations":[true]}],"nextCursor":"x"}`:                            {"a": "not-read-only destructive not-idempotent open-world"},
		`{"tools":{"name":"a"}}`: {}, `{}`: {}, `[]`: {}, `null`: {},
	} {
		got := ToolAssurances([]byte(result))
		for name, said := range got {
			if words := strings.Join(said.DangerWords(), " "); want[name] != words {
				t.Errorf("%s: %s is %q, want %q", result, name, words, want[name])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d tools", result, len(got))
		}
	}
}

// TestToolsAreBounded: a hostile list takes little memory, and names nothing well.
func TestToolsAreBounded(t *testing.T) {
	list := func(n int, name func(int) string) []byte {
		var entries []string
		for i := range n {
			entries = append(entries, fmt.Sprintf(`{"name":%q,"annotations":{"readOnlyHint":true}}`, name(i)))
		}
		return []byte(`{"tools":[` + strings.Join(entries, ",") + `]}`)
	}
	if got := len(ToolAssurances(list(maxDeclared+10, func(i int) string { return fmt.Sprint(i) }))); got != maxDeclared {
		t.Errorf("%d of many tools", got)
	}
	if got := len(ToolAssurances(list(2, func(i int) string { return strings.Repeat("x", maxToolName+i) }))); got != 1 {
		t.Errorf("%d of long names", got)
	}
	if got := len(ToolAssurances(list(1000, func(i int) string { return fmt.Sprint(i) + strings.Repeat("x", 1000) }))); got == 0 || got > maxDeclaredBytes/1000 {
		t.Errorf("%d of many long names", got)
	}
}

// FuzzTools: what a list says twice is never more than what it says once, and the
// hints of what was read read the same.
func FuzzTools(f *testing.F) {
	f.Add([]byte(`{"tools":[{"name":"a","annotations":{"readOnlyHint":true,"destructiveHint":false}}]}`))
	f.Add([]byte(`{"tools":[{"name":"a","annotations":{"openWorldHint":false}},{"name":"a"}]}`))
	f.Fuzz(func(t *testing.T, result []byte) {
		for name, said := range ToolAssurances(result) {
			if said > 15 || len(name) > maxToolName {
				t.Errorf("%q: %b", name, said)
			}
			var members []string
			for hint, value := range said.AnnotationHints() {
				members = append(members, fmt.Sprintf("%q:%t", hint, value))
			}
			back, unread := ReadAssurances([]byte("{" + strings.Join(members, ",") + "}"))
			if back != said || unread != "" {
				t.Errorf("%v is read as %v", said.AssuranceWords(), back.AssuranceWords())
			}
		}
	})
}
