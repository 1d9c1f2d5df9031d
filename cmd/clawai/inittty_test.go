//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

const initPolicyFile = ".config/clawai/policy.toml"

// newcomer is a home with two clients' servers and no policy yet.
func newcomer(t *testing.T) string {
	t.Helper()
	home := homeWithServers(t)
	if err := os.RemoveAll(filepath.Join(home, ".config")); err != nil {
		t.Fatal(err)
	}
	return home
}

func TestInitAsksAtATerminal(t *testing.T) {
	slow.Test(t)
	home := newcomer(t)
	p := sit(t, home, "init")
	p.sees("How to start?", "Mode [ask]:")
	p.types("\r")
	p.sees("Put clawai in front of which servers?", "one  Claude Code  ~/.claude.json", "two  Cursor")
	p.types(" ") // all are chosen to begin with; not the first
	p.types("\r")
	p.sees("+++ ~/.claude.json", "Policy to write: ~/.config/clawai/policy.toml", "Asked for, call by call: one, two.", "Write this? [y/N]")
	p.types("y\r")
	p.sees("Wrote a policy", "Wrapped two in ~/.claude.json", "Wrapped one, two in ~/.cursor/mcp.json",
		"Undo: clawai unwrap", "clawai log --follow")
	p.leaves(0)
	if got := readHome(t, home, ".claude.json"); !strings.Contains(got, `"one":{"command":"npx","args":["one"]}`) {
		t.Errorf("a server that was not chosen is wrapped:\n%s", got)
	}
	if got := readHome(t, home, initPolicyFile); !strings.Contains(got, "server = \"two\"\ntool = \"**\"") {
		t.Errorf("no rule for a server that no profile knows:\n%s", got)
	}
}

// Wherever a person leaves, nothing has been written.
func TestLeavingInitWritesNothing(t *testing.T) {
	slow.Test(t)
	for name, leave := range map[string]struct {
		answers [][2]string // what is seen, what is typed
		code    int
	}{
		"at the mode":       {[][2]string{{"Mode [ask]:", "\x03"}}, -1},
		"with no such mode": {[][2]string{{"Mode [ask]:", "lenient\r"}}, 2},
		"end of input":      {[][2]string{{"Mode [ask]:", "\x04"}}, 130},
		"at the servers":    {[][2]string{{"Mode [ask]:", "o\r"}, {"two  Cursor", "\x1b"}}, 130},
		"at the last word":  {[][2]string{{"Mode [ask]:", "strict\r"}, {"two  Cursor", "\r"}, {"[y/N]", "\r"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			home := newcomer(t)
			p := sit(t, home, "init")
			for _, a := range leave.answers {
				p.sees(a[0])
				p.types(a[1])
			}
			p.leaves(leave.code)
			if _, err := os.Lstat(filepath.Join(home, ".config")); err == nil {
				t.Error("a folder for the policy is there")
			}
			if readHome(t, home, ".claude.json") != twoServers || readHome(t, home, ".cursor/mcp.json") != twoServers {
				t.Error("a client's file is changed")
			}
		})
	}
}
