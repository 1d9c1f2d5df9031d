//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnread: init, wrap and unwrap do all of their work when nobody reads what they say of
// it, as before a "| head" that has had enough.
func TestUnread(t *testing.T) {
	h := newWrapHome(t)
	files := []string{".claude.json", ".cursor/mcp.json", ".codeium/windsurf/mcp_config.json"}
	text := `{"mcpServers": {"s%d": {"command": "true", "args": ["a"]}}}`
	for i, name := range files {
		h.write(name, fmt.Sprintf(text, i))
	}
	wrapped := func() (all []bool) {
		for i, name := range files {
			src, err := os.ReadFile(filepath.Join(h.dir, name))
			if err != nil {
				t.Fatal(err)
			}
			whole := string(src) == fmt.Sprintf(text, i)
			if !whole && !strings.Contains(string(src), `"proxy"`) {
				t.Errorf("%s: %s", name, src)
			}
			all = append(all, !whole)
		}
		return all
	}
	for _, c := range []struct {
		args string
		want bool
	}{
		{"wrap --all --yes", true}, {"unwrap --all --yes", false}, {"init --yes --client all", true}, {"unwrap --all --yes --json", false},
		{"wrap --all --dry-run", false},
	} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		read.Close()
		cmd := exec.Command(h.bin, strings.Fields(c.args)...)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = h.dir, h.env, write, write
		_ = cmd.Run() // a document that nobody reads is a failure
		write.Close()
		if !cmd.ProcessState.Exited() || cmd.ProcessState.ExitCode() != 0 && !strings.Contains(c.args, "--json") {
			t.Errorf("%s: %s", c.args, cmd.ProcessState)
		}
		for i, got := range wrapped() {
			if got != c.want {
				t.Errorf("%s: %s wrapped: %v", c.args, files[i], got)
			}
		}
	}
}
