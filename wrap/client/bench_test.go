package client

import (
	"fmt"
	"strings"
	"testing"
)

// claudeFile is a ~/.claude.json of about n bytes: histories of many projects,
// and few servers.
func claudeFile(n int) []byte {
	var b strings.Builder
	b.WriteString("{\n  \"mcpServers\": {\n    \"fs\": {\"command\": \"npx\", \"args\": [\"-y\", \"x\"]}\n  },\n  \"projects\": {\n")
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "    \"/home/user/src/project-%d\": {\n      \"history\": [\n", i)
		for k := range 40 {
			fmt.Fprintf(&b, "        {\"display\": \"fix \\\"%d\\\" in the parser, then run the tests \\u2026\", \"pastedContents\": {\"n\": %d}},\n", k, k*i)
		}
		b.WriteString("        {}\n      ],\n      \"mcpServers\": {\"git\": {\"command\": \"uvx\"}}\n    },\n")
	}
	b.WriteString("    \"/\": {}\n  }\n}\n")
	return []byte(b.String())
}

func BenchmarkLargeFile(b *testing.B) {
	src := claudeFile(20 << 20)
	e := Entry{Name: "fs", KeyPath: []string{"mcpServers", "fs"}}
	after, err := Wrap(rowJSON, src, e, clawai)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"read", func() error { _, err := Read(rowJSON, src); return err }},
		{"read projects", func() error { _, err := Read(rowLocal, src); return err }},
		{"wrap", func() error { _, err := Wrap(rowJSON, src, e, clawai); return err }},
		{"unwrap", func() error { _, err := Unwrap(rowJSON, after, e); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
