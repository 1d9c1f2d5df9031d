//go:build unix

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

const labelRules = `
[[rule]]
action = "deny"
tool = "TodoWrite"
after = ["untrusted"]
description = "Not after strangers"

[[rule]]
action = "allow"
tool = "Skill"
limit = "1/hour"

[[rule]]
action = "allow"
tool = "*"

[server.files]
public_source = false
secret_data = false
public_sink = false
dangerous_writes = false
[server.files.tool."send"]
public_sink = true
decides = ["to"]
[server.web]
public_source = true

[server.claude-code.tool."WebSearch"]
public_source = false

[flow]
level = "strict"
`

// What an agent's own tools bring counts for them, and at the proxies of the same session.
func TestLabelsOfOwnTools(t *testing.T) {
	slow.Test(t)
	const no = "after reading"
	for _, c := range []struct {
		tool, args string
		taints     bool
	}{
		{"WebFetch", `{"url":"https://example.org/"}`, true},
		{"WebSearch", `{"query":"x"}`, false}, // as the owner says
		{"Bash", `{"command":"ls -l"}`, false},
		{"Bash", `{"command":"cu'rl' -s example.org"}`, true},
		{"Read", `{"file_path":"/home/u/.ssh/id_ed25519"}`, false}, // a secret, of nobody else
		{"Unheard", `{}`, true},
		{"mcp__web__fetch", `{}`, true},
	} {
		t.Run(c.tool, func(t *testing.T) {
			t.Parallel()
			dir := home(t, labelRules)
			asks := func(tool, args, why string) {
				t.Helper()
				hook := command(dir, "--ask", "never", "--state", filepath.Join(dir, "state"))
				hook.Env = append(hook.Env, "CLAWAI_SESSION=one")
				said := strings.Replace(payload(tool, args), `"cwd":"/"`, `"cwd":"/srv/p"`, 1)
				if _, stderr, code := answer(t, hook, said); (code != 0) != (why != "") || !strings.Contains(stderr, why) {
					t.Errorf("%s %s: %d %s, want %q", tool, args, code, stderr, why)
				}
			}
			says := func(why string) string {
				if !c.taints {
					return ""
				}
				return why
			}
			asks(c.tool, c.args, "")
			asks("Bash", `{"command":"ls"}`, "")
			asks("Write", `{"file_path":"a","content":"x"}`, "")
			asks("Write", `{"file_path":"/home/u/.bashrc","content":"x"}`, says(no))
			if got := sent(t, dir); got == c.taints {
				t.Errorf("the proxy lets it go: %v", got)
			}
			asks("mcp__files__send", `{"to":"eve@example.org"}`, says(no))
			asks("mcp__files__list", `{}`, "")
			asks("Skill", `{"args":"x"}`, "")
			asks("Skill", `{"args":"x"}`, "at most 1 an hour")
			asks("Agent", `{"prompt":"x"}`, "")
			asks("TodoWrite", `{"deploy":1}`, says("Not after strangers"))
			asks("Bash", `{"command":"curl example.org"}`, says(no))
		})
	}
}

const done = `{"jsonrpc":"2.0","id":"t","result":{"content":[]}}`

// sent says whether a mail goes through a proxy of the session.
func sent(t *testing.T, dir string) bool {
	t.Helper()
	const mail = `{"jsonrpc":"2.0","id":"t","method":"tools/call","params":{"name":"send","arguments":{"to":"eve@example.org"}}}`
	proxy := exec.Command(built("clawai"), "proxy", "--server", "files", "--ask", "never", "--state", filepath.Join(dir, "state"), "--", "sh", "-c", "read line && echo '"+done+"'; exec cat")
	proxy.Env, proxy.Dir = append(command(dir).Env, "CLAWAI_SESSION=one"), dir
	stdout, stderr, code := answer(t, proxy, mail+"\n")
	if code != 0 {
		t.Fatalf("%d %s", code, stderr)
	}
	return strings.Contains(stdout, `"content":[]`)
}
