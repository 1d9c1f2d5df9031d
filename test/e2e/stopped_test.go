//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestAProxyThatWasStopped holds that an answer which a proxy finds only after the
// deadline is too late, though it was given in time: whoever waits for the call has
// given up by then.
func TestAProxyThatWasStopped(t *testing.T) {
	t.Parallel()
	s := newSite(t, askForWrites)
	s.write(".config/clawai/config.toml", "[ask]\ntimeout = \"45s\"\n") // in which a busy machine stops the proxy and answers
	file := filepath.Join(s.projects(), "late.md")
	a := startAsker(t, s, "write_file", map[string]string{"path": file, "content": "late"})
	id := s.question()
	deadline := time.Now().Add(45 * time.Second)
	pid, err := strconv.Atoi(strings.TrimSpace(s.must("pgrep", "-fo", "^"+clawai+" proxy .*"+s.projects())))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	// On a busy machine it runs on for a moment.
	await(t, "the proxy is stopped", func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		_, state, _ := strings.Cut(string(stat), ") ")
		return err == nil && strings.HasPrefix(state, "T")
	})
	if out := s.must(clawai, "decide", id, "allow"); !strings.Contains(out, "allowed once; what became of the call is not known yet") {
		t.Errorf("decide said %q", out)
	}
	time.Sleep(time.Until(deadline))
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if out := a.result(); !strings.Contains(out, "nobody answered in time") || !strings.Contains(out, "not_answered") {
		t.Errorf("got %s", out)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("executed after the deadline")
	}
	await(t, "the one who answered reads that it was too late", func() bool {
		return strings.Contains(s.must(clawai, "approve", "--history", "1"), "too late: ")
	})
}
