// Package advisories holds clawai to published bypasses of the tools of this field: each
// row is a case of ours for one advisory, with an ordinary call beside it that passes.
package advisories

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
	"github.com/clawai/clawai/proxy/hook"
	"github.com/clawai/clawai/proxy/hook/client"
)

// advisory is one row. Its rules are the name of a starter or the text of a policy.
type advisory struct {
	id, about string
	rules     string
	server    string // "" for one that is not named
	tool      string
	bypass    string // arguments as JSON; each line is a variant
	beside    string // arguments of a call that is allowed
}

// commands is a policy that opens, for the tool run, commands of these patterns.
func commands(patterns ...string) string {
	list, err := json.Marshal(patterns)
	if err != nil {
		panic(err)
	}
	return "[[rule]]\naction = \"allow\"\ntool = \"run\"\nwhere.command.command = " + string(list) + "\n"
}

// denies is a policy that allows every command but those of these patterns.
func denies(patterns ...string) string {
	list, err := json.Marshal(patterns)
	if err != nil {
		panic(err)
	}
	return "[[rule]]\naction = \"deny\"\ntool = \"run\"\nwhere.command.command = " + string(list) + "\n[[rule]]\naction = \"allow\"\ntool = \"run\"\n"
}

// command is the arguments of a call that runs each of these texts.
func command(texts ...string) string {
	lines := make([]string, len(texts))
	for i, text := range texts {
		line, err := json.Marshal(map[string]string{"command": text})
		if err != nil {
			panic(err)
		}
		lines[i] = string(line)
	}
	return strings.Join(lines, "\n")
}

// write is the arguments with which an agent writes each of these files.
func write(paths ...string) string {
	lines := make([]string, len(paths))
	for i, path := range paths {
		lines[i] = `{"file_path":"` + path + `","content":"x"}`
	}
	return strings.Join(lines, "\n")
}

const app = "/home/user/projects/app"

// TestRules judges each row by the rules that a user of such a tool would write.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range ruled() {
		t.Run(strings.ReplaceAll(a.id, "/", "_"), func(t *testing.T) {
			if seen[a.id] || a.about == "" {
				t.Error("it is there twice, or says nothing")
			}
			seen[a.id] = true
			src := []byte(a.rules)
			if !strings.Contains(a.rules, "\n") {
				var err error
				if src, err = fixtures.ComposePolicy(a.rules); err != nil {
					t.Fatal(err)
				}
			}
			p, err := policy.Parse("policy.toml", src, policy.Options{Home: "/home/user", Disk: links(t)})
			if err != nil {
				t.Fatal(err)
			}
			for args := range strings.Lines(a.bypass) {
				if got := decide(p, a, strings.TrimSpace(args)); got == policy.Allow {
					t.Errorf("%s: %s is allowed", a.about, args)
				}
			}
			for args := range strings.Lines(a.beside) {
				if got := decide(p, a, strings.TrimSpace(args)); got != policy.Allow {
					t.Errorf("the ordinary call beside it is %v: %s", got, args)
				}
			}
		})
	}
	if rows := len(seen) + len(framed) + len(elsewhere); rows < 40 {
		t.Errorf("%d advisories", rows)
	}
}

func decide(p *policy.Policy, a advisory, args string) policy.Action {
	params := `{"name":` + quote(a.tool) + `,"arguments":` + args + `}`
	fx := check.Fixture{Server: a.server, Facts: policy.Facts{Cwd: app}, Method: "tools/call", Params: []byte(params)}
	if a.rules == "coding-agent" {
		fx.Method = "builtin/call"
	}
	return check.JudgeFixture(p, fx, "").Action
}

func quote(s string) string {
	text, _ := json.Marshal(s) // a string always marshals
	return string(text)
}

// links is a disk with a link in a project that leads out of it.
func links(t *testing.T) disk.Disk {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{app, "/etc", "/home/user/.ssh"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{app + "/link": "/etc", app + "/keys": "/home/user/.ssh"} {
		if err := os.Symlink(to, filepath.Join(root, from)); err != nil {
			t.Skip(err)
		}
	}
	return disk.RootedDisk(root)
}

// framed are messages that two parsers read differently, by advisory: none is admitted.
var framed = map[string][]string{
	"CVE-2026-27896, GHSA-wvj2-96wp-fq3f: MCP Go SDK, names of members without case": {
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","Method":"ping","params":{"name":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"Method":"tools/call","params":{"name":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe","Name":"evil"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","paramſ":{"name":"evil"},"params":{"name":"safe"}}`,
	},
	"GHSA-q382-vc8q-7jhj: MCP Go SDK, a NUL at the end of a member's name": {
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe","name\u0000":"evil"}}`,
	},
	"GHSA-4gph-2hhr-5mwg: Envoy AI Gateway wrote another variant than it had judged": {
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"NAME":"evil","name":"safe"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe"},"params":{"name":"evil"}}`,
	},
	"CVE-2025-53365, CVE-2025-53366: MCP Python SDK, messages that end the server": {
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`,
		`{"jsonrpc":"2.0","id":[],"method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":1,"method":7}`,
	},
	"CVE-2026-39313: mcp-framework, a message without end": {
		`{"jsonrpc":"2.0","id":1,"method":"x","params":` + strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000) + "}",
	},
	"ToolHive #5931 (0.41): calls in a batch skipped authorization": {
		`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"evil"}}]`,
	},
}

func TestFrames(t *testing.T) {
	plain := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe","arguments":{}}}`
	if !admitted(plain) {
		t.Fatal("an ordinary call is refused")
	}
	for id, lines := range framed {
		for _, line := range lines {
			if admitted(line) {
				t.Errorf("%s: admitted: %.120s", id, line)
			}
		}
	}
}

// admitted reports whether a line passes the reader of frames, and no call of it is denied
// for its form.
func admitted(line string) bool {
	f, err := frame.Parse([]byte(line), frame.DefaultLimits())
	if err != nil {
		return false
	}
	m, refusal := mcp.Read(&f, mcp.ClientToServer, "s")
	return refusal == nil && !slices.ContainsFunc(m.Calls, func(c policy.Call) bool { return c.Malformed != "" })
}

// TestHookInput: Rampart 1.9.6 closed that a hook approved a payload which was empty or blank.
func TestHookInput(t *testing.T) {
	for _, id := range []string{"claude-code", "codex", "cursor", "gemini-cli", "copilot-cli"} {
		for _, payload := range []string{"", " ", "\n", "{}", "null", "[]", `{"tool_name":`} {
			a := hook.Run(t.Context(), []byte(payload), hook.Options{Client: id, Getenv: func(string) string { return "" },
				Open: func(string, *client.Request, hook.Dialog) (*hook.Door, error) { return nil, os.ErrInvalid }})
			text := string(a.Stdout) + string(a.Stderr)
			if strings.Contains(text, `"allow"`) || a.Code == 0 && !strings.Contains(text, "deny") && !strings.Contains(text, "block") {
				t.Errorf("%s: %q is answered with %d %s", id, payload, a.Code, text)
			}
		}
	}
}

// elsewhere are advisories whose case stands in the room that closes them: advisory, file
// and test.
var elsewhere = [][3]string{
	{"ToolHive #6234 (0.42.1): a POST that is not JSON skipped authorization", "proxy/remote/reverse/attack_test.go", "TestBodies"},
	{"CVE-2026-33252: MCP Go SDK took a cross-site POST of text/plain", "proxy/remote/reverse/attack_test.go", "TestStrangers"},
	{"CVE-2025-66414: MCP TypeScript SDK, DNS rebinding", "proxy/remote/reverse/attack_test.go", "TestStrangers"},
	{"CVE-2025-66416: MCP Python SDK, DNS rebinding", "proxy/remote/reverse/attack_test.go", "TestStrangers"},
	{"CVE-2026-34742: MCP Go SDK, DNS rebinding", "proxy/remote/reverse/attack_test.go", "TestStrangers"},
	{"CVE-2026-35568: MCP Java SDK, DNS rebinding", "proxy/remote/reverse/attack_test.go", "TestStrangers"},
	{"GHSA-89vp-x53w-74fx: MCP Rust SDK, DNS rebinding", "proxy/remote/reverse/attack_test.go", "TestStrangers"},
	{"CVE-2025-64443: Docker MCP Gateway, DNS rebinding", "proxy/remote/reverse/attack_test.go", "TestStrangers"},
	{"CVE-2026-25536: MCP TypeScript SDK gave one client another's answer", "proxy/remote/reverse/reverse_test.go", "TestClientsDoNotMeet"},
	{"CVE-2026-33946: MCP Ruby SDK, a second GET took the stream", "proxy/remote/reverse/attack_test.go", "TestSessionsCannotBeTaken"},
	{"ToolHive #5257: one line of a stream that does not parse let a whole list through", "proxy/remote/reverse/hostile_test.go", "TestNoFrameHidesInAStream"},
	{"CVE-2025-49596, CVE-2026-23744: MCP Inspector and MCPJam took orders from any page", "internal/ask/web/guard_test.go", "TestEveryRouteRefusesWhatOthersSend"},
}

func TestElsewhere(t *testing.T) {
	for _, e := range elsewhere {
		src, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(e[1])))
		if err != nil {
			t.Errorf("%s: %v", e[0], err)
			continue
		}
		if !regexp.MustCompile(`(?m)^func ` + e[2] + `\(`).Match(src) {
			t.Errorf("%s: %s has no %s", e[0], e[1], e[2])
		}
	}
}
