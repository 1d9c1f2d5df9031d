package toml

import (
	"regexp"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// conflictOf is what we say of a text; read is whether all of it was.
func conflictOf(src string) (conflict string, read bool) {
	d := New([]byte(src))
	for {
		if _, ok := d.NextExpression(); !ok {
			break
		}
	}
	_, _, broken := d.SyntaxError()
	_, msg, _ := d.FirstConflict()
	return msg, !broken
}

// twice is what go-toml says of a name that is defined in two ways; of the other things
// that it refuses (a number out of range, a day that there is not) we say nothing.
var twice = regexp.MustCompile(`already (exists|defined)|should be (a|an array) table`)

func same(t *testing.T, src string) {
	t.Helper()
	got, read := conflictOf(src)
	if !read {
		return
	}
	var into map[string]any
	err := toml.Unmarshal([]byte(src), &into)
	switch {
	case err == nil && got != "":
		t.Errorf("%q\nwe say %s, go-toml nothing", src, got)
	case err != nil && got == "" && twice.MatchString(err.Error()):
		t.Errorf("%q\nwe say nothing, go-toml %v", src, err)
	}
}

func TestConflicts(t *testing.T) {
	for src, want := range map[string]string{
		"a = 1\na = 2":        "a value",
		"a = 1\na.b = 2":      "a value",
		"a.b = 1\na.c = 2":    "",
		"a.b = 1\na = 2":      "a table by a dotted key",
		"a.b = 1\n[a]":        "a table by a dotted key",
		"a.b = 1\n[a.c]":      "",
		"[a]\n[a]":            "a table",
		"[a.b]\n[a]\n[a.b.c]": "",
		"[a.b]\n[a]\nb.c = 1": "a table",
		"[a]\n[[a]]":          "a table",
		"[[a]]\n[a]":          "a list of tables",
		"a = []\n[[a]]":       "a value",
		"a = {}\n[a.b]":       "a value",
		"[[a]]\nb = 1\n[a.c]\nd = 1\n[[a]]\nb = 1\n[a.c]":                      "",
		"[[a]]\n[[a.b]]\nc = 1\n[x]\n[[a.b]]\nc = 1\n[[a]]\n[a.b]\n[x.y]\n[x]": "a table",
		"a = {b = 1, b = 2}":                       "a value",
		"a = {b.c = 1, b.d = 2}":                   "",
		"a = [{b = 1}, {b = 1}, [{c = 1, c = 2}]]": "a value",
		"'' = 1\n\"\" = 2":                         "a value",
		"\"a\\u0062\" = 1\nab = 2":                 "a value",
	} {
		got, read := conflictOf(src)
		if !read || want == "" && got != "" || want != "" && !strings.HasSuffix(got, "already defined, as "+want) {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
		same(t, src)
	}
}

// FuzzConflicts holds us to what go-toml finds when it decodes the whole.
func FuzzConflicts(f *testing.F) {
	for _, src := range []string{"a=1\n[b.c]\n[b]\nd.e={f=[{g=1}]}\n[[h]]\n[[h.i]]\n[[h]]", "[[a]]\nb.c=1\n[a.b]", "[a]\n[a.a]\na=1\n[b]\n[[b.c]]"} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		same(t, src)
		same(t, written(src))
	})
}

// written is a document of few names, a line for each byte.
func written(choices string) string {
	var b strings.Builder
	for _, c := range []byte(choices) {
		key := [...]string{"a", "b", "a.b", "b.a", "a.b.a", "a.a", "c", "c.a"}[c>>5]
		b.WriteString(strings.ReplaceAll([...]string{"[K]", "[[K]]", "K = 1", "K = {a = 1}", "K = [{b = 1}]", "K = {a.b = 1, b = {a = 1}}", "[a.K]", "[[b.K]]"}[c&7], "K", key) + "\n")
	}
	return b.String()
}
