//go:build e2e

package e2e

import (
	"bufio"
	"net"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clawai/clawai/internal/testing/exectest"
)

// remoteServer is a server from npm that speaks HTTP.
type remoteServer struct {
	name, story string
	command     []string // PORT is put in
	path        string
	sse         bool // the transport of 2024-11-05
	inspect     []string
	want        string
}

const everythingServer = "node_modules/@modelcontextprotocol/server-everything/dist/index.js"

var remoteServers = []remoteServer{
	{
		"everything", "everything", []string{"node", everythingServer, "streamableHttp"}, "/mcp", false,
		[]string{"--method", "tools/call", "--tool-name", "get-sum", "--tool-args-json", `{"a":2,"b":3}`}, "The sum of 2 and 3 is 5.",
	},
	{
		"everything over SSE", "everything", []string{"node", everythingServer, "sse"}, "/sse", true,
		[]string{"--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=hi"}, "Echo: hi",
	},
	{
		"playwright", "list", []string{"node", "node_modules/.bin/playwright-mcp", "--port", "PORT"}, "/mcp", false,
		[]string{"--method", "tools/list"}, "browser_navigate",
	},
	{
		"playwright over SSE", "list", []string{"node", "node_modules/.bin/playwright-mcp", "--port", "PORT"}, "/sse", true,
		[]string{"--method", "tools/list"}, "browser_navigate",
	},
}

// TestRemote holds that a server that speaks HTTP, and a client, cannot tell either
// form from a wire: what the client sees is the same.
func TestRemote(t *testing.T) {
	for _, r := range remoteServers {
		t.Run(r.name, func(t *testing.T) {
			s := newSite(t, allowAll)
			s.env = append(s.env, "CLAWAI_KEYCHAIN=off")
			address := s.serves(r)
			front := s.listens("--upstream", "under-test="+address)
			sse := []string{}
			if r.sse {
				sse = append(sse, "sse")
			}
			direct := s.tells(r.story, append([]string{address}, sse...))
			for form, to := range map[string][]string{
				"bridge":  {clawai, "proxy", "--server", "under-test", "--", address},
				"reverse": append([]string{front}, sse...),
			} {
				through := s.tells(r.story, to)
				if diff := cmp.Diff(direct, through); diff != "" {
					t.Errorf("%s: the client saw something else (-direct +clawai):\n%s", form, diff)
				}
			}
			for form, inspect := range map[string]func(...string) (string, error){
				"bridge": s.inspector([]string{clawai, "proxy", "--server", "under-test", "--", address}), "reverse": s.visitor(front, r.sse),
			} {
				if out, err := inspect(r.inspect...); err != nil || !strings.Contains(out, r.want) {
					t.Errorf("%s: the Inspector: %v, want %q in\n%s", form, err, r.want, out)
				}
			}
			if out, err := s.run(clawai, "log", "verify"); err != nil {
				t.Errorf("the record must verify: %v\n%s", err, out)
			}
		})
	}
}

// starts runs a program that serves until the test ends.
func (s site) starts(env []string, argv ...string) *bufio.Reader {
	s.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(append([]string{}, s.env...), env...)
	cmd.Stderr = s.t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		_ = cmd.Wait()
	})
	return bufio.NewReader(out)
}

// serves starts a server at a free port, and gives its address once it listens.
func (s site) serves(r remoteServer) (address string) {
	s.t.Helper()
	port := exectest.ReservePort(s.t)
	argv := []string{}
	for _, a := range r.command {
		argv = append(argv, strings.ReplaceAll(a, "PORT", port))
	}
	s.starts([]string{"PORT=" + port}, argv...)
	await(s.t, r.name+" listens", func() bool {
		c, err := net.Dial("tcp", "localhost:"+port)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return "http://localhost:" + port + r.path
}

// listens starts the reverse proxy in front of what of names.
func (s site) listens(of ...string) (front string) {
	s.t.Helper()
	out := s.starts(nil, append([]string{clawai, "proxy", "--listen", "127.0.0.1:0"}, of...)...)
	line, err := out.ReadString('\n')
	if err != nil {
		s.t.Fatal(err)
	}
	_, front, _ = strings.Cut(strings.TrimSpace(line), "  ")
	return front
}

// tells runs the story and gives its lines, each once: the SDK's client takes up
// streams that have ended, and the server asks it there once more what it asked
// before.
func (s site) tells(story string, to []string) []string {
	s.t.Helper()
	out, err := s.run(append([]string{"node", "client.mjs", story, s.projects(), "--"}, to...)...)
	lines := strings.Split(strings.TrimSpace(clock.ReplaceAllString(out, "TIME")), "\n")
	if err != nil || lines[len(lines)-1] != `["closed",true]` {
		s.t.Fatalf("the %s story at %v failed: %v\n%s", story, to, err, out)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(lines, func(line string) bool {
		again := seen[line]
		seen[line] = true
		return again
	})
}

// visitor is the Inspector as a client that speaks HTTP itself.
func (s site) visitor(address string, sse bool) func(args ...string) (string, error) {
	transport := "http"
	if sse {
		transport = "sse"
	}
	return func(args ...string) (string, error) {
		argv := []string{"node", "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
			"--cli", "-q", "--server-url", address, "--transport", transport, "--format", "json"}
		return s.run(append(argv, args...)...)
	}
}
