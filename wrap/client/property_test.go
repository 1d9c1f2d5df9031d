package client

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/testing/slow"
)

// The properties of an edit, over generated files. A run of 100 files a format
// by default; the long one is
//
//	go test ./wrap/client -run 'Properties/jsonc' -rapid.checks=200000
//	go test ./wrap/client -run 'Properties/(toml|yaml)' -rapid.checks=20000
func TestProperties(t *testing.T) {
	slow.Test(t)
	slow.Checks(t, 40, 2500)
	for _, c := range []struct {
		format  Format
		samples *rapid.Generator[sample]
	}{
		{JSON, jsonSamples(JSON)},
		{JSONC, jsonSamples(JSONC)},
		{JSON5, jsonSamples(JSON5)},
		{TOML, tomlSamples},
		{YAML, yamlSamples},
	} {
		t.Run(string(c.format), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { checkProperties(t, c.samples.Draw(t, "file")) })
		})
	}
}

func checkProperties(t *rapid.T, s sample) {
	src := []byte(s.src)
	e := target(t, s, src)
	if e.Command != s.command || !slices.Equal(e.Args, s.args) || e.Kind != Stdio || e.Problem != nil {
		t.Fatalf("read %+v of\n%s", e, src)
	}
	w := Wrapper{Path: rapid.SampledFrom([]string{"clawai", "/opt/my tools/clawai", `C:\Program Files\clawai.exe`}).Draw(t, "path")}
	if rapid.Bool().Draw(t, "observe") {
		w.Observe = true
	}
	after, err := Wrap(s.row, src, e, w)
	if err != nil {
		t.Fatalf("wrap: %v\n%s", err, src)
	}
	again, err := Wrap(s.row, after, e, w)
	if err != nil || string(again) != string(after) {
		t.Fatalf("wrapped twice: %v\n%s\n%s", err, after, again)
	}
	words := append(frontWords(w, e.Name), "--", s.command)
	words = append(words, s.args...)
	checkMeaning(t, s, string(after), words)
	back, err := Unwrap(s.row, after, e)
	if err != nil || string(back) != s.src {
		t.Fatalf("unwrap: %v\n%s\n%s\n%s", err, src, after, back)
	}
	checkEdited(t, s, e, string(after))
	checkUpdated(t, s, e, after)
	if string(src) != s.src {
		t.Fatal("the source was written to")
	}
}

// frontWords are clawai's own, but for the last.
func frontWords(w Wrapper, server string) []string {
	words := []string{w.Path, "proxy", "--server", server}
	if strings.HasPrefix(server, "-") {
		words = []string{w.Path, "proxy", "--server=" + server}
	}
	if w.Observe {
		words = append(words, "--observe")
	}
	return words
}

func target(t *rapid.T, s sample, src []byte) Entry {
	entries, err := Read(s.row, src)
	if err != nil {
		t.Fatalf("read: %v\n%s", err, src)
	}
	for _, e := range entries {
		if slices.Equal(e.KeyPath, s.path) {
			return e
		}
	}
	t.Fatalf("no %q in %+v\n%s", s.path, entries, src)
	return Entry{}
}

// checkMeaning: to another parser only the target differs, as it should.
func checkMeaning(t *rapid.T, s sample, after string, words []string) {
	want, err := decode(s.row.Format, s.src)
	if err != nil {
		t.Fatalf("the sample does not decode: %v\n%s", err, s.src)
	}
	entry, err := at(want, s.path)
	if err != nil {
		t.Fatal(err)
	}
	setWords(s.row, entry, words)
	got, err := decode(s.row.Format, after)
	if err != nil {
		t.Fatalf("the wrapped file does not decode: %v\n%s", err, after)
	}
	if !same(got, want) {
		t.Fatalf("got\n%v\nwant\n%v\nof\n%s", got, want, after)
	}
}

// checkEdited: what the owner changes between wrap and unwrap stays.
func checkEdited(t *rapid.T, s sample, e Entry, after string) {
	edit := strings.NewReplacer(
		marks[0], "changed, and longer", marks[1], "x", marks[2], "changed too", marks[3], "--")
	back, err := Unwrap(s.row, []byte(edit.Replace(after)), e)
	if err != nil || string(back) != edit.Replace(s.src) {
		t.Fatalf("unwrap after an edit: %v\n%s\n%s", err, after, back)
	}
}

// checkUpdated: a wrapper of another path is changed in place, and the file
// still comes back.
func checkUpdated(t *rapid.T, s sample, e Entry, after []byte) {
	updated, err := Wrap(s.row, after, e, Wrapper{Path: "/new/clawai"})
	if err != nil {
		t.Fatalf("update: %v\n%s", err, after)
	}
	fresh, err := Wrap(s.row, []byte(s.src), e, Wrapper{Path: "/new/clawai"})
	if err != nil || string(updated) != string(fresh) {
		t.Fatalf("updated %v\n%s\nwrapped afresh\n%s", err, updated, fresh)
	}
}
