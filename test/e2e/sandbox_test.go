//go:build e2e && linux

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// caged are servers of npm, and what each is asked.
var caged = map[string]struct {
	module, arg string
	calls       []string
}{
	"filesystem": {"@modelcontextprotocol/server-filesystem/dist/index.js", "SITE/projects", []string{
		`{"name":"read_text_file","arguments":{"path":"SITE/projects/notes.md"}}`, `{"name":"write_file","arguments":{"path":"SITE/projects/new.md","content":"x"}}`,
		`{"name":"edit_file","arguments":{"path":"SITE/projects/new.md","edits":[{"oldText":"x","newText":"yz"}]}}`,
		`{"name":"directory_tree","arguments":{"path":"SITE/projects"}}`, `{"name":"move_file","arguments":{"source":"SITE/projects/new.md","destination":"SITE/projects/moved.md"}}`,
		`{"name":"read_text_file","arguments":{"path":"/etc/passwd"}}`}},
	"memory": {"@modelcontextprotocol/server-memory/dist/index.js", "", []string{
		`{"name":"create_entities","arguments":{"entities":[{"name":"a","entityType":"b","observations":["c"]}]}}`, `{"name":"read_graph","arguments":{}}`}},
	"everything": {"@modelcontextprotocol/server-everything/dist/index.js", "stdio", []string{
		`{"name":"echo","arguments":{"message":"x"}}`, `{"name":"get-sum","arguments":{"a":2,"b":3}}`, `{"name":"get-tiny-image","arguments":{}}`, `{"name":"get-structured-content","arguments":{"location":"Chicago"}}`}},
	"thinking": {"@modelcontextprotocol/server-sequential-thinking/dist/index.js", "", []string{
		`{"name":"sequentialthinking","arguments":{"thought":"x","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":1}}`}},
	"context7": {"@upstash/context7-mcp/dist/index.js", "", []string{
		`{"name":"resolve-library-id","arguments":{"query":"x","libraryName":"some library"}}`, `{"name":"query-docs","arguments":{"libraryId":"/a/b","query":"x"}}`}},
	"commands": {"mcp-server-commands/build/index.js", "", []string{
		`{"name":"run_process","arguments":{"mode":"shell","command_line":"echo $((2+3))"}}`}},
	"github": {"@modelcontextprotocol/server-github/dist/index.js", "", []string{`{"name":"no-such-tool","arguments":{}}`}},
	"slack":  {"@modelcontextprotocol/server-slack/dist/index.js", "", []string{`{"name":"slack_post_message","arguments":{}}`}},
	"go":     {"", "", []string{`{"name":"arguments","arguments":{"a":[1,2]}}`, `{"name":"fails","arguments":{}}`}},
}

// variables are what a client's entry sets for a server. HOST is a web server of this machine.
var variables = map[string]map[string]string{
	"memory":   {"MEMORY_FILE_PATH": "SITE/projects/memory.json"},
	"github":   {"GITHUB_PERSONAL_ACCESS_TOKEN": "x"},
	"slack":    {"SLACK_BOT_TOKEN": "x", "SLACK_TEAM_ID": "x"},
	"context7": {"CONTEXT7_API_URL": "http://HOST/api"},
}

// Real servers answer in the sandbox that clawai proposes what they answer without one, byte for byte.
// One of them fetches what it answers from a host that its list names.
func TestSandboxParity(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var fetched atomic.Int64
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fetched.Add(1)
		fmt.Fprintf(w, `{"results":[{"id":"/a/b","title":"fetched %s","description":"x"}]}`, r.URL.Path)
	}))
	defer host.Close()
	address := strings.TrimPrefix(host.URL, "http://")
	for name, c := range caged {
		t.Run(name, func(t *testing.T) {
			var outputs []string
			for _, sandbox := range []bool{false, true} {
				before := fetched.Load()
				s := newSite(t, allowAll)
				fill := strings.NewReplacer("SITE", s.home, "HOST", address)
				command := []string{"node", filepath.Join(here, "node_modules", c.module)}
				if c.module == "" {
					command = []string{self, "go-server"}
				}
				if c.arg != "" {
					command = append(command, fill.Replace(c.arg))
				}
				env := map[string]string{"NODE_NO_WARNINGS": "1"}
				for variable, value := range variables[name] {
					env[variable] = fill.Replace(value)
				}
				for variable, value := range env {
					s.env = append(s.env, variable+"="+value)
				}
				if sandbox {
					entry, err := json.Marshal(map[string]any{"mcpServers": map[string]any{name: map[string]any{"command": command[0], "args": command[1:], "env": env}}})
					if err != nil {
						t.Fatal(err)
					}
					s.write(".claude.json", string(entry))
					out, err := s.run(clawai, "sandbox", "propose", name, "--write", "--yes")
					if err != nil {
						t.Fatalf("%v\n%s", err, out)
					}
					t.Logf("%s", out)
				}
				out := s.converse(append([]string{"proxy", "--ask", "never", "--server", name, "--"}, command...), c.calls)
				outputs = append(outputs, strings.ReplaceAll(out, s.home, "SITE"))
				record, err := s.run(clawai, "log")
				if err != nil || sandbox != strings.Contains(record, "sandbox enforce:") || strings.Contains(record, "WEAKER") || strings.Contains(record, "[host]") {
					t.Errorf("%v\n%s", err, record)
				}
				if n := fetched.Load() - before; (name == "context7") != (n > 0) {
					t.Errorf("it fetched %d times", n)
				}
			}
			if outputs[0] != outputs[1] {
				t.Errorf("without a sandbox:\n%s\nwith one:\n%s", outputs[0], outputs[1])
			}
			if n := strings.Count(outputs[0], "\n"); n != len(c.calls)+2 {
				t.Errorf("%d answers:\n%s", n, outputs[0])
			}
		})
	}
}

// converse asks one thing after the other and returns the answers without what varies by itself.
func (s site) converse(argv, calls []string) string {
	s.t.Helper()
	cmd := exec.Command(clawai, argv...)
	cmd.Env, cmd.Dir = s.env, s.projects()
	in, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	answers := make(chan string)
	go func() {
		defer close(answers)
		lines := bufio.NewScanner(out)
		for lines.Buffer(nil, 16<<20); lines.Scan(); {
			if strings.Contains(lines.Text(), `"result":`) || strings.Contains(lines.Text(), `"error":`) {
				answers <- lines.Text()
			}
		}
	}()
	all := ""
	ask := func(id int, method, params string) {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, strings.ReplaceAll(params, "SITE", s.home))
		select {
		case answer := <-answers:
			all += answer + "\n"
		case <-time.After(patience):
			s.t.Fatalf("no answer to %s: %s", params, complaints.String())
		}
	}
	ask(1, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	ask(2, "tools/list", `{}`)
	for i, params := range calls {
		ask(3+i, "tools/call", params)
	}
	_ = in.Close()
	_ = cmd.Wait()
	return all
}
