//go:build unix

package main

import (
	"strings"
	"syscall"
	"testing"
)

// flowStrict is for a server web, which strangers write to, and a server mail, which sends.
const flowStrict = allowTools + `
[server.web]
public_source = true
secret_data = false
[server.mail]
public_source = false
secret_data = false
dangerous_writes = false
public_sink = false
[server.mail.tool."send"]
public_sink = true
[flow]
level = "strict"
`

// Over HTTP a session is shared as over pipes (testdata/script/flow.txtar): by two bridges to
// servers elsewhere, which run at once, and by all that one proxy listens for.
func TestFlowOverHTTP(t *testing.T) {
	web, mail := newBackServer(t), newBackServer(t)
	web.Start()
	mail.Start()
	const denied = "after reading web fetch"

	a := prepareClawai(t, "--server", "web", "--", web.URL+"/mcp")
	b := prepareClawai(t, "--server", "mail", "--", mail.URL+"/mcp")
	b.dir = a.dir
	b.cmd.Args[3], b.cmd.Args[5] = a.path("policy.toml"), a.path("state")
	a.write("policy.toml", flowStrict)
	for _, r := range []*running{a, b} {
		r.cmd.Env = append(r.cmd.Env, "CLAWAI_SESSION=one")
		r.start()
		r.say(begin)
		r.wants(`"id":0,"result"`)
	}
	b.call("1", "send")
	b.wants(`"id":1,"result":{"protocolVersion"`)
	a.call("1", "fetch")
	a.wants(`"id":1,"result":{"protocolVersion"`)
	b.call("2", "send")
	b.wants(`"id":2`, denied)
	b.call("3", "list")
	b.wants(`"id":3,"result":{"protocolVersion"`)
	for _, r := range []*running{a, b} {
		_ = r.in.Close()
		if code := r.code(inTime); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}

	c := ownClient(t)
	r := prepareClawai(t, "--listen", "127.0.0.1:0", "--upstream", "web="+web.URL+"/mcp", "--upstream", "mail="+mail.URL+"/mcp")
	r.write("policy.toml", flowStrict)
	s := serve(t, r, 2)
	for i, step := range []struct {
		at, tool string
		denied   bool
	}{{"mail", "send", false}, {"web", "fetch", false}, {"mail", "send", true}, {"mail", "list", false}} {
		if got := s.post(s.at[step.at], callOf(i, step.tool), c); !strings.HasPrefix(got, "200 ") || strings.Contains(got, denied) != step.denied {
			t.Errorf("%s %s: %s", step.at, step.tool, got)
		}
	}
	s.ends(syscall.SIGTERM)
	if _, texts := mail.requests(); strings.Count(texts, `"send"`) != 2 {
		t.Errorf("the server heard %s", texts)
	}
}
