//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/testing/slow"
)

const rememberRules = `# Mine.
[[rule]]
action = "deny"
tool = "*"
args.path = "**/.env"

# Asked about.
[[rule]]
action = "prompt"
tool = "write"
server = "files"
args.path = "/srv/**"
`

// Two calls wait when the first answer is remembered. Each gets a rule, what the
// rules cover is asked about no more, and what was denied still is.
func TestRememberedThroughTheQueue(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	r := prepare(t)
	r.write("policy.toml", rememberRules)
	r.cmd.Args = append(append(r.cmd.Args[:1:1], "proxy", "--server", "files"), r.cmd.Args[2:]...)
	r.start()
	write := func(id int, path string) {
		fmt.Fprintf(r.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"write","arguments":{"path":%q}}}`+"\n", id, path)
	}
	answered := func(id int, denied bool) {
		t.Helper()
		if got := r.next(); !strings.Contains(got, fmt.Sprintf(`"id":%d,`, id)) || strings.Contains(got, `"isError":true`) != denied {
			t.Errorf("call %d: %s", id, got)
		}
	}
	write(1, "/srv/p/a")
	write(2, "/srv/q/a")
	waiting := r.waiting(2)
	for i, path := range []string{"/srv/p/a", "/srv/q/a"} {
		id := waiting[path]
		if out, err := r.clawai("decide", id, "allow", "--for", "always", "--scope", "folder"); err != nil || !strings.Contains(out, "allowed always (folder): went on to the server; wrote a rule to allow (folder) above policy.toml:") {
			t.Errorf("%s: %v: %s", path, err, out)
		}
		answered(i+1, false)
	}
	for _, rule := range []string{`args.path = "/srv/p/**"`, `args.path = "/srv/q/**"`} {
		if text := r.read("policy.toml"); strings.Count(text, rule) != 1 || !strings.HasPrefix(text, "# Mine.\n") || !strings.Contains(text, "\n# Asked about.\n[[rule]]\n") {
			t.Fatalf("no %s in\n%s", rule, text)
		}
	}
	r.recorded(event.Policy, "policy_loaded")
	write(3, "/srv/p/sub/b")
	answered(3, false)
	write(4, "/srv/q/.env")
	answered(4, true)
	if err := r.in.Close(); err != nil {
		t.Error(err)
	}
	r.code(patience)
	r.quiet()
}

// An answer for the session that reaches a folder lets the folder through and nothing
// else, is listed and taken back, and writes no rule.
func TestAFolderForTheSession(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	r := prepare(t)
	r.write("policy.toml", rememberRules)
	r.cmd.Args = append(append(r.cmd.Args[:1:1], "proxy", "--server", "files"), r.cmd.Args[2:]...)
	r.start()
	calls := 0
	write := func(path string) {
		calls++
		fmt.Fprintf(r.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"write","arguments":{"path":%q}}}`+"\n", calls, path)
	}
	answered := func(denied bool) {
		t.Helper()
		if got := r.next(); strings.Contains(got, `"isError":true`) != denied {
			t.Errorf("call %d: %s", calls, got)
		}
	}
	write("/srv/p/a")
	id := r.waiting(1)["/srv/p/a"]
	if out, err := r.clawai("decide", id, "allow", "--for", "session", "--scope", "all"); err == nil || !strings.Contains(out, `--scope: "all" is not offered for this call and session (one of folder, exact, tool)`) {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := r.clawai("decide", id, "allow", "--for", "session", "--scope", "folder"); err != nil || !strings.Contains(out, "allowed until the session ends (folder): went on to the server; for this session: Write files below /srv/p") {
		t.Errorf("%v: %s", err, out)
	}
	answered(false)
	write("/srv/p/sub/b")
	answered(false)
	write("/srv/p/.env")
	answered(true)
	write("/srv/q/b")
	other := r.waiting(1)["/srv/q/b"]
	if out, err := r.clawai("decide", other, "deny"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	answered(true)
	granted := r.granted(1)
	if granted[0].Reach != "Write files below /srv/p" {
		t.Errorf("%+v", granted)
	}
	if out, err := r.clawai("approve", "--revoke", granted[0].ID); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.granted(0)
	came := make(chan string, 1)
	for asked := false; !asked; { // until the proxy has heard of it
		write("/srv/p/sub/b")
		go func() {
			line, _ := r.out.ReadString('\n')
			came <- line
		}()
		select {
		case line := <-came:
			if strings.Contains(line, `"isError":true`) {
				t.Fatal(line)
			}
		case <-time.After(time.Second):
			r.waiting(1)
			asked = true
		}
	}
	if text := r.read("policy.toml"); text != rememberRules {
		t.Errorf("the policy is\n%s", text)
	}
	if err := r.in.Close(); err != nil {
		t.Error(err)
	}
	r.code(patience)
}

// grant is an answer that holds for a session, as scripts read it.
type grant struct{ ID, Reach string }

// granted waits until n answers hold for the session.
func (r *running) granted(n int) []grant {
	r.t.Helper()
	for late := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		out, err := r.clawai("approve", "--granted", "--json")
		var list struct{ Granted []grant }
		if err == nil && json.Unmarshal([]byte(out), &list) == nil && len(list.Granted) == n {
			return list.Granted
		}
		if time.Now().After(late) {
			r.t.Fatalf("%v: %s", err, out)
		}
	}
}

// clawai runs a command on the proxy's folders.
func (r *running) clawai(args ...string) (string, error) {
	cmd := exec.Command("clawai", args...)
	cmd.Env = append(os.Environ(), "CLAWAI_CONFIG_DIR="+r.dir, "CLAWAI_STATE_DIR="+r.path("state"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// waiting gives the ids of n waiting questions by their path argument.
func (r *running) waiting(n int) map[string]string {
	r.t.Helper()
	for late := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		out, err := r.clawai("approve", "--list", "--json")
		var list struct {
			Pending []struct {
				ID    string
				Calls []struct{ Arguments struct{ Path string } }
			}
		}
		if err == nil {
			err = json.Unmarshal([]byte(out), &list)
		}
		ids := map[string]string{}
		for _, q := range list.Pending {
			ids[q.Calls[0].Arguments.Path] = q.ID
		}
		if err == nil && len(ids) == n {
			return ids
		}
		if time.Now().After(late) {
			r.t.Fatalf("%d wait, want %d: %v\n%s", len(ids), n, err, out)
		}
	}
}
