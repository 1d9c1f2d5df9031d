//go:build linux || darwin

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/testing/slow"
)

const (
	secretOfRelease = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	ruleOfRelease   = "[[rule]]\naction = \"deny\"\non = \"reply\"\nfind = [\"hidden\"]\ndescription = \"No invisible text\"\n"
)

// homeOfRelease is a home with the policy that init writes for a filesystem server, under a rule that
// withholds invisible text, and the command of a proxy whose server sends such text.
func homeOfRelease(t *testing.T) (home string, read func(path string) string) {
	t.Helper()
	home = newcomer(t)
	work := filepath.Join(home, "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(home, "text")
	for path, src := range map[string]string{
		text:                                    "he\U000E0069\U000E0067llo " + secretOfRelease,
		filepath.Join(home, ".cursor/mcp.json"): fmt.Sprintf(`{"mcpServers":{"files":{"command":"npx","args":["-y","@modelcontextprotocol/server-filesystem",%q]}}}`, work),
	} {
		if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(stdin string, args ...string) (string, error) {
		cmd := exec.Command("clawai", args...)
		cmd.Dir, cmd.Stdin = home, strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+filepath.Join(home, "tmp"), "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "CLAWAI_STATE_DIR=", "CLAWAI_CONFIG_DIR=")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("", "init", "--yes", "--client", "cursor"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	file := filepath.Join(home, ".config/clawai/policy.toml")
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	src = bytes.Replace(src, []byte("# What comes back"), []byte(ruleOfRelease+"\n# What comes back"), 1)
	if err := os.WriteFile(file, src, 0o600); err != nil {
		t.Fatal(err)
	}
	return home, func(path string) string {
		call := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_text_file","arguments":{"path":%q}}}`+"\n", filepath.Join(work, path))
		out, err := run(call, "proxy", "--server", "files", "--ask", "never", "--", "toyserver", "-says", text)
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		if strings.Contains(out, secretOfRelease) {
			t.Errorf("a secret went on: %s", out)
		}
		return out
	}
}

// withheldReply returns the record of the last answer that was withheld.
func withheldReply(t *testing.T, home string) (last event.Entry) {
	t.Helper()
	for e, err := range audit.Read(filepath.Join(home, ".local/state/clawai/audit"), audit.Filter{Decision: "deny"}) {
		if err != nil {
			t.Fatal(err)
		}
		last = e
	}
	if last.Release == "" {
		t.Fatalf("nothing to release: %+v", last)
	}
	return last
}

const fenceOfRelease = "[clawai:untrusted "

// A person releases the next answer to one call: the agent gets it once, in one of two proxies that
// ask at the same time, and the record says who released it.
func TestReleaseAtATerminal(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home, read := homeOfRelease(t)
	if out := read("a.txt"); !strings.Contains(out, "Withheld: ") || !strings.Contains(out, "found hidden (1)") {
		t.Fatal(out)
	}
	id := withheldReply(t, home).Record
	for _, no := range []string{"\r", "n\r", "\x04"} {
		p := sit(t, home, "release", id)
		p.sees("read_text_file", "No invisible text", "hidden 1 /result/content/0/text", "goes on once, within 10 minutes", "Release it? [y/N]")
		p.types(no)
		p.sees("Nothing was released.")
		p.leaves(1)
	}
	if out := read("a.txt"); strings.Contains(out, fenceOfRelease) {
		t.Fatalf("what nobody released passed: %s", out)
	}
	p := sit(t, home, "release", id)
	p.sees("Release it? [y/N]")
	p.types("y\r")
	p.sees("Released until ", "Let the agent make the same call again.")
	p.leaves(0)
	if out := read("b.txt"); strings.Contains(out, fenceOfRelease) {
		t.Errorf("another call's answer passed: %s", out)
	}
	var got [2]string
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() { got[i] = read("a.txt") })
	}
	all.Wait()
	if n := strings.Count(got[0]+got[1], " begin: what follows was sent by the server"); n != 1 {
		t.Errorf("%d of two answers passed: %q", n, got)
	}
	if out := read("a.txt"); strings.Contains(out, fenceOfRelease) {
		t.Errorf("a second answer passed: %s", out)
	}
	p = sit(t, home, "log", "--no-pager", "--color=never", "--kind", "outcome")
	p.sees("released the next answer to the call of record " + id)
	p.leaves(0)
}
