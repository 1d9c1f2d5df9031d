//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

// The same call of a server's tool, by the proxy on pipes, by the proxy over HTTP and by
// the hook: the same verdict, rule and record, but for the door.
func TestParity(t *testing.T) {
	slow.Test(t)
	for _, call := range []struct {
		tool, args string
		allowed    bool
	}{
		{tool: "look", args: `{"path":"a"}`, allowed: true},
		{tool: "look", args: `{"path":"a","more":[1,{"x":"y"}]}`, allowed: true},
		{tool: "look", args: `{}`, allowed: true},
		{tool: "read", args: `{"path":"/etc/passwd"}`}, // a class elsewhere
		{tool: "other", args: `{}`},
		{tool: "send", args: `{"to":"a","password":"hunter2hunter2"}`},
		{tool: "keep", args: `{"path":"~/a"}`, allowed: true},
		{tool: "keep", args: `{"path":"~/.ssh/id"}`},
		{tool: "keep", args: `{"path":"~/%2essh/id","n":1.0}`},
		{tool: "keep", args: `{"path":"~/a","path2":"/etc/passwd"}`},
	} {
		t.Run(call.tool, func(t *testing.T) {
			t.Parallel()
			dir := home(t, rules+moreRules)
			state := func(name string) string { return filepath.Join(dir, name) }
			message := `{"jsonrpc":"2.0","id":"t","method":"tools/call","params":{"name":"` + call.tool + `","arguments":` + call.args + "}}\n"
			onPipes(t, dir, state("proxy"), message)
			overHTTP(t, dir, state("http"), message)
			hook := command(dir, "--ask", "never", "--state", state("hook"))
			_, stderr, code := answer(t, hook, payload("mcp__files__"+call.tool, call.args))
			a, b, c := decision(t, dir, state("proxy")), decision(t, dir, state("http")), decision(t, dir, state("hook"))
			same, found := strings.CutPrefix(c, "map[agent:claude-code ") // a proxy does not know the agent for sure
			if a != b || !found || a != "map["+same {
				t.Errorf("pipes %s\nHTTP  %s\nhook  %s (exit %d, %s)", a, b, c, code, stderr)
			}
			if (code == 0) != call.allowed || strings.Contains(c, `decision:allow`) != call.allowed {
				t.Errorf("exit %d for %s", code, c)
			}
		})
	}
}

const moreRules = `
[[rule]]
action = "prompt"
server = "files"
tool = "send"

[[rule]]
action = "deny"
tool = "keep"
args."*" = "**/.ssh/**"
description = "Keys stay shut"

[[rule]]
action = "allow"
tool = "keep"
args.path = "~/**"
`

const done = `{"jsonrpc":"2.0","id":"t","result":{"content":[]}}`

// onPipes sends a message through clawai proxy, and waits for its answer.
func onPipes(t *testing.T, dir, state, message string) {
	t.Helper()
	proxy := exec.Command(built("clawai"), "proxy", "--server", "files", "--ask", "never", "--state", state, "--", "sh", "-c", "read line && echo '"+done+"'; exec cat")
	proxy.Env, proxy.Dir = command(dir).Env, dir
	in, err := proxy.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := proxy.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(in, message)
	line, err := bufio.NewReader(out).ReadString('\n')
	in.Close()
	if ended := proxy.Wait(); err != nil || ended != nil {
		t.Fatalf("%q %v %v", line, err, ended)
	}
}

// overHTTP sends a message through clawai proxy --listen.
func overHTTP(t *testing.T, dir, state, message string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, done)
	}))
	defer server.Close()
	proxy := exec.Command(built("clawai"), "proxy", "--ask", "never", "--state", state, "--listen", "127.0.0.1:0", "--upstream", "files="+server.URL)
	proxy.Env, proxy.Dir = command(dir).Env, dir
	told, err := proxy.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	proxy.Stderr = &errs
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(told).ReadString('\n')
	_, at, named := strings.Cut(strings.TrimSpace(line), "  ")
	if err == nil && named {
		var resp *http.Response
		if resp, err = http.Post(at, "application/json", strings.NewReader(message)); err == nil {
			err = resp.Body.Close()
		}
	}
	_ = proxy.Process.Signal(syscall.SIGTERM)
	if ended := proxy.Wait(); err != nil || !named || ended != nil {
		t.Fatalf("%q %v %v\n%s", line, err, ended, errs.String())
	}
}

// decision is the one decision of a record, without what tells the doors apart.
func decision(t *testing.T, dir, state string) string {
	t.Helper()
	log := exec.Command(built("clawai"), "log", "--json", "--kind", "decision")
	log.Env = append(command(dir).Env, "CLAWAI_STATE_DIR="+state)
	stdout, stderr, code := answer(t, log, "")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if code != 0 || len(lines) != 1 {
		t.Fatalf("%d %s %s", code, stdout, stderr)
	}
	var all map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &all); err != nil {
		t.Fatal(err)
	}
	for _, own := range []string{"seq", "time", "session", "record", "prev", "hash", "digest", "bytes", "detail", "cwd"} {
		delete(all, own)
	}
	return fmt.Sprint(all)
}
