//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

// sit starts clawai on a terminal, which has room for whatever is compared.
func sit(t *testing.T, home string, args ...string) *watcher {
	t.Helper()
	return watchAs(t, home, []string{"TERM=xterm-256color"}, 50, 200, args...)
}

const twoServers = `{"mcpServers":{
  "one":{"command":"npx","args":["one"]},
  "two":{"command":"npx","args":["two"]}
}}`

func homeWithServers(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	for path, text := range map[string]string{
		".cursor/mcp.json":           twoServers,
		".claude.json":               twoServers,
		".config/clawai/policy.toml": "[[rule]]\naction = \"allow\"\ntool = \"*\"\n",
	} {
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

func readHome(t *testing.T, home, rel string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(home, rel))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestChoosingAtATerminal(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := homeWithServers(t)
	p := sit(t, home, "wrap")
	p.sees("Which servers to wrap?", "one  Claude Code  ~/.claude.json", "two  Cursor  ~/.cursor/mcp.json")
	p.types("\x1b[B ") // the second line: two of Claude Code
	p.sees("> [x] two  Claude Code")
	p.types("\r")
	p.sees("+++ ~/.claude.json", `"--server", "two"`, "Write this file? [y/N]")
	p.types("y\r")
	p.sees("Wrapped two in ~/.claude.json", "Undo: clawai unwrap two")
	p.leaves(0)
	got := readHome(t, home, ".claude.json")
	if !strings.Contains(got, `"one":{"command":"npx","args":["one"]}`) || !strings.Contains(got, `"--server", "two", "--", "npx", "two"`) {
		t.Errorf("got\n%s", got)
	}
	if readHome(t, home, ".cursor/mcp.json") != twoServers {
		t.Error("a file that was not chosen is written")
	}
	p = sit(t, home, "unwrap", "two", "--yes")
	p.leaves(0)
	if got := readHome(t, home, ".claude.json"); got != twoServers {
		t.Errorf("came back as\n%s", got)
	}
}

func TestANameInTwoFilesIsAskedFor(t *testing.T) {
	home := homeWithServers(t)
	p := sit(t, home, "wrap", "one")
	p.sees("Which servers to wrap?", "one  Claude Code", "one  Cursor")
	p.types("\r") // both are chosen to begin with
	p.sees("Write these 2 files? [y/N]")
	p.types("\r")
	p.sees("Nothing was written.")
	p.leaves(0)
	p = sit(t, home, "wrap", "one", "--client", "cursor")
	p.sees("Write this file? [y/N]")
	p.types("\x03")
	p.leaves(-1) // by the signal
	if readHome(t, home, ".claude.json") != twoServers || readHome(t, home, ".cursor/mcp.json") != twoServers {
		t.Error("written without a yes")
	}
}

func TestLeavingTheChoiceWritesNothing(t *testing.T) {
	for keys, code := range map[string]int{"\x03": 130, "\x1b": 130, "\r": 1} {
		home := homeWithServers(t)
		p := sit(t, home, "wrap")
		p.sees("Which servers to wrap?", "two  Cursor")
		p.types(keys)
		p.leaves(code)
		if readHome(t, home, ".claude.json") != twoServers {
			t.Errorf("%q: written", keys)
		}
	}
}

// A hostile name moves no cursor and hides nothing.
func TestChoicesAreHarmless(t *testing.T) {
	home := homeWithServers(t)
	evil := `{"mcpServers":{"a\u001b[2J\u202eb\nc":{"command":"npx\u001b]0;x\u0007","args":["x"]},"z":{"command":"z"}}}`
	if err := os.WriteFile(filepath.Join(home, ".claude.json"), []byte(evil), 0o600); err != nil {
		t.Fatal(err)
	}
	p := sit(t, home, "wrap", "--client", "claude-code")
	p.sees(`a\u{1b}[2J\u{202e}b\nc  Claude Code`)
	p.types("\x03")
	p.leaves(130)
}
