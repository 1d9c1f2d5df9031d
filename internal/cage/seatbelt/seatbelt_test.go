package seatbelt

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clawai/clawai/internal/cage/confine"
)

func TestProfile(t *testing.T) {
	for name, spec := range map[string]confine.Spec{
		"nothing": {},
		"places": {Read: []string{"/Users/me/docs"}, Write: []string{"/Users/me/work"}, Hide: []string{"/Users/me/work/.env"},
			Fixed: []string{"/Users/me/work/.git/hooks"}, Forks: true},
		"hosts":   {Hosts: true, Forks: true},
		"network": {Network: true},
		"hostile": {Read: []string{`/Users/me/a")) (allow default) ("`, `/b\`, `/c\"(allow network*)`, `/d;(allow default)`, "/é/%s/'$(x)'"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Profile(&spec, "/private/tmp/clawai-1")
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+".sb")
			if os.Getenv("CLAWAI_UPDATE") != "" {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || cmp.Diff(string(want), got) != "" {
				t.Errorf("%v\n%s", err, cmp.Diff(string(want), got))
			}
		})
	}
}

// A path that cannot be written fails the whole profile.
func TestProfileRefuses(t *testing.T) {
	for _, path := range []string{"", "relative", "/a\nb", "/a\x00b", "/a\x7f", "/a\xff"} {
		for _, spec := range []confine.Spec{{Read: []string{path}}, {Write: []string{path}}, {Hide: []string{path}}, {Fixed: []string{path}}} {
			if _, err := Profile(&spec, "/tmp/x"); err == nil {
				t.Errorf("%q is a place: %+v", path, spec)
			}
		}
	}
}

// readForms is a reader of a profile's forms, apart from the writer: words, strings and brackets. It
// fails on everything else.
func readForms(t *testing.T, text string) (forms [][]string) {
	t.Helper()
	depth := 0
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '(':
			if depth++; depth == 1 {
				forms = append(forms, nil)
			}
			i++
		case c == ')':
			if depth--; depth < 0 {
				t.Fatalf("a bracket too many:\n%s", text)
			}
			i++
		case c == ' ' || c == '\n':
			i++
		case c == '"':
			var b strings.Builder
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
				b.WriteByte(text[i])
			}
			forms[len(forms)-1] = append(forms[len(forms)-1], "string:"+b.String())
			i++
		case depth > 0:
			end := i + strings.IndexAny(text[i:], " ()\"")
			forms[len(forms)-1] = append(forms[len(forms)-1], text[i:end])
			i = end
		default:
			t.Fatalf("%q stands outside of the forms:\n%s", c, text)
		}
	}
	if depth != 0 {
		t.Fatalf("a bracket is missing:\n%s", text)
	}
	return forms
}

// FuzzProfile: whatever a path holds, the profile has as many rules as for a plain path, and the path
// is one string in one of them.
func FuzzProfile(f *testing.F) {
	for _, seed := range []string{"/plain", `/a")) (allow default) ("`, `/b\`, `/c\"`, "/d;x", "/(x)", "/\n", "/#|x|#", "/'`"} {
		f.Add(seed)
	}
	plain, err := Profile(&confine.Spec{Write: []string{"/plain"}}, "/tmp/x")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path string) {
		text, err := Profile(&confine.Spec{Write: []string{path}}, "/tmp/x")
		if err != nil {
			return
		}
		got, want := readForms(t, text), readForms(t, plain)
		if len(got) != len(want) {
			t.Fatalf("%d forms, not %d:\n%s", len(got), len(want), text)
		}
		for i := range want {
			for j, word := range want[i] {
				if want[i][j] = word; word == "string:/plain" {
					want[i][j] = "string:" + path
				}
			}
			if !slices.Equal(got[i], want[i]) {
				t.Fatalf("%q, not %q", got[i], want[i])
			}
		}
	})
}
