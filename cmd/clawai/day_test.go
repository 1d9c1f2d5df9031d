//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
)

// dayCall is a line of fixtures/day: a call of an ordinary day with the answer that a careful owner
// wants, and for what is dangerous the reason.
type dayCall struct {
	Kind, Server, Tool string
	Args               json.RawMessage
	Answer             string
	Why                string
}

const dayServers = `{"mcpServers": {
	"filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/user/projects"]},
	"git": {"command": "uvx", "args": ["mcp-server-git"]},
	"playwright": {"command": "npx", "args": ["@playwright/mcp@latest"]},
	"github": {"type": "http", "url": "https://api.githubcopilot.com/mcp/"},
	"fetch": {"command": "uvx", "args": ["mcp-server-fetch"]},
	"memory": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]},
	"context7": {"command": "npx", "args": ["-y", "@upstash/context7-mcp"]},
	"postgres": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-postgres", "postgresql://localhost/app"]},
	"slack": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-slack"]},
	"time": {"command": "uvx", "args": ["mcp-server-time"]},
	"linear": {"type": "http", "url": "https://mcp.linear.app/mcp"}
}}`

// TestTheDay judges the calls of an ordinary day by the policy that init writes for these servers and
// for the clients' own tools: at most 5 % get a stricter answer than they should, and none is
// allowed that should not be.
func TestTheDay(t *testing.T) {
	slow.Test(t)
	p := writtenByInit(t)
	lists, err := filepath.Glob("../../fixtures/day/*.jsonl")
	if err != nil || len(lists) < 6 {
		t.Fatal(lists, err)
	}
	calls, needless, risky := 0, 0, 0
	for _, list := range lists {
		for _, c := range readDay(t, list) {
			want, err := policy.ParseAction(c.Answer)
			if err != nil || want == policy.Allow && c.Why != "" {
				t.Fatalf("%s: %+v: %v", list, c, err)
			}
			got := check.JudgeFixture(p, c.request(t), "")
			calls++
			if c.Why != "" {
				risky++
			}
			switch {
			case got.Action == policy.Allow && want != policy.Allow:
				t.Errorf("%s: %s %s is allowed by %q", c.Server, c.Tool, c.Args, got.Rule.Description)
			case want == policy.Allow && got.Action != policy.Allow, c.Why == "" && want == policy.Prompt && got.Action == policy.Deny:
				needless++
				t.Logf("%s, %s: %s %s: %v by %q", c.Kind, c.Server, c.Tool, c.Args, got.Action, got.Rule.Description)
			}
		}
	}
	t.Logf("%d calls, %d of them dangerous: %d (%.1f %%) get a stricter answer than they should", calls, risky, needless, 100*float64(needless)/float64(calls-risky))
	if calls-risky < 150 || risky < 50 || 20*needless > calls-risky {
		t.Errorf("%d of %d ordinary calls get a stricter answer than they should; %d are dangerous", needless, calls-risky, risky)
	}
}

// request returns the call as a fixture, in the project of the day.
func (c *dayCall) request(t *testing.T) check.Fixture {
	t.Helper()
	params, err := json.Marshal(map[string]any{"name": c.Tool, "arguments": c.Args})
	if err != nil {
		t.Fatal(err)
	}
	fx := check.Fixture{Server: c.Server, Facts: policy.Facts{Cwd: "/home/user/projects/app"}, Method: "tools/call", Params: params}
	if builtin.FindTool(c.Server, c.Tool).Class != "" {
		fx.Method = builtin.Method
	}
	return fx
}

func readDay(t *testing.T, path string) (all []dayCall) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var c dayCall
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s: %s: %v", path, lines.Bytes(), err)
		}
		all = append(all, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// writtenByInit returns the policy of somebody who has these servers and five clients with hooks,
// and whose home is /home/user.
func writtenByInit(t *testing.T) *policy.Policy {
	t.Helper()
	home, temp := t.TempDir(), t.TempDir()
	write(t, filepath.Join(home, ".claude.json"), dayServers)
	for _, dir := range []string{"bin", ".claude", ".codex", ".gemini", ".cursor"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	path, err := exec.LookPath("clawai")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"clawai", "clawai-hook"} {
		if err := os.WriteFile(filepath.Join(home, "bin", name), program, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(home, "bin", "clawai"), "init", "--yes", "--hooks", "--client", "all")
	cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "TMPDIR=" + temp, "PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file := filepath.Join(home, ".config", "clawai", "policy.toml")
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(file, src, policy.Options{Home: "/home/user", Disk: disk.RootedDisk(root), Extend: base.ReadExtension})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
