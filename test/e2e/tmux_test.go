//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

const askFirst = `
[[rule]]
action = "prompt"
tool = "write_file"
description = "Ask before a file is written"
`

// pane is a client with an interface of its own, in a real tmux that somebody
// looks at. A second tmux is the person's eyes and hands: what it captures is
// what the first one draws on the screen, popups included.
type pane struct {
	t     *testing.T
	s     site
	in    *os.File
	calls int
}

func newPane(t *testing.T) *pane {
	t.Helper()
	p := &pane{t: t, s: newSite(t, askFirst)}
	p.s.write("client.sh", fmt.Sprintf("stty raw -echo; clear; printf 'THE CLIENT INTERFACE'; cd %s\n%s proxy --server files -- node %s . <%s >%s\ntouch %s\n",
		p.s.projects(), clawai, absolute(t, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"), p.path("in"), p.path("out"), p.path("ended")))
	if err := syscall.Mkfifo(p.path("in"), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.in, err = os.OpenFile(p.path("in"), os.O_RDWR, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.in.Close() // the client ends, and with it the proxy
		eventually(t, "the end of the proxy", func() bool { _, err := os.Stat(p.path("ended")); return err == nil })
		_, _ = p.tmux("client", "kill-server")
		_, _ = p.tmux("person", "kill-server")
	})
	p.must("person", "new-session", "-d", "-x", "160", "-y", "30",
		"TMUX= exec tmux -S "+p.path("client.socket")+" -f /dev/null new-session sh "+p.path("client.sh"))
	p.sees("THE CLIENT INTERFACE")
	p.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"pane","version":"1"}}}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func (p *pane) path(name string) string { return filepath.Join(p.s.home, name) }

func (p *pane) tmux(server string, args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", p.path(server + ".socket"), "-f", "/dev/null"}, args...)...)
	for _, v := range p.s.env {
		if !strings.HasPrefix(v, "TMUX") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p *pane) must(server string, args ...string) string {
	p.t.Helper()
	out, err := p.tmux(server, args...)
	if err != nil {
		p.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return out
}

// screen is what the person sees; nothing once they have left.
func (p *pane) screen() string {
	text, _ := p.tmux("person", "capture-pane", "-p")
	return text
}

func (p *pane) sees(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		eventually(p.t, fmt.Sprintf("%q on the screen:\n%s", text, p.screen()), func() bool { return strings.Contains(p.screen(), text) })
	}
}

// back is when the popup is gone and the client's interface is as it was.
func (p *pane) back() {
	p.t.Helper()
	eventually(p.t, "the client's interface alone:\n"+p.screen(), func() bool {
		text := p.screen()
		return strings.Contains(text, "THE CLIENT INTERFACE") && !strings.Contains(text, "clawai") && !strings.Contains(text, "│")
	})
}

func (p *pane) types(keys ...string) {
	p.t.Helper()
	p.must("person", append([]string{"send-keys"}, keys...)...)
}

func (p *pane) send(frame string) {
	p.t.Helper()
	if _, err := p.in.WriteString(frame + "\n"); err != nil {
		p.t.Fatal(err)
	}
}

// write has the agent call write_file, which the rules ask about.
func (p *pane) write(content string) (id int) {
	p.t.Helper()
	p.calls++
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"write_file","arguments":{"path":%q,"content":%q}}}`,
		p.calls, filepath.Join(p.s.projects(), "new.md"), content))
	return p.calls
}

// answered waits for the reply to a call; it is whether the call went on.
func (p *pane) answered(id int) (went bool) {
	p.t.Helper()
	var reply string
	eventually(p.t, fmt.Sprintf("the reply to call %d:\n%s", id, p.screen()), func() bool {
		out, _ := os.ReadFile(p.path("out"))
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, fmt.Sprintf(`"id":%d`, id)) && strings.HasSuffix(line, "\n") {
				reply = line
			}
		}
		return reply != ""
	})
	return !strings.Contains(reply, `"isError":true`)
}

// request is what the screen names.
func (p *pane) request() string {
	p.t.Helper()
	p.sees("request    ")
	return regexp.MustCompile(`request    ([0-9a-f-]{36})`).FindStringSubmatch(p.screen())[1]
}

func TestTmuxPopup(t *testing.T) {
	p := newPane(t)
	defer func() { p.t = t }()
	asks := []string{"clawai", `tool       "write_file"`, `"Ask before a file is written"`, "d deny"}

	t.Run("answered in it", func(t *testing.T) {
		p.t = t
		id := p.write("one")
		p.sees(asks...)
		p.sees("a allow once")
		p.types("a")
		if !p.answered(id) {
			t.Error("allowed, and refused")
		}
		p.back()
		if out := p.s.must(clawai, "log"); !strings.Contains(out, "once (console") {
			t.Errorf("the record does not say how it was answered:\n%s", out)
		}
		id = p.write("two")
		p.sees(asks...)
		p.types("d")
		if p.answered(id) {
			t.Error("denied, and went on")
		}
		p.back()
	})
	t.Run("answered elsewhere", func(t *testing.T) {
		p.t = t
		id := p.write("three")
		p.s.must(clawai, "decide", p.request(), "approve")
		if !p.answered(id) {
			t.Error("allowed, and refused")
		}
		p.back()
	})
	t.Run("left without an answer", func(t *testing.T) {
		p.t = t
		id := p.write("four")
		request := p.request()
		p.types("q")
		p.back()
		if out := p.s.must(clawai, "approve", "--list"); !strings.Contains(out, request[:8]) {
			t.Errorf("it does not wait in the queue any more:\n%s", out)
		}
		p.s.must(clawai, "decide", request, "deny")
		if p.answered(id) {
			t.Error("denied, and went on")
		}
	})
	t.Run("another popup is in the way", func(t *testing.T) {
		p.t = t
		client := strings.TrimSpace(p.must("client", "list-clients", "-F", "#{client_name}"))
		p.must("client", "run-shell", "-b", "tmux display-popup -c "+client+" -E 'echo MY OWN; read x'")
		p.sees("MY OWN")
		id := p.write("five")
		eventually(t, "the call in the queue", func() bool {
			out, _ := p.s.run(clawai, "approve", "--list")
			return strings.Contains(out, "write_file")
		})
		p.types("Enter")
		p.sees(asks...)
		p.types("d")
		if p.answered(id) {
			t.Error("denied, and went on")
		}
		p.back()
	})
	t.Run("nobody looks", func(t *testing.T) {
		p.t = t
		p.must("client", "detach-client", "-a")
		p.must("client", "detach-client")
		id := p.write("six")
		var list string
		eventually(t, "the call in the queue", func() bool {
			list, _ = p.s.run(clawai, "approve", "--list")
			return strings.Contains(list, "write_file")
		})
		p.s.must(clawai, "decide", regexp.MustCompile(`[0-9a-f]{8}`).FindString(list), "deny")
		if p.answered(id) {
			t.Error("denied, and went on")
		}
	})
}
