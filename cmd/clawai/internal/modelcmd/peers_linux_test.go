package modelcmd

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/clawai/clawai/proxy/hook/client"
)

// What an interpreter runs is known by its file; a text in its arguments is no file.
func TestReadProgram(t *testing.T) {
	script := t.TempDir() + "/wait"
	if err := os.WriteFile(script, []byte("read line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		words []string
		want  string // the last word; "" for none
	}{
		{[]string{"bash", script, "x"}, script},
		{[]string{"bash", "--norc", script}, script},
		{[]string{"bash", "-c", "read line; true", script}, ""},
		{[]string{"bash", "-s"}, ""},
	} {
		cmd := exec.Command(c.words[0], c.words[1:]...)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The system shows the words of a process a moment after it has started.
		for line := fmt.Sprintf("/proc/%d/cmdline", cmd.Process.Pid); ; time.Sleep(time.Millisecond) {
			if shown, err := os.ReadFile(line); err != nil || len(shown) > 0 {
				break
			}
		}
		got := readProgram(cmd.Process.Pid)
		if c.want == "" && got != nil || c.want != "" && (len(got) != 2 || got[1] != c.want) {
			t.Errorf("%q runs %q", c.words, got)
		}
		if program := readProgram(os.Getpid()); len(program) != 1 || slices.Equal(program, got) {
			t.Errorf("%q and %q", program, got)
		}
		_ = in.Close()
		_ = cmd.Wait()
	}
	if readProgram(1<<30) != nil {
		t.Error("no process runs something")
	}
}

// The program of a client is known by its name, wherever and however it is installed. Another that lies beside is none.
func TestProgramsOfClients(t *testing.T) {
	for _, c := range []struct {
		id      string
		program []string
		want    bool
	}{
		{"claude-code", []string{"/home/me/.local/share/claude/versions/2.1.330"}, true},
		{"claude-code", []string{"/usr/lib/node_modules/@anthropic-ai/claude-code-linux-x64/claude"}, true},
		{"claude-code", []string{"/usr/bin/node", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"}, true},
		{"codex", []string{"/home/me/bin/codex-x86_64-unknown-linux-musl"}, true},
		{"gemini-cli", []string{"/usr/bin/node", "/usr/local/bin/gemini"}, true},
		{"gemini-cli", []string{"/usr/bin/node", "/home/me/.nvm/lib/node_modules/@google/gemini-cli/bundle/gemini.js"}, true},
		{"qwen-code", []string{"/usr/bin/node", "node_modules/@qwen-code/qwen-code/cli-entry.js"}, true},
		{"opencode", []string{"/home/me/.opencode/bin/opencode"}, true},
		{"copilot-cli", []string{"/usr/lib/node_modules/@github/copilot-linux-x64/copilot"}, true},
		{"claude-code", []string{"/usr/bin/python3.12", "/home/claude/claude-tools/agent.py"}, false},
		{"claude-code", []string{"/home/claude/projects/claude/agent"}, false},
		{"claude-code", []string{"/usr/bin/node", "/home/me/claude/agent.js"}, false},
		{"codex", []string{"/usr/bin/node", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"}, false},
		{"claude-code", []string{"/usr/bin/claudette"}, false},
		{"claude-code", nil, false},
	} {
		if got := isProgramOf(c.program, c.id); got != c.want {
			t.Errorf("%s: %q: %v", c.id, c.program, got)
		}
	}
}

// A program that a client has started and left is no client: its calls are not left to the client's hook.
func TestProgramsThatLeave(t *testing.T) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(shell)
	if err != nil {
		t.Fatal(err)
	}
	named := filepath.Join(t.TempDir(), "claude")
	if err := os.WriteFile(named, text, 0o700); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	own := listener.Addr().(*net.TCPAddr).AddrPort()
	p, row := newPeers(own), client.FindRow("claude-code")
	for _, c := range []struct {
		program string
		other   bool
	}{{shell, true}, {named, false}} {
		ask := fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d; read line <&3; true", own.Port())
		if err := exec.Command(shell, "-c", `setsid "$0" -c "$1" </dev/null >/dev/null 2>&1 &`, c.program, ask).Run(); err != nil {
			t.Fatal(err)
		}
		conn, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if got := p.isOther(conn.RemoteAddr().String(), row); got != c.other {
			t.Errorf("%s is another program: %v", c.program, got)
		}
		_ = conn.Close()
	}
}
