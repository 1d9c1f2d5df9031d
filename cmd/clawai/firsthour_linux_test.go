package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
)

// The files of eight clients, as they are before clawai comes.
var eightClients = map[string]string{
	".claude.json": `{"numStartups": 7, "mcpServers": {"filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "@HOME@/projects"]}}}`,
	".config/Claude/claude_desktop_config.json": `{
  "mcpServers": {
    "filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "@HOME@/projects"]},
    "time": {"command": "uvx", "args": ["mcp-server-time"]}
  }
}
`,
	".cursor/mcp.json": `{
  // what I use every day
  "mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"]}},
}
`,
	".config/Code/User/mcp.json":        `{"servers": {"playwright": {"command": "npx", "args": ["@playwright/mcp@latest"]}}}`,
	".codex/config.toml":                "model = \"x\" # mine\n\n[mcp_servers.fetch]\ncommand = \"uvx\"\nargs = [\"mcp-server-fetch\"]\n",
	".gemini/settings.json":             `{"theme": "dark", "mcpServers": {"memory": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}}}`,
	".codeium/windsurf/mcp_config.json": `{"mcpServers": {"github": {"command": "docker", "args": ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"], "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}}}`,
	".config/opencode/opencode.json":    `{"mcp": {"sqlite": {"type": "local", "command": ["uvx", "mcp-server-sqlite", "--db-path", "@HOME@/x.db"]}}}`,
	"projects/app/main.go":              "package main\n",
	".ssh/id_ed25519":                   "not a key\n",
}

// TestTheFirstHour walks docs/first-hour.md: three commands of a person, a client
// between them, and every file as it was. CLAWAI_UPDATE=1 writes the page anew.
func TestTheFirstHour(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := t.TempDir()
	for name, text := range eightClients {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "@HOME@", home)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := snapshotOf(t, home)
	page := &walk{home: home}

	w := watchAs(t, home, colorful, 46, 100, "init")
	w.sees("Mode [ask]:")
	w.types("\r")
	w.sees("9 of 9 chosen")
	page.shows("$ clawai init", w, "Put clawai in front")
	w.types("\r")
	w.sees("Write this? [y/N]")
	if strings.Contains(w.screen.Text(), "ghp_aaaa") {
		t.Error("a token is shown")
	}
	w.types("y\r")
	w.sees("Try one question now? [Y/n]")
	w.types("n\r")
	w.sees("clawai log --follow")
	w.leaves(0)
	page.shows("", w, "How you are asked:")

	page.client(t, home)

	w = watchAs(t, home, colorful, 46, 100, "log", "stats")
	w.sees("Most called")
	w.leaves(0)
	page.shows("$ clawai log stats", w, "3 calls")

	w = watchAs(t, home, colorful, 46, 100, "unwrap", "--all")
	w.sees("[y/N]")
	w.types("y\r")
	w.sees("Unwrapped sqlite")
	w.leaves(0)
	page.shows("$ clawai unwrap --all", w, "Write these")
	after := snapshotOf(t, home)
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s is not as it was:\n%s", name, after[name])
		}
	}
	page.compare(t)
}

func snapshotOf(t *testing.T, home string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name := range eightClients {
		b, err := os.ReadFile(filepath.Join(home, name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(b)
	}
	return all
}

// walk is the page as it is being written.
type walk struct {
	home   string
	blocks []string
}

// shows notes what a terminal shows, from some words on.
func (p *walk) shows(command string, w *watcher, from string) {
	w.t.Helper()
	_, text, found := strings.Cut(w.screen.Text(), from)
	if !found {
		w.t.Fatalf("%q is not to be seen:\n%s", from, w.screen.Text())
	}
	text = from + text
	var rows []string
	for row := range strings.SplitSeq(text, "\n") {
		rows = append(rows, strings.TrimRight(row, " "))
	}
	p.add(command + "\n" + strings.TrimSpace(strings.Join(rows, "\n")))
}

func (p *walk) add(text string) {
	text = strings.ReplaceAll(text, p.home, "~")
	text = regexp.MustCompile(`\d+ \w+ \d{4}, \d\d:\d\d to \d\d:\d\d`).ReplaceAllString(text, "DATE")
	// How long a reply took is another at each run, and so is their order.
	text = regexp.MustCompile(`(?ms)^Slowest.*?\n\n`).ReplaceAllString(text, "")
	p.blocks = append(p.blocks, strings.TrimSpace(lasting(text)))
}

// client starts the server as Claude Desktop's file now says, in the folder where that
// client starts servers, and makes three calls.
func (p *walk) client(t *testing.T, home string) {
	t.Helper()
	var file struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(readHome(t, home, ".config/Claude/claude_desktop_config.json")), &file); err != nil {
		t.Fatal(err)
	}
	clawai, err := exec.LookPath("clawai")
	if err != nil {
		t.Fatal(err)
	}
	// In the place of the package from npm: the server of the demo, on the same folder.
	npx := filepath.Join(t.TempDir(), "npx")
	if err := os.WriteFile(npx, []byte("#!/bin/sh\nexec "+clawai+" demo-server "+home+"\n"), fs.FileMode(0o700)); err != nil {
		t.Fatal(err)
	}
	entry := file.Servers["filesystem"]
	proxy := exec.Command(entry.Command, entry.Args...)
	proxy.Dir = "/"
	proxy.Env = []string{"HOME=" + home, "PATH=" + filepath.Dir(npx) + ":/usr/bin:/bin"}
	in, out := startPiped(t, proxy)
	lines := bufio.NewReader(out)
	// exchange sends a request and answers what clawai asks until the reply is there.
	exchange := func(line string) (reply string, asked string) {
		if _, err := fmt.Fprintln(in, line); err != nil {
			t.Fatal(err)
		}
		for {
			got, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			var m struct {
				ID     json.RawMessage
				Method string
				Params struct{ Message string }
			}
			if err := json.Unmarshal([]byte(got), &m); err != nil {
				t.Fatal(err)
			}
			if m.Method == "" {
				return got, asked
			}
			if m.Method != "elicitation/create" {
				continue
			}
			asked = m.Params.Message
			time.Sleep(time.Second) // what is answered faster is no person's answer
			fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":"once"}}}`+"\n", m.ID)
		}
	}
	exchange(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"walk","version":"1"}}}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	call := func(id int, tool, args string) (text, asked string) {
		reply, asked := exchange(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args))
		var m struct {
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal([]byte(reply), &m); err != nil || len(m.Result.Content) == 0 {
			t.Fatalf("%v: %s", err, reply)
		}
		return m.Result.Content[0].Text, asked
	}
	text, asked := call(1, "read_text_file", `{"path":"`+home+`/projects/app/main.go"}`)
	if text != "package main\n" || asked != "" {
		t.Errorf("reading: %q, asked %q", text, asked)
	}
	p.add("read_text_file ~/projects/app/main.go\n" + text)

	text, asked = call(2, "write_file", `{"path":"`+home+`/projects/app/notes.md","content":"hello\n"}`)
	if b, err := os.ReadFile(filepath.Join(home, "projects/app/notes.md")); err != nil || string(b) != "hello\n" || asked == "" {
		t.Errorf("writing: %q, %v, %q, asked %q", text, err, b, asked)
	}
	p.add("write_file ~/projects/app/notes.md\n" + asked + "\n\n[Allow once]\n\n" + text)

	text, asked = call(3, "read_text_file", `{"path":"projects/app/main.go"}`)
	if !strings.Contains(text, "Try again with an absolute path below ~/projects.") || asked != "" {
		t.Errorf("a relative path: %q, asked %q", text, asked)
	}
	p.add("read_text_file projects/app/main.go\n" + text)
	_ = in.Close()
	if err := proxy.Wait(); err != nil {
		t.Error(err)
	}
}

// compare holds the page to what was seen: its blocks, in their order.
func (p *walk) compare(t *testing.T) {
	t.Helper()
	const page = "../../docs/first-hour.md"
	src, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?ms)^````text\n(.*?)\n````$")
	n := 0
	text := block.ReplaceAllStringFunc(string(src), func(old string) string {
		if n++; n > len(p.blocks) {
			return old
		}
		return "````text\n" + p.blocks[n-1] + "\n````"
	})
	if n != len(p.blocks) {
		t.Fatalf("%s has %d blocks, the walk %d", page, n, len(p.blocks))
	}
	if text == string(src) {
		return
	}
	if os.Getenv("CLAWAI_UPDATE") != "" {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is not what is seen (CLAWAI_UPDATE=1 writes it anew):\n%s", page, text)
}
