//go:build windows

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
)

// TestWindowsCalls: what a server hears of the calls in fixtures/measure/windows is what the
// test of the measure, which runs everywhere, says of them. That test has their owner's home
// in C:\Users\Ana, and so it is here, with a project for the time of this test.
func TestWindowsCalls(t *testing.T) {
	const home, project = `C:\Users\Ana`, `C:\Users\Ana\projects\app`
	if _, err := os.Stat(home); err == nil {
		t.Skip("somebody lives in " + home)
	}
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"filesystem", "git"} {
		src, err := fixtures.ComposePolicy(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.Parse("policy.toml", src, policy.Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		calls, err := os.ReadFile("../../fixtures/measure/windows/" + name + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		for client, cwd := range map[string]string{"claude-desktop": `C:\Windows\System32`, "cursor": project, "vscode": project} {
			var sent bytes.Buffer
			allowed := map[string]bool{} // by the call
			for line := range strings.Lines(string(calls)) {
				call := gjson.Parse(line)
				if call.Get("client").Str != client {
					continue
				}
				params := fmt.Sprintf(`{"name":%s,"arguments":%s}`, call.Get("tool").Raw, call.Get("args").Raw)
				fx := check.Fixture{Server: name, Facts: policy.Facts{Cwd: cwd, OS: policy.Windows}, Method: "tools/call", Params: json.RawMessage(params)}
				fmt.Fprintf(&sent, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", len(allowed), params)
				allowed[params] = check.JudgeFixture(p, fx, "").Action == policy.Allow
			}
			heard := heardOf(t, src, name, home, cwd, &sent)
			for params, want := range allowed {
				if got := strings.Contains(heard, `"params":`+params); got != want {
					t.Errorf("%s of %s: heard %v, and judged so that it is %v\n%s", name, client, got, want, heard)
				}
			}
			if len(allowed) == 0 {
				t.Errorf("%s: no call of %s", name, client)
			}
		}
	}
}

// heardOf is what a server hears through a proxy that runs in a folder.
func heardOf(t *testing.T, rules []byte, server, home, cwd string, sent *bytes.Buffer) string {
	t.Helper()
	dir := t.TempDir()
	file, heard := filepath.Join(dir, "policy.toml"), filepath.Join(dir, "heard")
	if err := os.WriteFile(file, rules, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("clawai", "proxy", "--server", server, "--policy", file, "--state", filepath.Join(dir, "state"), "--", "toyserver", "-heard", heard)
	cmd.Dir, cmd.Stdin = cwd, sent
	cmd.Env = append(os.Environ(), "USERPROFILE="+home, "CLAWAI_CONFIG_DIR="+dir, "CLAWAI_ASK_NOBODY=deny")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(heard)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
