package frame_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"

	"github.com/clawai/clawai/internal/testing/hostile"
	"github.com/clawai/clawai/internal/wire/frame"
)

const head = `{"jsonrpc":"2.0","id":1234,`

// textResult is the content of a file, as tools return it.
func textResult(n int) []byte {
	const line = `   12: the quick brown fox said \"jump\" and jumped over the lazy dog\n`
	return []byte(head + `"result":{"content":[{"type":"text","text":"` + strings.Repeat(line, n/len(line)+1) + `"}],"isError":false}}`)
}

// tableResult is small objects, numbers and names: the dearest kind of JSON.
func tableResult(n int) []byte {
	var b strings.Builder
	b.WriteString(head + `"result":{"structuredContent":{"rows":[`)
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `{"id":%d,"name":"user %d","active":true,"score":%d.25,"tags":["a","b"]},`, i, i, i%97)
	}
	b.WriteString(`{}]},"content":[]}}`)
	return []byte(b.String())
}

// strict reads an envelope as a gate on jsontext would: token by token, params
// once more for its names.
func strict(line []byte) bool {
	d := jsontext.NewDecoder(bytes.NewReader(line))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return false
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return false
		}
		params := name.String() == "params"
		value, err := d.ReadValue()
		if err != nil {
			return false
		}
		if params && !foldless(value.Clone()) {
			return false
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	_, err := d.ReadToken()
	return errors.Is(err, io.EOF)
}

func foldless(params []byte) bool {
	seen := map[string]bool{}
	d := jsontext.NewDecoder(bytes.NewReader(params))
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil || seen[strings.ToLower(name.String())] {
			return false
		}
		seen[strings.ToLower(name.String())] = true
		if d.SkipValue() != nil {
			return false
		}
	}
	return true
}

// BenchmarkParse compares a whole reading with what others take to say that a
// line is JSON at all, and with reading the envelope through jsontext.
func BenchmarkParse(b *testing.B) {
	for _, c := range []struct {
		name string
		line []byte
	}{
		{"call", []byte(head + `"method":"tools/call","params":{"name":"read_file","arguments":{"path":"/home/user/projects/clawai/README.md","head":100}}}`)},
		{"text1KiB", textResult(1 << 10)},
		{"text64KiB", textResult(64 << 10)},
		{"text1MiB", textResult(1 << 20)},
		{"text16MiB", textResult(16 << 20)},
		{"table1MiB", tableResult(1 << 20)},
		{"wide1MiB", []byte(head + `"result":{"a":[` + strings.Repeat(`{`+hostile.Many(20)+`},`, 6000) + `0]}}`)},
		{"wider1MiB", []byte(head + `"result":{"a":[` + strings.Repeat(`{`+hostile.Many(60)+`},`, 2000) + `0]}}`)},
		{"members1MiB", []byte(head + `"result":{` + hostile.Many(75_000) + `}}`)},
		{"plain1MiB", []byte(head + `"result":{"content":[{"type":"text","text":"` + strings.Repeat("no escapes in this ", 55000) + `"}]}}`)},
		{"cyrillic1MiB", []byte(head + `"result":{"content":[{"type":"text","text":"` + strings.Repeat("съешь ещё этих мягких булок ", 20000) + `"}]}}`)},
	} {
		for _, p := range []struct {
			name string
			ok   func([]byte) bool
		}{
			{"frame", func(b []byte) bool { _, err := frame.Parse(b, frame.DefaultLimits()); return err == nil }},
			{"gjson", gjson.ValidBytes},
			{"encoding-json", json.Valid},
			{"jsontext", func(b []byte) bool { return jsontext.Value(b).IsValid() }},
			{"jsontext-envelope", strict},
		} {
			b.Run(c.name+"/"+p.name, func(b *testing.B) {
				b.SetBytes(int64(len(c.line)))
				b.ReportAllocs()
				for b.Loop() {
					if !p.ok(c.line) {
						b.Fatal("refused")
					}
				}
			})
		}
	}
}

func BenchmarkCheckFolded(b *testing.B) {
	params := []byte(`{"name":"read_file","arguments":{"path":"/home/user/projects/clawai/README.md","head":100}}`)
	b.ReportAllocs()
	for b.Loop() {
		if r := frame.CheckFolded(params, "name", "arguments", "_meta"); r != nil {
			b.Fatal(r)
		}
	}
}

// BenchmarkReader reads lines of one size from a stream that gives 64 KiB at a
// time, as a pipe does.
func BenchmarkReader(b *testing.B) {
	for _, size := range []int{150, 1 << 10, 64 << 10, 1 << 20, 16 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			r := frame.NewReader(endless(size), 64<<20)
			b.SetBytes(int64(size + 1))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.ReadLine(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
