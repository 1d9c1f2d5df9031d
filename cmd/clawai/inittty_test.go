//go:build linux || darwin

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// The folders of the servers are preset; a folder that no rule opens is not taken, and what a person
// says stands in the policy.
func TestInitAsksForFolders(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := newcomer(t)
	src := fmt.Sprintf(`{"mcpServers":{"files":{"command":"npx","args":["-y","@modelcontextprotocol/server-filesystem",%q]}}}`, filepath.Join(home, "work"))
	if err := os.WriteFile(filepath.Join(home, ".cursor/mcp.json"), []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	p := sit(t, home, "init", "--client", "cursor")
	p.sees("Mode [ask]:")
	p.types("\r")
	p.sees("Put clawai in front of which servers?")
	p.types("\r")
	p.sees("Which folders may be used?", "Servers read there", "~/work")
	p.types(", ~/.ssh\r")
	p.sees("is a place where secrets are kept")
	p.types("\x7f\x7f\x7f\x7fnotes\r")
	p.sees("The 2 folders it opens are what you said: ~/notes, ~/work.", "Write this? [y/N]")
	p.types("y\r")
	p.sees("Try one question now? [Y/n]")
	p.types("n\r")
	p.leaves(0)
	if got := readHome(t, home, initPolicyFile); !strings.Contains(got, `projects = ["~/notes", "~/work"]`) {
		t.Errorf("the policy has\n%.600s", got)
	}
}

func TestInitAsksAtATerminal(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := newcomer(t)
	p := sit(t, home, "init")
	p.sees("How to start?", "Mode [ask]:")
	p.types("\r")
	p.sees("Put clawai in front of which servers?", "one  Claude Code  ~/.claude.json", "two  Cursor")
	p.types(" ") // all are chosen to begin with; not the first
	p.types("\r")
	p.sees("clawai does not know one, two. Ask what tools there are?", "[y/N]")
	p.types("\r")
	p.sees("+++ ~/.claude.json", "Policy to write: ~/.config/clawai/policy.toml", "Asked for, call by call: one, two.", "Write this? [y/N]")
	p.types("y\r")
	p.sees("Wrote a policy", "Wrapped two in ~/.claude.json", "Wrapped one, two in ~/.cursor/mcp.json",
		"Undo: clawai unwrap", "How you are asked:", "clawai approve --web", "Try one question now? [Y/n]")
	p.types("n\r")
	p.sees("clawai log --follow")
	p.leaves(0)
	if got := readHome(t, home, ".claude.json"); !strings.Contains(got, `"one":{"command":"npx","args":["one"]}`) {
		t.Errorf("a server that was not chosen is wrapped:\n%s", got)
	}
	if got := readHome(t, home, initPolicyFile); !strings.Contains(got, "server = [\"one\", \"two\"]\ntool = \"**\"") {
		t.Errorf("no rule for a server that no profile knows:\n%s", got)
	}
}

// Wherever a person leaves, nothing has been written.
func TestLeavingInitWritesNothing(t *testing.T) {
	slow.Test(t)
	t.Parallel()
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

// What is typed while a server is asked agrees to nothing: the question came later.
func TestInitTakesNothingTypedBefore(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := newcomer(t)
	on := filepath.Join(home, "go-on")
	entry, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"late": map[string]any{"command": "sh", "args": []string{"-c", "until [ -e " + on + " ]; do sleep 0.05; done"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".cursor/mcp.json"), entry, 0o600); err != nil {
		t.Fatal(err)
	}
	p := sit(t, home, "init", "--client", "cursor", "--mode", "ask")
	p.sees("1 of 1 chosen")
	p.types("\r")
	p.sees("Ask what tools there are?", "[y/N]")
	p.types("y\r")
	p.sees("[y/N] y") // from here on the server is asked
	p.types("yearly\r")
	p.sees("yearly")
	if err := os.WriteFile(on, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.sees("Write this? [y/N]")
	p.types("n\r")
	p.leaves(0)
	if _, err := os.Stat(filepath.Join(home, initPolicyFile)); err == nil {
		t.Error("a policy was written")
	}
}

// The question that is tried takes the way of every question: what is answered there is
// what happens.
func TestInitTriesAQuestion(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for name, answer := range map[string]struct{ keys, end string }{
		"denied":  {"\r", "Refused, and the server never saw the call:"},
		"allowed": {"\x1b[B\r", "Let through: the server wrote its file, in a folder that is gone again."},
	} {
		t.Run(name, func(t *testing.T) {
			sizes(t, func(t *testing.T, rows, cols int) {
				home := newcomer(t)
				if err := os.Mkdir(filepath.Join(home, "tmp"), 0o700); err != nil {
					t.Fatal(err)
				}
				w := watchAs(t, home, colorful, rows, cols, "init", "--client", "cursor")
				w.sees("Mode [ask]:")
				w.types("\r")
				w.sees("2 of 2 chosen")
				w.types("\r")
				w.sees("Ask what tools there are?")
				w.types("n\r")
				w.sees("Write this? [y/N]")
				w.types("y\r")
				w.sees("Try one question now? [Y/n]")
				w.types("\r")
				w.sees("write_file", "trial", "hello.txt")
				time.Sleep(time.Second) // a key counts when the question has been in sight for 300 ms
				w.types(answer.keys)
				w.sees(answer.end, "then clawai approve shows the question.", "clawai doctor")
				w.leaves(0)
				if left, err := os.ReadDir(filepath.Join(home, "tmp")); err != nil || len(left) > 0 {
					t.Errorf("%v is left, %v", left, err)
				}
			})
		})
	}
}

// A server that nobody knows is asked when the person says so, once; what passes without a
// question is what was picked of what it lists.
func TestInitAsksServersAtATerminal(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	sizes(t, func(t *testing.T, rows, cols int) {
		home := newcomer(t)
		started := filepath.Join(home, "started")
		server := `read a; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; read b; read c; echo x >>` + started +
			`; echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"get_forecast","annotations":{"readOnlyHint":true}},{"name":"list_alerts","annotations":{"readOnlyHint":true}},{"name":"delete_station"}]}}'`
		entries, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
			"weather": map[string]any{"command": "sh", "args": []string{"-c", server}}, "silent": map[string]any{"command": "false"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, ".cursor/mcp.json"), entries, 0o600); err != nil {
			t.Fatal(err)
		}
		w := watchAs(t, home, colorful, rows, cols, "init", "--client", "cursor")
		w.sees("Mode [ask]:")
		w.types("\r")
		w.sees("2 of 2 chosen")
		w.types("\r")
		w.sees("clawai does not know silent, weather. Ask what tools there are?")
		if _, err := os.Stat(started); err == nil {
			t.Error("a server was started before anybody said so")
		}
		w.types("y\r")
		w.shows(cols, "These say that they only read. Which may run without a question?",
			"> [ ] weather  get_forecast",
			"  [ ] weather  list_alerts",
			"0 of 2 chosen ─", chooserKeys)
		w.types(" \r")
		w.sees("Write this? [y/N]")
		w.types("y\r")
		w.sees("Asked for, call by call: silent", "Try one question now? [Y/n]")
		w.types("n\r")
		w.leaves(0)
		if src, err := os.ReadFile(started); err != nil || string(src) != "x\n" {
			t.Errorf("it was started %q times, %v", src, err)
		}
		rules := readHome(t, home, initPolicyFile)
		for _, want := range []string{
			"action = \"allow\"\nserver = \"weather\"\ntool = \"get_forecast\"",
			"action = \"prompt\"\nserver = \"weather\"\ntool = \"delete_station\"",
			"server = \"silent\"\ntool = \"**\"",
		} {
			if !strings.Contains(rules, want) {
				t.Errorf("no rule\n%s\nin\n%s", want, rules)
			}
		}
	})
}

// Without a policy, wrap offers to write the one that init would, and asks before it does.
func TestWrapOffersAPolicy(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	offer := []string{"There is no policy at ~/.config/clawai/policy.toml, and without one a wrapped server does not start.", "as clawai init does? [Y/n]"}
	home := newcomer(t)
	p := sit(t, home, "wrap", "one", "--client", "cursor")
	p.sees(offer...)
	p.types("n\r")
	p.leaves(1)
	p = sit(t, home, "wrap", "one", "--client", "cursor")
	p.sees(offer...)
	p.types("\r")
	p.sees("clawai does not know one.")
	p.types("\r")
	p.sees("Policy to write: ~/.config/clawai/policy.toml", "Asked for, call by call: one.", "Write this file? [y/N]")
	p.types("\r")
	p.leaves(0)
	if _, err := os.Lstat(filepath.Join(home, ".config")); err == nil || readHome(t, home, ".cursor/mcp.json") != twoServers {
		t.Error("something was written before anybody said yes")
	}
	p = sit(t, home, "wrap", "one", "--client", "cursor")
	p.sees(offer...)
	p.types("y\r")
	p.sees("clawai does not know one.")
	p.types("n\r")
	p.sees("[y/N]", "Write this file? [y/N]")
	p.types("y\r")
	p.sees("Wrapped one in ~/.cursor/mcp.json.", "How you are asked:", "clawai approve")
	p.leaves(0)
	if got := readHome(t, home, initPolicyFile); !strings.Contains(got, "server = \"one\"\ntool = \"**\"") {
		t.Errorf("the policy is\n%s", got)
	}
}
