//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const askForWrites = `[[rule]]
action = "prompt"
tool = "write_file"
description = "Look before something is written"

[[rule]]
action = "allow"
tool = "**"
`

// TestPageAnswersARealProxy has the Inspector call a tool of the reference server
// through the proxy, where no terminal is, and answers on the page.
func TestPageAnswersARealProxy(t *testing.T) {
	s := newSite(t, askForWrites)
	d := deskAt(t, s)
	b := newBrowser(t, 1280, 800)
	b.enter(d.link)
	inspect := s.inspector(proxied(serverCommand(s, "filesystem")))
	write := func(name string) chan string {
		out := make(chan string, 1)
		go func() {
			text, _ := inspect("--method", "tools/call", "--tool-name", "write_file",
				"--tool-arg", "path="+filepath.Join(s.projects(), name), "--tool-arg", "content=Water the roses.")
			out <- text
		}()
		return out
	}
	press := func(button string) {
		t.Helper()
		b.wait(".answers", "Deny")
		b.wait("#list", "Look before something is written")
		b.tabTo("Tab", button)
		b.calm()
		b.press("Enter")
	}
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(s.projects(), name))
		return err == nil
	}

	out := write("denied.txt")
	press("Deny")
	if text := <-out; !strings.Contains(text, `"isError":true`) || there("denied.txt") {
		t.Errorf("denied: %s", text)
	}
	b.wait("#said", "nothing was executed")
	b.wait("#empty", "Nothing waits") // the next one opens by itself

	out = write("once.txt")
	press("Allow once")
	b.wait("dialog", "outside") // the proxy was started in another folder
	b.tabTo("Tab", "Allow once")
	b.calm()
	b.press("Enter")
	if text := <-out; strings.Contains(text, `"isError":true`) || !there("once.txt") {
		t.Errorf("allowed once: %s", text)
	}
	b.wait("#said", "it went on")
	b.wait("#empty", "Nothing waits")

	out = write("always.txt")
	press("Always allow")
	b.wait("dialog", "How far should the rule reach?")
	b.tabTo("Tab", "Write the rule and allow")
	b.pressAtTheEnd(func() {})
	if text := <-out; strings.Contains(text, `"isError":true`) || !there("always.txt") {
		t.Errorf("allowed always: %s", text)
	}
	b.wait("#said", "Always allowed (exact) at")
	policy, err := os.ReadFile(filepath.Join(s.home, ".config/clawai/policy.toml"))
	if err != nil || !strings.HasSuffix(string(policy), askForWrites) || !strings.Contains(string(policy), "always.txt") {
		t.Errorf("the policy is %v:\n%s", err, policy)
	}
	if err := os.Remove(filepath.Join(s.projects(), "always.txt")); err != nil {
		t.Fatal(err)
	}
	if text := <-write("always.txt"); strings.Contains(text, `"isError":true`) || !there("always.txt") {
		t.Errorf("the rule: %s", text)
	}
	if out, err := s.run(clawai, "log", "verify"); err != nil {
		t.Errorf("the record must verify: %v\n%s", err, out)
	}
	b.quiet(d.origin)
}
