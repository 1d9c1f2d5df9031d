//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asked is one request to a server, and whether it is to come out allowed.
type asked struct {
	server, method string
	params         string
	open           bool
}

func callTool(server, name string, args map[string]any, open bool) asked {
	params, _ := json.Marshal(map[string]any{"name": name, "arguments": args})
	return asked{server, "tools/call", string(params), open}
}

// shortSite is a site whose path has no token-like name in it.
func shortSite(t *testing.T, policy string) site {
	t.Helper()
	s := newSite(t, policy)
	home, err := os.MkdirTemp("", "home")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	s.home = home
	s.write(".config/clawai/policy.toml", policy)
	s.env = append(s.env, "HOME="+home, "MEMORY_FILE_PATH="+filepath.Join(home, "memory.json"))
	return s
}

// session sends requests one after the other and returns the replies.
func (s site) session(server string, flags []string, requests []asked) []map[string]any {
	s.t.Helper()
	argv := append([]string{"proxy", "--server", server}, flags...)
	path := map[string][]string{
		"files":      {"node", "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", s.projects()},
		"everything": {"node", "node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"},
		"memory":     {"node", "node_modules/@modelcontextprotocol/server-memory/dist/index.js"},
	}[server]
	cmd := exec.CommandContext(s.t.Context(), clawai, append(append(argv, "--"), path...)...)
	cmd.Env = s.env
	in, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	defer func() { in.Close(); _ = cmd.Wait() }()
	lines := bufio.NewReader(out)
	send := func(id int, method, params string) map[string]any {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
		for {
			line, err := lines.ReadBytes('\n')
			if err == io.EOF {
				s.t.Fatalf("the server %s ended at %s %s", server, method, params)
			}
			var reply map[string]any
			if json.Unmarshal(line, &reply) == nil && reply["id"] == float64(id) && reply["method"] == nil {
				return reply
			}
		}
	}
	send(0, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	var replies []map[string]any
	for i, r := range requests {
		replies = append(replies, send(i+1, r.method, r.params))
	}
	return replies
}

// refusal is the denial in a reply, nil when it is the server's own.
func refusal(reply map[string]any) map[string]any {
	if failure, ok := reply["error"].(map[string]any); ok {
		data, _ := failure["data"].(map[string]any)
		if data["stage"] != nil {
			return data
		}
		return nil
	}
	result, _ := reply["result"].(map[string]any)
	meta, _ := result["_meta"].(map[string]any)
	denial, _ := meta["io.github.clawai/denial"].(map[string]any)
	return denial
}

// daily is an ordinary day: a site that is worked on, notes that are kept.
func daily(s site) (all []asked) {
	dir := s.projects() + "/site"
	add := func(server, name string, args map[string]any, open bool) {
		all = append(all, callTool(server, name, args, open))
	}
	for _, f := range []string{"index.html", "about.html", "css/main.css", "css/print.css"} {
		file := dir + "/" + f
		add("files", "write_file", map[string]any{"path": file, "content": "<p>" + f + strings.Repeat("x", 5000)}, true)
		add("files", "read_text_file", map[string]any{"path": file}, true)
		add("files", "get_file_info", map[string]any{"path": file}, true)
		add("files", "edit_file", map[string]any{"path": file, "edits": []map[string]string{{"oldText": "<p>", "newText": "<b>"}}, "dryRun": false}, true)
	}
	for range 3 {
		add("files", "list_allowed_directories", map[string]any{}, true)
		add("files", "list_directory", map[string]any{"path": dir}, true)
		add("files", "read_multiple_files", map[string]any{"paths": []string{dir + "/index.html", dir + "/css/main.css"}}, true)
		add("everything", "get-sum", map[string]any{"a": 2, "b": 3}, true)
		add("everything", "get-tiny-image", map[string]any{}, true)
		add("memory", "read_graph", map[string]any{}, true)
	}
	for i := range 3 {
		name := fmt.Sprint("note", i)
		add("everything", "echo", map[string]any{"message": name}, true)
		add("memory", "create_entities", map[string]any{"entities": []map[string]any{{"name": name, "entityType": "note", "observations": []string{"x"}}}}, true)
		add("memory", "search_nodes", map[string]any{"query": name}, true)
		add("memory", "delete_entities", map[string]any{"entityNames": []string{name}}, false)
		all = append(all,
			asked{"everything", "resources/read", fmt.Sprintf(`{"uri":"demo://resource/dynamic/text/%d"}`, i+1), true},
			asked{"everything", "prompts/get", `{"name":"simple-prompt"}`, true})
	}
	add("files", "read_text_file", map[string]any{"path": s.projects() + "/notes.md"}, false) // once
	return all
}

// attacks are what nobody has done on that day.
func attacks(s site) (all []asked) {
	dir, home := s.projects()+"/site", s.home
	read := func(paths ...string) {
		for _, p := range paths {
			all = append(all, callTool("files", "read_text_file", map[string]any{"path": p}, false))
		}
	}
	read(
		// Other folders.
		"/etc/passwd", "/etc/shadow", "/proc/self/environ", home+"/.ssh/id_ed25519", home+"/.config/clawai/policy.toml", home+"/.bash_history",
		s.projects()+"/notes.md", s.projects()+"/other/x", s.projects()+"/site-old/x", s.projects(), home, "/",
		// Traversal, in every spelling.
		dir+"/../../.ssh/id_ed25519", dir+"/../notes.md", dir+"/css/../../notes.md", dir+"/./../notes.md", dir+"//../notes.md",
		dir+"/%2e%2e/notes.md", dir+"/%2E%2E%2Fnotes.md", dir+"/%252e%252e/notes.md", dir+"/..%2fnotes.md", dir+`/..\notes.md`,
		dir+"/..\u200b/notes.md", dir+"/\uff0e\uff0e/notes.md", dir+"/..;/../../notes.md",
		"../../../../etc/passwd", "site/../../.ssh/id_ed25519", "~/.ssh/id_ed25519", "~root/.bashrc", "$HOME/.ssh/id", "file:///etc/passwd", "file://"+dir+"/../../.ssh/id",
		dir+"/index.html\x00.png", dir+"/index.html\n/etc/passwd",
		// Links that lead out.
		dir+"/names.html", dir+"/keys/id_ed25519", dir+"/keys", dir+"/css/home/.bashrc", dir+"/css/home/projects/notes.md",
		// Keys in the folder that is open.
		dir+"/.env", dir+"/.env.production", dir+"/css/.ssh/id_rsa", dir+"/.SSH/id_rsa", dir+"/.git/config", dir+"/server.pem", dir+"/deploy.key", dir+"/css/.aws/credentials", dir+"/%2eenv",
	)
	tool := func(server, name string, args map[string]any) { all = append(all, callTool(server, name, args, false)) }
	tool("files", "write_file", map[string]any{"path": home + "/.bashrc", "content": "x"})
	tool("files", "write_file", map[string]any{"path": dir + "/.git/hooks/post-commit", "content": "x"})
	tool("files", "write_file", map[string]any{"path": dir + "/../x", "content": "x"})
	tool("files", "write_file", map[string]any{"path": dir + "/keys/authorized_keys", "content": "x"})
	tool("files", "edit_file", map[string]any{"path": "/etc/hosts", "edits": []any{}})
	tool("files", "move_file", map[string]any{"source": dir + "/index.html", "destination": home + "/x"})
	tool("files", "create_directory", map[string]any{"path": dir + "/new"})
	tool("files", "directory_tree", map[string]any{"path": dir})
	tool("files", "list_directory", map[string]any{"path": home})
	tool("files", "list_directory", map[string]any{"path": "/"})
	tool("files", "search_files", map[string]any{"path": dir, "pattern": "*"})
	tool("files", "read_multiple_files", map[string]any{"paths": []string{dir + "/index.html", "/etc/passwd"}})
	tool("files", "read_multiple_files", map[string]any{"paths": []any{dir + "/index.html", []string{"/etc/passwd"}}})
	tool("files", "read_text_file", map[string]any{"Path": "/etc/passwd"})
	tool("files", "read_text_file", map[string]any{"path": map[string]any{"path": "/etc/passwd"}})
	tool("files", "read_text_file", map[string]any{"path": nil})
	tool("files", "Read_Text_File", map[string]any{"path": dir + "/index.html"})
	tool("files", "read_text_file ", map[string]any{"path": dir + "/index.html"})
	// Other servers, other tools, other resources and prompts.
	tool("everything", "read_text_file", map[string]any{"path": dir + "/index.html"})
	tool("memory", "write_file", map[string]any{"path": dir + "/index.html", "content": "x"})
	tool("everything", "get-env", map[string]any{})
	tool("everything", "trigger-sampling-request", map[string]any{"prompt": "x"})
	tool("memory", "delete_observations", map[string]any{"deletions": []any{}})
	tool("memory", "create_relations", map[string]any{"relations": []any{}})
	for _, uri := range []string{"demo://resource/static/document/architecture.md", "file:///etc/passwd", "demo://resource/dynamic/text/../../static/x", "https://evil.example/", "demo://other/dynamic/text/1"} {
		params, _ := json.Marshal(map[string]string{"uri": uri})
		all = append(all, asked{"everything", "resources/read", string(params), false})
	}
	return append(all, asked{"everything", "prompts/get", `{"name":"args-prompt","arguments":{"city":"Paris"}}`, false})
}

// bySession sorts requests by their servers.
func bySession(all []asked) map[string][]asked {
	m := map[string][]asked{}
	for _, r := range all {
		m[r.server] = append(m[r.server], r)
	}
	return m
}

// TestLearn watches a day's work with the real servers under a policy without
// rules, learns, and does the day again under what was learned: without a
// question, without a denial. A list of attacks that was held back is denied.
func TestLearn(t *testing.T) {
	s := shortSite(t, "# Nothing yet.\n")
	for _, f := range []string{"notes.md", "site/css/main.css", "site/index.html"} {
		s.write("projects/"+f, "x\n")
	}
	for _, link := range [][2]string{{s.home + "/.ssh", "keys"}, {"/etc/passwd", "names.html"}, {s.home, "css/home"}} {
		if err := os.Symlink(link[0], s.projects()+"/site/"+link[1]); err != nil {
			t.Fatal(err)
		}
	}
	day := bySession(daily(s))
	for server, requests := range maps.All(day) {
		for i, reply := range s.session(server, []string{"--observe"}, requests) {
			if d := refusal(reply); d != nil {
				t.Fatalf("watched and refused: %v %v", requests[i], d)
			}
		}
	}

	learned, fixtures := filepath.Join(s.home, "learned.toml"), filepath.Join(s.home, "fixtures")
	if out, err := s.run(clawai, "policy", "learn", "--observed", "allow", "--links", "--out", learned, "--fixtures", fixtures); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(learned)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := s.run(clawai, "policy", "test", "--policy", learned, "--home", s.home, "--root", "/", "--fixture-dir", fixtures); err != nil {
		t.Errorf("the fixtures do not hold: %v\n%s", err, out)
	}

	enforced := []string{"--policy", learned}
	allowed := 0
	for server, requests := range maps.All(day) {
		for i, reply := range s.session(server, enforced, requests) {
			d := refusal(reply)
			if requests[i].open && d != nil {
				t.Errorf("%s %s was learned and is refused: %v\n%s", server, requests[i].params, d, text)
			}
			if !requests[i].open && d == nil {
				t.Errorf("%s %s is to be refused, or asked about where nobody is", server, requests[i].params)
			}
			if d == nil {
				allowed++
			}
		}
	}
	if allowed < 40 {
		t.Errorf("only %d calls were let through", allowed)
	}

	held := attacks(s)
	if len(held) < 40 {
		t.Fatalf("only %d attacks", len(held))
	}
	for server, requests := range maps.All(bySession(held)) {
		for i, reply := range s.session(server, enforced, requests) {
			if failure, ok := reply["error"].(map[string]any); refusal(reply) == nil && !(ok && failure["code"] == float64(4400)) {
				t.Errorf("an attack went through: %s %s %s\n%v", server, requests[i].method, requests[i].params, reply)
			}
		}
	}
	t.Logf("%d calls were let through, %d attacks refused", allowed, len(held))

	// The record shows it, too: of the second time nothing that was learned as
	// allowed is asked about.
	out, _ := s.run(clawai, "policy", "replay", "--policy", learned, "--json")
	var report struct {
		Counts    map[string]int
		NotJudged map[string]int `json:"not_judged"`
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || report.Counts["newly_denied"] != 0 || report.Counts["newly_allowed"] < 40 {
		t.Errorf("%v: %s", err, out)
	}
}
