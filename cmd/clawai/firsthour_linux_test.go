package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
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
	"data/prices.csv":                   "item,price\n",
	"notes/todo.md":                     "buy milk\n",
	".ssh/id_ed25519":                   "not a key\n",
}

// TestTheFirstHour walks docs/first-hour.md: six commands of a person, a client between them, and
// every file as it was. CLAWAI_UPDATE=1 writes the page anew.
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
	if err := os.Mkdir(filepath.Join(home, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := snapshotOf(t, home)
	page := &walk{home: home}

	w := watchAs(t, home, colorful, 46, 100, "demo")
	w.sees("clawai asks: let it through?")
	time.Sleep(time.Second) // a key counts when the question has been in sight for 300 ms
	w.types("\x1b[B\r")
	w.sees("Next: clawai init")
	w.leaves(0)
	page.shows("$ clawai demo", w, "6. The agent")

	w = watchAs(t, home, colorful, 46, 100, "init")
	w.sees("Mode [ask]:")
	w.types("\r")
	w.sees("9 of 9 chosen")
	page.shows("$ clawai init", w, "Put clawai in front")
	w.types("\r")
	w.sees("Which folders may be used?", "Several are separated by commas.", "~/projects")
	w.types("\r")
	w.sees("Write this? [y/N]")
	if strings.Contains(w.screen.Text(), "ghp_aaaa") {
		t.Error("a token is shown")
	}
	w.types("y\r")
	w.sees("Try one question now? [Y/n]")
	w.types("\r")
	w.sees("clawai asks: let it through?", "Return answer")
	page.shows("", w, "trial wants")
	w.types("\x1b[B\r")
	w.sees("clawai log --follow")
	w.leaves(0)
	page.shows("", w, "How you are asked:")

	c := startClient(t, home)
	page.callFirst(t, c)

	w = watchAs(t, home, colorful, 46, 100, "policy", "allow", home+"/data")
	w.sees("[y/N]")
	w.types("y\r")
	w.sees("To take it back")
	w.leaves(0)
	page.shows("$ clawai policy allow ~/data", w, "")
	page.add("read_text_file ~/data/prices.csv\n" + c.readOpened(home+"/data/prices.csv", 1))

	w = watchAs(t, home, colorful, 30, 100)
	w.sees("[4 Calls]", "prices.csv")
	w.settles()
	page.shows("$ clawai", w, "clawai   1")
	w.types("/")
	w.types("todo\r")
	w.sees("> ", "todo.md", "o open it")
	w.chooses("o", "How far should the rule reach?")
	w.chooses("1", "> 1  ")
	w.types("\x1b[F")
	w.sees("Of all calls:")
	w.settles()
	page.shows("", w, "It opens")
	w.chooses("y", "written; clawai policy undo takes it back")
	w.quits(0)
	page.add("read_text_file ~/notes/todo.md\n" + c.readOpened(home+"/notes/todo.md", 2))
	c.end()

	w = watchAs(t, home, colorful, 46, 100, "log", "stats")
	w.sees("Most called")
	w.leaves(0)
	page.shows("$ clawai log stats", w, "7 calls in 2 sessions")

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
	if before, _, later := strings.Cut(text, " · Esc go back"); later {
		text = before + " · Esc go back" // the news below comes and goes
	}
	var rows []string
	for row := range strings.SplitSeq(text, "\n") {
		rows = append(rows, strings.TrimRight(row, " "))
	}
	p.add(command + "\n" + strings.TrimSpace(strings.Join(rows, "\n")))
}

func (p *walk) add(text string) {
	text = strings.ReplaceAll(text, p.home, "~")
	text = regexp.MustCompile(`\d+ \w+ \d{4}, \d\d:\d\d to \d\d:\d\d`).ReplaceAllString(text, "DATE")
	text = regexp.MustCompile(`(?m)^\w+day, \d+ \w+ \d{4}$`).ReplaceAllString(text, "DATE")
	text = regexp.MustCompile(`clawai-demo-\d+|clawai-demo…\d+`).ReplaceAllString(text, "clawai-demo")
	text = regexp.MustCompile(`(?m)^(session +)\w+$`).ReplaceAllString(text, "${1}SESSION")
	// How long a reply took is another at each run, and so is their order.
	text = regexp.MustCompile(`(?ms)^Slowest.*?\n\n`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`  +(<1|\d+) ms((?:  RECORD)?)(?m:$)`).ReplaceAllString(lasting(text), "$2")
	p.blocks = append(p.blocks, strings.TrimSpace(text))
}

// desktop is Claude Desktop with its one session.
type desktop struct {
	t     *testing.T
	home  string
	proxy *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
	last  int // id of the last call
}

// startClient starts the server as Claude Desktop's file now says, in the folder where that client
// starts servers.
func startClient(t *testing.T, home string) *desktop {
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
	c := &desktop{t: t, home: home, proxy: proxy, in: in, lines: bufio.NewReader(out)}
	c.exchange(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"walk","version":"1"}}}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *desktop) end() {
	_ = c.in.Close()
	if err := c.proxy.Wait(); err != nil {
		c.t.Error(err)
	}
}

// exchange sends a request and answers what clawai asks until the reply is there.
func (c *desktop) exchange(line string) (reply string, asked string) {
	c.t.Helper()
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		c.t.Fatal(err)
	}
	for {
		got, err := c.lines.ReadString('\n')
		if err != nil {
			c.t.Fatal(err)
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Message string }
		}
		if err := json.Unmarshal([]byte(got), &m); err != nil {
			c.t.Fatal(err)
		}
		if m.Method == "" {
			return got, asked
		}
		if m.Method != "elicitation/create" {
			continue
		}
		asked = m.Params.Message
		time.Sleep(time.Second) // what is answered faster is no person's answer
		fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":"once"}}}`+"\n", m.ID)
	}
}

func (c *desktop) call(tool, args string) (text, asked string) {
	c.t.Helper()
	c.last++
	reply, asked := c.exchange(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, c.last, tool, args))
	var m struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal([]byte(reply), &m); err != nil || len(m.Result.Content) == 0 {
		c.t.Fatalf("%v: %s", err, reply)
	}
	return m.Result.Content[0].Text, asked
}

// readOpened reads a file that a rule has just opened. The proxy notices the new policy by itself, a
// moment later, and records that it reloaded it: the record then has as many reloads as are given.
func (c *desktop) readOpened(path string, reloads int) string {
	c.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		log := exec.Command("clawai", "log", "--json", "--kind", "policy")
		log.Env = c.proxy.Env
		log.Env[1] = "PATH=" + os.Getenv("PATH")
		out, err := log.Output()
		if err != nil {
			c.t.Fatal(err)
		}
		if strings.Count(string(out), "\n") >= reloads {
			break
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("the policy is not reloaded:\n%s", out)
		}
	}
	text, _ := c.call("read_text_file", `{"path":"`+path+`"}`)
	return text
}

// callFirst makes the first calls of the session, of which two are refused.
func (p *walk) callFirst(t *testing.T, c *desktop) {
	t.Helper()
	text, asked := c.call("read_text_file", `{"path":"`+c.home+`/projects/app/main.go"}`)
	if text != "package main\n" || asked != "" {
		t.Errorf("reading: %q, asked %q", text, asked)
	}
	p.add("read_text_file ~/projects/app/main.go\n" + text)

	text, asked = c.call("write_file", `{"path":"`+c.home+`/projects/app/notes.md","content":"hello\n"}`)
	if b, err := os.ReadFile(filepath.Join(c.home, "projects/app/notes.md")); err != nil || string(b) != "hello\n" || asked == "" {
		t.Errorf("writing: %q, %v, %q, asked %q", text, err, b, asked)
	}
	p.add("write_file ~/projects/app/notes.md\n" + asked + "\n\n[Allow once]\n\n" + text)

	text, asked = c.call("read_text_file", `{"path":"projects/app/main.go"}`)
	if !strings.Contains(text, "Try again with an absolute path below ~/projects.") || asked != "" {
		t.Errorf("a relative path: %q, asked %q", text, asked)
	}
	p.add("read_text_file projects/app/main.go\n" + text)

	text, asked = c.call("read_text_file", `{"path":"`+c.home+`/notes/todo.md"}`)
	if !strings.HasPrefix(text, "Refused") || asked != "" {
		t.Errorf("another folder: %q, asked %q", text, asked)
	}
	p.add("read_text_file ~/notes/todo.md\n" + text)
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
