//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A remote entry that was wrapped starts the bridge as its client would start
// it: the server hears the headers, and no command line holds them.
func TestAWrappedRemoteEntryRuns(t *testing.T) {
	back := newBackServer(t)
	back.Start()
	secret := fmt.Sprintf("s3cr3t-%d", time.Now().UnixNano())
	r := prepareClawai(t)
	bin, err := exec.LookPath("clawai")
	if err != nil {
		t.Fatal(err)
	}
	file := fmt.Sprintf(`{"mcpServers":{"far":{"url":"%s/mcp?key=%s","headers":{"Authorization":"Bearer %s","Accept":"*/*"}}}}`, back.URL, secret, secret)
	if err := os.Mkdir(r.path(".cursor"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.write(".cursor/mcp.json", file)
	env := append(r.cmd.Env, "TMPDIR="+r.path("tmp"), "XDG_STATE_HOME="+r.path("state"))
	clawai := func(args ...string) string {
		c := exec.Command(bin, args...)
		c.Env, c.Dir = env, r.dir
		out, err := c.CombinedOutput()
		if err != nil || strings.Contains(string(out), secret) {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	clawai("wrap", "--all", "--yes")

	var config struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
			Env     map[string]string
		}
	}
	src, err := os.ReadFile(r.path(".cursor/mcp.json"))
	if err != nil || json.Unmarshal(src, &config) != nil {
		t.Fatal(err, string(src))
	}
	far := config.MCPServers["far"]
	if strings.Contains(strings.Join(far.Args, " "), secret) || strings.Contains(clawai("status"), secret) {
		t.Fatalf("%q", far.Args)
	}
	r.cmd = exec.Command(far.Command, far.Args...)
	r.cmd.Env = env
	for name, value := range far.Env {
		r.cmd.Env = append(r.cmd.Env, name+"="+value)
	}
	r.start()
	r.say(begin)
	r.wants(`"id":0,"result"`)
	all, _ := back.requests()
	if h := all[0]; h.Header.Get("Authorization") != "Bearer "+secret || h.URL.Query().Get("key") != secret || h.Header.Get("Accept") == "*/*" {
		t.Errorf("%s %v", h.URL, h.Header)
	}
	_ = r.in.Close()
	r.code(inTime)

	clawai("unwrap", "--all", "--yes")
	if src, err = os.ReadFile(r.path(".cursor/mcp.json")); err != nil || string(src) != file {
		t.Errorf("came back as %v\n%s", err, src)
	}
	journal, err := os.ReadFile(filepath.Join(r.path("state"), "clawai", "wrap-journal.ndjson"))
	if err != nil || strings.Contains(string(journal), secret) {
		t.Errorf("%v\n%s", err, journal)
	}
}

// An entry whose url leads to the proxy reaches its server through it: the
// client sends what it always sent, and the rules know the server's name.
func TestALedEntryRuns(t *testing.T) {
	back := newBackServer(t)
	back.Start()
	r := prepareClawai(t, "--listen", "127.0.0.1:0", "--wrapped")
	bin, err := exec.LookPath("clawai")
	if err != nil {
		t.Fatal(err)
	}
	file := fmt.Sprintf(`{"mcpServers":{"far":{"url":"%s/mcp?key=s3cr3t"}}}`, back.URL)
	if err := os.Mkdir(r.path(".cursor"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.write(".cursor/mcp.json", file)
	wrapAt := func(listen string) (at string) {
		c := exec.Command(bin, "wrap", "--all", "--yes", "--remote=proxy", "--listen", listen)
		c.Env, c.Dir = append(r.cmd.Env, "TMPDIR="+r.path("tmp"), "CLAWAI_STATE_DIR="+r.path("state")), r.dir
		if out, err := c.CombinedOutput(); err != nil || strings.Contains(string(out), "s3cr3t") {
			t.Fatalf("%v\n%s", err, out)
		}
		var config struct {
			MCPServers map[string]struct{ URL string }
		}
		if err := json.Unmarshal([]byte(r.read(".cursor/mcp.json")), &config); err != nil {
			t.Fatal(err)
		}
		return config.MCPServers["far"].URL
	}
	wrapAt("127.0.0.1:8808")
	s := serve(t, r, 1)
	u, err := url.Parse(s.at["far"])
	if err != nil {
		t.Fatal(err)
	}
	if got := s.post(wrapAt(u.Host), callOf(1, "first"), ownClient(t)); !strings.HasPrefix(got, `200 {"jsonrpc":"2.0","id":1,"result"`) {
		t.Error(got)
	}
	all, _ := back.requests()
	if len(all) == 0 || all[0].URL.RawQuery != "key=s3cr3t" {
		t.Errorf("the server heard %v", all)
	}
	s.ends(syscall.SIGTERM)
}
