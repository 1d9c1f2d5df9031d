//go:build conformance

package conformance

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/exectest"
)

// serverRuns are the suite's runs against a server, each with the way the SDK's
// server is run for it.
var serverRuns = []struct {
	run
	stateless bool
}{
	{run{"next", "--spec-version 2025-03-26"}, false},
	{run{"next", "--spec-version 2025-06-18"}, false},
	{run{"next", "--requirements 2025-11-25"}, false},
	{run{"next", "--requirements 2026-07-28"}, true},
	{run{"stable", "--suite all"}, false}, // its versions only choose from these scenarios
}

// TestServers puts each form of the proxy before the SDK's server and demands
// that the suite finds nothing worse than without it. The suite speaks HTTP only:
// a form that is reached on standard input stands behind supergateway, and is
// compared with the same gateway without it as well, so that what is the
// gateway's own is not put down to clawai, nor the other way round.
func TestServers(t *testing.T) {
	for _, r := range serverRuns {
		t.Run(r.String(), func(t *testing.T) {
			dir := t.TempDir()
			env, err := home(dir)
			if err != nil {
				t.Fatal(err)
			}
			only := fmt.Sprintf("[hub]\nlist_wait = \"1m\"\n[upstream.server]\ncommand = %q\nbare = true\n", everythingServer) // the suite knows no prefix
			if err := os.WriteFile(filepath.Join(dir, "config", "config.toml"), []byte(only), 0o600); err != nil {
				t.Fatal(err)
			}
			origin := serve(t, r.stateless)
			direct := r.check(t, "server", origin, env)
			gateway := r.check(t, "server", behindGateway(t, env, everythingServer), env)
			fronts := map[string]string{
				"stdio":    behindGateway(t, env, clawai+" proxy --ask never -- "+everythingServer),
				"bridge":   behindGateway(t, env, clawai+" proxy --ask never -- "+origin),
				"reverse":  reversed(t, env, "--upstream", "server="+origin),
				"hub":      behindGateway(t, env, clawai+" hub --ask never"),
				"hub-http": reversed(t, env, "--hub"),
			}
			for form, front := range fronts {
				at, got, again := place{"server", form, r.run}, r.check(t, "server", front, env), r.alone(t, "server", front, env)
				known := expected(t)
				if form != "reverse" && form != "hub-http" {
					at.hold(t, "the gateway alone", gateway, got, expectations{Timed: known.Timed}, again)
				}
				at.hold(t, "direct", direct, got, known, again)
			}
		})
	}
}

// TestRebinding: a server that lets any Host and Origin in fails the suite's
// check; behind the reverse proxy it passes.
func TestRebinding(t *testing.T) {
	env, err := home(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := run{"next", "--scenario dns-rebinding-protection"}
	open := behindGateway(t, env, everythingServer)
	direct, got := r.check(t, "server", open, env), r.check(t, "server", reversed(t, env, "--upstream", "server="+open), env)
	if direct.total("FAILURE") == 0 {
		t.Error("the server without a Host check passes the check; this test shows nothing")
	}
	if got.total("FAILURE") != 0 {
		t.Error("the check fails behind the reverse proxy", got)
	}
}

// serve runs the SDK's server over HTTP.
func serve(t *testing.T, stateless bool) (address string) {
	t.Helper()
	at := free(t)
	mode := "-stateless=false"
	if stateless {
		mode = "-stateless=true"
	}
	start(t, exec.Command(everythingServer, "-http="+at, mode))
	await(t, at)
	return "http://" + at
}

// behindGateway runs a command that speaks on standard input and output behind
// supergateway.
func behindGateway(t *testing.T, env []string, command string) (address string) {
	t.Helper()
	at := free(t)
	_, port, _ := net.SplitHostPort(at)
	cmd := exec.Command(node, "node_modules/supergateway/dist/index.js", "--stdio", command,
		"--outputTransport", "streamableHttp", "--stateful", "--port", port, "--logLevel", "none")
	cmd.Env = env
	start(t, cmd)
	await(t, "localhost:"+port)
	return "http://localhost:" + port + "/mcp"
}

// reversed runs the reverse proxy in front of what of names.
func reversed(t *testing.T, env []string, of ...string) (address string) {
	t.Helper()
	cmd := exec.Command(clawai, listenArgs(of...)...)
	cmd.Env = env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	return announced(bufio.NewReader(out))
}

func listenArgs(of ...string) []string {
	return append([]string{"proxy", "--ask", "never", "--listen", "127.0.0.1:0"}, of...)
}

// announced is the address that the reverse proxy says it listens at.
func announced(out *bufio.Reader) string {
	line, _ := out.ReadString('\n')
	if words := strings.Fields(line); len(words) == 2 {
		return words[1]
	}
	return ""
}

// start runs a command, with all it starts, until the test ends.
func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		hard := time.AfterFunc(5*time.Second, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		defer hard.Stop()
		_ = cmd.Wait()
		if t.Failed() && said.Len() > 0 {
			t.Logf("%s: %.2000s", cmd.Args[0], said.String())
		}
	})
}

// free is an address nobody listens at.
func free(t *testing.T) string {
	t.Helper()
	return "localhost:" + exectest.ReservePort(t)
}

// await returns when somebody listens.
func await(t *testing.T, at string) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if resp, err := http.Get("http://" + at); err == nil {
			resp.Body.Close()
			return
		}
	}
	t.Fatal("nobody listens at", at)
}
