package frame_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/proxy/frame"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"
)

func textResult(n int) []byte {
	const line = `   12: the quick brown fox said \"jump\" and jumped over the lazy dog\n`
	return []byte(`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` +
		strings.Repeat(line, n/len(line)+1) + `"}],"isError":false}}`)
}

func tableResult(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"jsonrpc":"2.0","id":7,"result":{"structuredContent":{"rows":[`)
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `{"id":%d,"name":"user %d","active":true,"score":%d.25,"tags":["a","b"]},`, i, i, i%97)
	}
	b.WriteString(`{}]},"content":[]}}`)
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	call := []byte(`{"jsonrpc":"2.0","id":1234,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"/home/user/projects/clawai/README.md","head":100}}}`)
	russian := []byte(`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` + strings.Repeat("съешь ещё этих мягких булок ", 20000) + `"}]}}`)
	for _, c := range []struct {
		name string
		line []byte
	}{
		{"call", call},
		{"text1KiB", textResult(1 << 10)},
		{"text64KiB", textResult(64 << 10)},
		{"text1MiB", textResult(1 << 20)},
		{"text16MiB", textResult(16 << 20)},
		{"table1MiB", tableResult(1 << 20)},
		{"cyrillic1MiB", russian},
	} {
		for _, p := range []struct {
			name string
			ok   func([]byte) bool
		}{
			{"frame", func(b []byte) bool { _, err := frame.Parse(b, frame.DefaultLimits()); return err == nil }},
			{"gjson", gjson.ValidBytes},
			{"encoding-json", json.Valid},
			{"jsontext", func(b []byte) bool { return jsontext.Value(b).IsValid() }},
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
