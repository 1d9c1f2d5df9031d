package client

import (
	"bytes"
	"errors"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clawai/clawai/internal/testing/slow"
)

var twoSpaces = regexp.MustCompile(`(?m)^( {2})+`)

// Ways in which the same file is written on another machine, or by another
// editor. Each commutes with an edit: what is wrapped after the change is what
// is changed after the wrap.
var variants = []struct {
	name  string
	apply func(Format, []byte) []byte
}{
	{"bom", func(_ Format, src []byte) []byte { return append([]byte("\xef\xbb\xbf"), src...) }},
	{"crlf", func(_ Format, src []byte) []byte { return bytes.ReplaceAll(unix(src), []byte("\n"), []byte("\r\n")) }},
	{"lf", func(_ Format, src []byte) []byte { return unix(src) }},
	{"no final newline", func(_ Format, src []byte) []byte { return bytes.TrimRight(src, "\r\n") }},
	{"blank lines at both ends", func(_ Format, src []byte) []byte {
		return append(append([]byte("\n"), src...), "\n\n"...)
	}},
	{"tabs", func(f Format, src []byte) []byte {
		if f == YAML { // which has no tabs
			return src
		}
		return twoSpaces.ReplaceAllFunc(src, func(spaces []byte) []byte { return bytes.Repeat([]byte("\t"), len(spaces)/2) })
	}},
	{"names beyond ASCII", func(_ Format, src []byte) []byte {
		return bytes.ReplaceAll(src, []byte("alice"), []byte("ålice \U0001f980"))
	}},
}

// uncoded leaves out the bytes of a member that was cut out: they hold line ends.
func uncoded(src []byte) string { return cutBytes.ReplaceAllString(string(src), "cut=") }

var cutBytes = regexp.MustCompile(`cut=[\w.-]*`)

func unix(src []byte) []byte { return bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n")) }

func TestGoldenVariants(t *testing.T) {
	slow.Test(t)
	for _, row := range catalogue(t) {
		if row.ReadOnly {
			continue
		}
		for _, v := range variants {
			t.Run(row.ID+"/"+v.name, func(t *testing.T) {
				before := v.apply(row.Format, golden(t, row, "before"))
				after := v.apply(row.Format, golden(t, row, "after"))
				wrapped := eachServer(t, row, before, func(src []byte, e Entry) ([]byte, error) { return Wrap(row, src, e, clawai) })
				if diff := cmp.Diff(uncoded(after), uncoded(wrapped)); diff != "" {
					t.Fatalf("wrapped (-want +got):\n%s", diff)
				}
				back := eachServer(t, row, wrapped, func(src []byte, e Entry) ([]byte, error) { return Unwrap(row, src, e) })
				if !bytes.Equal(back, before) {
					t.Errorf("unwrapped (-want +got):\n%s", cmp.Diff(string(before), string(back)))
				}
			})
		}
	}
}

// clawai moves: each file is brought from an older path to today's in place,
// and comes out as if it had been wrapped today.
func TestGoldenUpdate(t *testing.T) {
	slow.Test(t)
	for _, row := range catalogue(t) {
		if row.ReadOnly {
			continue
		}
		for _, older := range []Wrapper{
			{Path: "clawai"},
			{Path: `C:\Program Files\clawai\clawai.exe`},
			{Path: "/opt/old \"one\"/clawai", Server: "another name"},
			{Path: "/usr/local/bin/clawai", Observe: true},
		} {
			t.Run(row.ID+"/"+older.Path, func(t *testing.T) {
				before := golden(t, row, "before")
				with := func(w Wrapper) func([]byte, Entry) ([]byte, error) {
					return func(src []byte, e Entry) ([]byte, error) { return Wrap(row, src, e, w) }
				}
				old := eachServer(t, row, before, with(older))
				if diff := cmp.Diff(string(golden(t, row, "after")), string(eachServer(t, row, old, with(clawai)))); diff != "" {
					t.Errorf("updated (-want +got):\n%s", diff)
				}
				back := eachServer(t, row, old, func(src []byte, e Entry) ([]byte, error) { return Unwrap(row, src, e) })
				if !bytes.Equal(back, before) {
					t.Errorf("unwrapped (-want +got):\n%s", cmp.Diff(string(before), string(back)))
				}
			})
		}
	}
}

// Edits elsewhere survive: here every other server of the file is gone, or the
// file has grown, before clawai is taken away.
func TestGoldenEditsBetween(t *testing.T) {
	slow.Test(t)
	for _, row := range catalogue(t) {
		if row.ReadOnly {
			continue
		}
		t.Run(row.ID, func(t *testing.T) {
			grow := func(name string) []byte {
				src := golden(t, row, name)
				if row.Format == TOML || row.Format == YAML {
					return append(append([]byte("# a new first line\n"), src...), "# and a last\n"...)
				}
				return bytes.Replace(src, []byte("{"), []byte("{\n  \"new\": [1, {\"mcpServers\": null}],"), 1)
			}
			back := eachServer(t, row, grow("after"), func(src []byte, e Entry) ([]byte, error) { return Unwrap(row, src, e) })
			if want := grow("before"); !bytes.Equal(back, want) {
				t.Errorf("unwrapped (-want +got):\n%s", cmp.Diff(string(want), string(back)))
			}
		})
	}
}

// A file cut short at any byte is read whole or refused with a place; it never
// panics and never passes for a file without servers once it names one.
func TestGoldenCutShort(t *testing.T) {
	slow.Test(t)
	for _, row := range catalogue(t) {
		src := golden(t, row, "before")
		step := max(1, len(src)/200)
		for n := 0; n < len(src); n += step {
			entries, err := Read(row, src[:n])
			var edit *EditError
			if err != nil && (!errors.As(err, &edit) || edit.Line < 1 || edit.Column < 1) {
				t.Fatalf("row %s, %d bytes: %v", row.ID, n, err)
			}
			if braces := row.Format != TOML && row.Format != YAML; braces && err == nil && len(bytes.TrimSpace(src[:n])) > 0 &&
				len(bytes.TrimRight(src, "\r\n")) > n && bytes.Contains(src[:n], []byte("{\n")) {
				t.Fatalf("row %s, %d bytes: %d servers and no error", row.ID, n, len(entries))
			}
		}
	}
}
