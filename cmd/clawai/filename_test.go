package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A checkout holds whatever names somebody gave its files, and a runner of a
// pipeline takes a line that begins with :: for a command to itself.
func TestNamesOfFilesBeginNoLine(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no file can be called so")
	}
	dir := filepath.Join(t.TempDir(), "a\n::error::b")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	in := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	odd, bad := in("odd.toml", "[[rule]]\naction = \"allow\"\n\n\ntool=\"x\"\n"), in("bad.toml", "acton = 1\n")
	in("fixture.json", `{"method":"tools/call","params":{"name":"x"},"expected":"deny"}`)
	in("torn.json", "{")
	for _, args := range [][]string{
		{"check", odd}, {"check", bad}, {"lint", odd}, {"lint", bad}, {"fmt", "--check", odd}, {"fmt", "--check", bad},
		{"diff", odd, bad}, {"diff", bad, odd}, {"test", "--policy", odd, "--fixture-dir", dir}, {"test", "--policy", bad, "--fixture-dir", dir},
		{"coverage", "--policy", odd, "--fixture-dir", dir}, {"mutate", "--policy", bad, "--fixture-dir", dir},
	} {
		var out bytes.Buffer
		runClawai(append([]string{"clawai", "policy"}, args...), &out, &out)
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, "::") {
				t.Errorf("policy %s: %q", args[0], line)
			}
		}
	}
}
