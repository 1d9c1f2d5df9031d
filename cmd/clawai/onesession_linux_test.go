package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

const oneSessionRules = `[[rule]]
action = "allow"
tool = "read"
limit = "3/hour"

[[rule]]
action = "prompt"
tool = "write"
`

// Proxies of one agent's session count one limit, also when one is killed, and what is allowed
// for the session at one is allowed at the others for as long as that one runs. Another session
// has nothing of it.
func TestProxiesOfOneSession(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	first := prepare(t)
	first.write("policy.toml", oneSessionRules) // once: those that run look at it
	begin := func(session string) *running {
		r := prepare(t)
		r.dir = first.dir
		r.cmd.Args = []string{"clawai", "proxy", "--server", "files", "--policy", r.path("policy.toml"), "--state", r.path("state"), "--", "toyserver"}
		r.cmd.Env = append(r.cmd.Env, "CLAWAI_SESSION="+session)
		return r.start()
	}
	calls := 0
	call := func(r *running, tool, path string) {
		calls++
		fmt.Fprintf(r.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"path":%q}}}`+"\n", calls, tool, path)
	}
	wants := func(r *running, refused string) {
		t.Helper()
		if got := r.next(); strings.Contains(got, `"isError":true`) != (refused != "") || !strings.Contains(got, refused) {
			t.Errorf("call %d: %s", calls, got)
		}
	}
	a, b, other := begin("one"), begin("one"), begin("two")
	for _, r := range []*running{a, b, a} {
		call(r, "read", "/srv/a")
		wants(r, "")
	}
	call(b, "read", "/srv/a")
	wants(b, "at most 3 an hour")
	call(other, "read", "/srv/a")
	wants(other, "")

	call(a, "write", "/srv/a")
	if out, err := a.clawai("decide", a.waiting(1)["/srv/a"], "allow", "--for", "session"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	wants(a, "")
	call(b, "write", "/srv/a")
	wants(b, "")
	for r, path := range map[*running]string{b: "/srv/b", other: "/srv/a"} {
		call(r, "write", path)
		if out, err := r.clawai("decide", r.waiting(1)[path], "deny"); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		wants(r, "the owner denied it")
	}
	if err := a.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-a.exited
	call(b, "write", "/srv/a")
	if out, err := b.clawai("decide", b.waiting(1)["/srv/a"], "deny"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	wants(b, "the owner denied it")
	c := begin("one")
	call(c, "read", "/srv/a")
	wants(c, "at most 3 an hour")

	// What is not as it was written counts nothing, and the record says which file.
	files, err := os.ReadDir(first.path("state/flow"))
	for _, f := range files {
		if err == nil && strings.HasSuffix(f.Name(), ".counts") {
			err = os.WriteFile(first.path("state/flow/"+f.Name()), []byte("x\n"), 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	call(other, "read", "/srv/a")
	wants(other, "it could not be counted against a limit")
	if out, err := other.clawai("log", "--json"); err != nil || !strings.Contains(out, `.counts: `) {
		t.Errorf("%v: %s", err, out)
	}
}
