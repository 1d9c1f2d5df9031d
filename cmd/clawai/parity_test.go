//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/policy"
)

// TestParity sends every fixture through the real proxy, each by the side that
// would send it, and holds the record to what `policy test` says: the same
// verdict of the rules, and nothing forwarded that they do not allow. There is
// no terminal, so what they would ask for is denied, and still a prompt in the
// record.
func TestParity(t *testing.T) {
	policies, err := filepath.Glob("../../fixtures/*/policy.toml")
	if err != nil || len(policies) == 0 {
		t.Fatal("no starter policies", err)
	}
	for _, path := range policies {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			if filepath.Base(filepath.Dir(path)) != "filesystem" {
				slow.Test(t)
			}
			t.Parallel()
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			p, err := policy.Parse(path, src, policy.Options{Home: "/home/user"})
			if err != nil {
				t.Fatal(err)
			}
			for server, fixtures := range byServer(t, filepath.Dir(path)) {
				parity(t, path, p, server, fixtures)
			}
		})
	}
}

func byServer(t *testing.T, dir string) map[string][]check.Fixture {
	t.Helper()
	files, err := check.FindFixtures(dir)
	if err != nil {
		t.Fatal(err)
	}
	groups := map[string][]check.Fixture{}
	for _, file := range files {
		fx, err := check.ReadFixture(file)
		if err != nil {
			t.Fatal(err)
		}
		// No server has builtin.Method: cmd/clawai-hook plays those. What a server says is
		// played by the tests of the rooms that judge it.
		if fx.Method != builtin.Method && fx.JudgedMessage() == policy.OnCall {
			groups[fx.Server] = append(groups[fx.Server], fx)
		}
	}
	return groups
}

// parity runs one session; the id of each request is its place in fixtures.
func parity(t *testing.T, policyFile string, p *policy.Policy, server string, fixtures []check.Fixture) {
	t.Helper()
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	var fromServer, fromClient bytes.Buffer
	for id, fx := range fixtures {
		to := &fromClient
		if fx.FromServer() {
			to = &fromServer
		}
		to.Write(append(fx.BuildRequest(id), '\n'))
	}
	if err := os.WriteFile(script, fromServer.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"proxy", "--policy", policyFile, "--state", dir, "--", "parityserver", script}
	if server != "" {
		args = append([]string{"proxy", "--server", server}, args[1:]...)
	}
	cmd := exec.Command("clawai", args...)
	cmd.Env = append(os.Environ(), "HOME=/home/user")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal to ask at
	heardByClient := talk(t, cmd, fromClient.Bytes())

	heard, err := os.ReadFile(script + ".heard")
	if err != nil {
		t.Fatal(err)
	}
	verdicts := ruled(t, filepath.Join(dir, "audit"))
	for id, fx := range fixtures {
		want := check.JudgeFixture(p, fx, server)
		line := string(fx.BuildRequest(id)) + "\n"
		delivered := strings.Contains(string(heard), line)
		if fx.FromServer() {
			delivered = strings.Contains(heardByClient, line)
		}
		if delivered != (want.Action == policy.Allow) {
			t.Errorf("%s: policy test says %s, and the proxy delivered it: %v", fx.Path, want.Action, delivered)
		}
		switch got := verdicts[id]; {
		case want.Refused:
			if got != "dropped" {
				t.Errorf("%s: refused before the rules, and on record as %q", fx.Path, got)
			}
		case got != want.Action.String():
			t.Errorf("%s: policy test says %s, the record %q", fx.Path, want.Action, got)
		}
	}
}

// startPiped starts cmd with pipes to it and from it.
func startPiped(t testing.TB, cmd *exec.Cmd) (io.WriteCloser, io.ReadCloser) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return in, out
}

// talk runs the proxy, sends what the client sends and a last ping, and returns
// what the client heard.
func talk(t *testing.T, cmd *exec.Cmd, frames []byte) string {
	t.Helper()
	cmd.Stderr = os.Stderr
	in, out := startPiped(t, cmd)
	if _, err := in.Write(append(frames, `{"jsonrpc":"2.0","id":"last","method":"ping"}`+"\n"...)); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the proxy ended early: %v\n%s", err, all.String())
		}
		if all.WriteString(line); strings.Contains(line, `"id":"last"`) {
			break
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// ruled is the rules' verdict on each request, by its id; "dropped" for one
// that never reached the rules.
func ruled(t *testing.T, dir string) map[int]string {
	t.Helper()
	verdicts := map[int]string{}
	for e, err := range audit.Read(dir, audit.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		var id int
		if _, err := fmt.Sscanf(string(e.ID), "%d", &id); err != nil {
			continue
		}
		switch e.Kind {
		case event.Decision:
			verdicts[id] = e.Event.Policy
		case event.Dropped:
			verdicts[id] = "dropped"
		case event.Passed:
			verdicts[id] = policy.Allow.String()
		}
	}
	return verdicts
}
