//go:build unix

package main

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

// The operator's address serves the figures of calls, and the clients' address does not.
func TestListenMetrics(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	back := newBackServer(t)
	back.Start()
	c := ownClient(t)
	s := serve(t, prepareClawai(t, "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--upstream", "one="+back.URL+"/mcp"), 2)
	get := func(at string) (int, string) {
		t.Helper()
		resp, err := c.Get(at)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	if got := s.post(s.at["one"], callOf(1, "zebra"), c); !strings.HasPrefix(got, "200 ") {
		t.Error(got)
	}
	s.write("policy.toml", strings.Replace(allowTools, "allow", "deny", 1))
	s.recorded("policy", "policy_loaded")
	if got := s.post(s.at["one"], callOf(2, "okapi"), c); !strings.Contains(got, `"isError":true`) {
		t.Error(got)
	}
	status, text := get(s.at["metrics"])
	for _, want := range []string{
		`clawai_decisions_total{server="one",method="tools/call",decision="allow",stage="policy"} 1`,
		`clawai_decisions_total{server="one",method="tools/call",decision="deny",stage="policy"} 1`,
		`clawai_call_duration_seconds_count{server="one"} 1`, "clawai_sessions 1", "clawai_questions_waiting 0",
	} {
		if status != http.StatusOK || !strings.Contains(text, want+"\n") {
			t.Errorf("no %s in %d\n%s", want, status, text)
		}
	}
	if strings.Contains(text, "zebra") || strings.Contains(text, "okapi") || strings.Contains(text, "127.0.0.1") {
		t.Errorf("a label has an argument or an address:\n%s", text)
	}
	if status, text := get(strings.Replace(s.at["metrics"], "/metrics", "/healthz", 1)); status != http.StatusOK || text != "ok\n" {
		t.Error(status, text)
	}
	clients := s.at["one"][:strings.Index(s.at["one"][len("http://"):], "/")+len("http://")]
	for _, path := range []string{"/metrics", "/healthz"} {
		if status, _ := get(clients + path); status != http.StatusNotFound {
			t.Errorf("clients get %s: %d", path, status)
		}
	}
	s.ends(syscall.SIGTERM)
}
