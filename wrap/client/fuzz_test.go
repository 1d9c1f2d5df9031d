package client

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// fuzzRows are tried on every fuzzed text.
var fuzzRows = []Row{
	rowJSON, rowJSONC, rowJSON5, rowLocal, rowArray, rowObject, rowNested, rowTOML, rowTables, rowYAML, rowList,
	remoteRow(JSONC), remoteRow(JSON5), remoteRow(YAML), rowCodex, strictRow(), rowVSCode,
}

// FuzzWrap: whatever a file holds, an edit either comes back byte for byte or
// is refused, is made once, and leaves the file it was given alone.
func FuzzWrap(f *testing.F) {
	for i, pairs := range [][]pair{jsonPairs, tomlPairs, yamlPairs, remotePairs(), sandboxPairs} {
		for _, p := range pairs {
			for n, r := range fuzzRows {
				if r.Format == p.row.Format || i == 0 && r.Format != TOML && r.Format != YAML {
					f.Add(uint8(n), p.before)
					f.Add(uint8(n), p.after)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, text string) {
		r := fuzzRows[int(n)%len(fuzzRows)]
		src := []byte(text)
		entries, err := Read(r, src)
		if err != nil {
			editError(t, err)
		}
		for _, e := range entries {
			fuzzEntry(t, r, src, e)
		}
		if string(src) != text {
			t.Fatal("the source was written to")
		}
	})
}

func fuzzEntry(t *testing.T, r Row, src []byte, e Entry) {
	if after, err := RedirectEntry(r, src, e, front); err == nil && e.Wrapped == nil {
		if back, err := Unwrap(r, after, e); err != nil || string(back) != string(src) {
			t.Fatalf("led elsewhere and back: %v\n%q\n%q", err, after, back)
		}
	} else if err != nil {
		editError(t, err)
	}
	after, err := Wrap(r, src, e, clawai)
	if err != nil {
		editError(t, err)
		if after != nil {
			t.Fatal("bytes beside an error")
		}
		return
	}
	if e.Kind == Other || e.Problem != nil {
		t.Fatalf("wrapped although %+v", e)
	}
	if again, err := Wrap(r, after, e, clawai); err != nil || string(again) != string(after) {
		t.Fatalf("wrapped twice: %v\n%q\n%q", err, after, again)
	}
	if _, err := decode(r.Format, string(after)); err != nil && (r.Format == TOML || r.Format == JSON) {
		t.Fatalf("wrapped file: %v\n%q", err, after)
	}
	back, err := Unwrap(r, after, e)
	if e.Wrapped == nil && (err != nil || string(back) != string(src)) {
		t.Fatalf("unwrap: %v\n%q\n%q", err, src, back)
	}
	if e.Wrapped != nil && err == nil {
		// Blanks that somebody else put among its words go another way.
		if older, err := Unwrap(r, src, e); err != nil || strings.Join(strings.Fields(string(older)), "") != strings.Join(strings.Fields(string(back)), "") {
			t.Fatalf("unwrap of an older wrapper: %v\n%q\n%q", err, older, back)
		}
	}
}

// FuzzStrictJSON: our reader and encoding/json take the same texts for JSON.
func FuzzStrictJSON(f *testing.F) {
	for _, p := range jsonPairs {
		f.Add(p.before)
	}
	for _, s := range []string{`[1.5e+3, -0, 01, 1., .5, "\ud800", null]`, `{"a":}`, "\"\x7f\"", `"\u12"`, "tru", "nullx", "1 2", "[1,]", "-", "0e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || strings.Count(text, "[")+strings.Count(text, "{") > maxDepth {
			return
		}
		if len(strings.Trim(text, " \t\r\n")) == 0 || strings.HasPrefix(text, "\ufeff") {
			return
		}
		_, err := parseJSON([]byte(text), JSON, nil)
		if valid := json.Valid([]byte(text)); valid != (err == nil) {
			t.Fatalf("valid %v, but %v", valid, err)
		}
		_, err = parseJSON([]byte(text), JSON, []string{"no", "such"})
		if valid := json.Valid([]byte(text)); valid != (err == nil) {
			t.Fatalf("followed: valid %v, but %v", valid, err)
		}
		if _, five := parseJSON([]byte(text), JSON5, nil); err == nil && five != nil {
			t.Fatalf("JSON, but not JSON5: %v", five)
		}
	})
}
