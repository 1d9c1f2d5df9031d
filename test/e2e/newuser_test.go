//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asker is a client that has no terminal and has called a tool.
type asker struct {
	t      *testing.T
	lines  *bufio.Scanner
	called time.Time
}

// startAsker runs asker.mjs as a desktop starts programs, in the root folder and in
// a session of its own, where no terminal is, against the filesystem server behind
// the proxy.
func startAsker(t *testing.T, s site, tool string, arguments map[string]string) *asker {
	t.Helper()
	given, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	dir, server := here(t), serverCommand(s, "filesystem")
	server[1] = filepath.Join(dir, server[1])
	cmd := exec.Command("node", append([]string{filepath.Join(dir, "asker.mjs"), tool, string(given), "--"}, proxied(server)...)...)
	cmd.Env, cmd.Dir, cmd.Stderr, cmd.SysProcAttr = s.env, "/", os.Stderr, &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the client: %v", err)
		}
	})
	a := &asker{t: t, lines: bufio.NewScanner(out)}
	a.called, _ = a.next("called")
	return a
}

func (a *asker) next(what string) (at time.Time, rest string) {
	a.t.Helper()
	if !a.lines.Scan() {
		a.t.Fatalf("the client ended before %q", what)
	}
	var entry []json.RawMessage
	if err := json.Unmarshal(a.lines.Bytes(), &entry); err != nil || string(entry[0]) != `"`+what+`"` {
		a.t.Fatalf("want %q, got %s", what, a.lines.Bytes())
	}
	var milliseconds int64
	if err := json.Unmarshal(entry[1], &milliseconds); err != nil {
		a.t.Fatal(err)
	}
	if len(entry) > 2 {
		rest = string(entry[2])
	}
	return time.UnixMilli(milliseconds), rest
}

// result is what the client got.
func (a *asker) result() string { a.t.Helper(); _, rest := a.next("result"); return rest }

// TestANewUserAnswersInASecondTerminal is the whole story: a starter policy, a
// client without a terminal, and clawai approve in a terminal of its own.
func TestANewUserAnswersInASecondTerminal(t *testing.T) {
	s := newSite(t, "")
	s.must(clawai, "policy", "init", "--profile", "filesystem", "--force")
	file := filepath.Join(s.projects(), "shopping.md")
	write := map[string]string{"path": file, "content": "Buy milk.\n"}

	console := newTmux(t, s, clawai+" approve")
	console.wait("Nothing waits for an answer.")
	a := startAsker(t, s, "write_file", write)
	console.wait(`tool       "write_file"`, `content = "Buy milk.\n"`, `"claude-ai 0.1.0"`, "a allow once")
	t.Logf("from the call to the question on screen: %d ms", time.Since(a.called).Milliseconds())
	if _, err := os.Stat(file); err == nil {
		t.Fatal("written before it was answered")
	}
	pressed := console.press("a")
	if out := a.result(); strings.Contains(out, `"isError":true`) {
		t.Errorf("allowed, and got %s", out)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("from the key to the file on disk: %d ms", info.ModTime().Sub(pressed).Milliseconds())
	console.wait("allowed once: went on to the server")

	// A question that came while nobody was looking waits for whoever comes.
	console.press("q")
	a = startAsker(t, s, "write_file", write)
	console = newTmux(t, s, clawai+" approve")
	console.wait("under-test wants to write ~/projects/shopping.md", "the file stays as it is")
	console.press("d")
	if out := a.result(); !strings.Contains(out, "the owner denied it") || !strings.Contains(out, `"isError":true`) {
		t.Errorf("denied, and got %s", out)
	}
	console.wait("denied: nothing was executed")

	// By its id, from a script, with a word for the agent.
	a = startAsker(t, s, "create_directory", map[string]string{"path": filepath.Join(s.projects(), "new")})
	id := s.question()
	if out := s.must(clawai, "decide", id, "deny", "-n", "not there"); out != `"create_directory" on "under-test": denied: nothing was executed`+"\n" {
		t.Errorf("decide said %q", out)
	}
	if out := a.result(); !strings.Contains(out, "the owner denied it: not there") {
		t.Errorf("denied, and got %s", out)
	}
	if out := s.must(clawai, "log", "--kind", "answered"); strings.Count(out, "\n") != 3 || !strings.Contains(out, "console") || !strings.Contains(out, "decide") {
		t.Errorf("recorded\n%s", out)
	}
	s.must(clawai, "log", "verify")
}

// question waits until one question can be answered, and gives its id.
func (s site) question() (id string) {
	s.t.Helper()
	await(s.t, "a question waits", func() bool {
		line := s.must(clawai, "approve", "--list")
		id, _, _ = strings.Cut(line, " ")
		return strings.Contains(line, "wants to")
	})
	return id
}

// awaits waits until the record holds text.
func (s site) awaits(text string) {
	s.t.Helper()
	await(s.t, "the record holds "+text, func() bool { return strings.Contains(s.must(clawai, "log"), text) })
}
