//go:build attack

package path_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// server is the filesystem server of the MCP project, in namespaces of its own, as
// nobody. It may open the whole tree.
type server struct {
	in  io.WriteCloser
	out *bufio.Reader
	id  int
}

func startServer(t *testing.T, tr tree) *server {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("the attack starts the server as nobody, in namespaces of its own: run it as root")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("%v (the attack step of .ci/run installs it)", err)
	}
	const index = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
	script, err := filepath.Abs(index)
	if err == nil {
		_, err = os.Stat(script)
	}
	if err != nil {
		t.Fatalf("%v (npm ci --ignore-scripts in this folder installs it)", err)
	}
	cmd := exec.Command("unshare", "--fork", "--pid", "--mount-proc", "--mount", "--net", "--kill-child",
		"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs",
		"env", "-i", "HOME="+tr.home(), node, script, tr.home(), tr.root)
	cmd.Dir = tr.home()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Log(stderr.String())
		}
	})
	s := &server{in: in, out: bufio.NewReaderSize(out, 1<<20)}
	s.ask(t, []map[string]any{{"method": "initialize", "params": map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "attack", "version": "1"}}}})
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	return s
}

// ask sends requests, and gives what came back for each.
func (s *server) ask(t *testing.T, requests []map[string]any) []string {
	t.Helper()
	first := s.id
	sent := make(chan error, 1)
	go func() {
		w := bufio.NewWriter(s.in)
		for i, r := range requests {
			r["jsonrpc"], r["id"] = "2.0", first+i
			line, _ := json.Marshal(r)
			w.Write(append(line, '\n'))
		}
		sent <- w.Flush()
	}()
	s.id += len(requests)
	answers := make([]string, len(requests))
	for range requests {
		for {
			line, err := s.out.ReadBytes('\n')
			if err != nil {
				t.Fatalf("the server's answer: %v", err)
			}
			var reply struct{ ID *int }
			if json.Unmarshal(line, &reply) == nil && reply.ID != nil && *reply.ID >= first {
				answers[*reply.ID-first] = string(line)
				break
			}
		}
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	return answers
}

// call is a request of a tool.
func call(tool, path string) map[string]any {
	return map[string]any{"method": "tools/call", "params": map[string]any{"name": tool, "arguments": map[string]any{"path": path}}}
}

// readers are what else programs do to a path before they open it (open(2)). Each
// reads files of the tree alone.
var readers = []struct {
	name string
	path func(tr tree, s string) string
}{
	{"open", func(_ tree, s string) string { return s }},
	{"open, cleaned", func(_ tree, s string) string { return path.Clean(s) }},
	{"open, trimmed", func(_ tree, s string) string { return strings.TrimSpace(s) }},
	{"open, unquoted", func(_ tree, s string) string { return strings.Trim(strings.TrimSpace(s), `"'`) }},
	{"open, decoded", func(_ tree, s string) string { return decode(s) }},
	{"open, decoded twice", func(_ tree, s string) string { return decode(decode(s)) }},
	{"open, at home", func(tr tree, s string) string {
		if s == "~" || strings.HasPrefix(s, "~/") {
			return tr.home() + s[1:]
		}
		return s
	}},
	{"open, file: URI", func(_ tree, s string) string {
		if u, err := url.Parse(s); err == nil && u.Scheme == "file" {
			return u.Path
		}
		return s
	}},
	{"open, file:// cut off", func(_ tree, s string) string { return decode(strings.TrimPrefix(s, "file://")) }},
	{"open, backslashes as slashes", func(_ tree, s string) string { return strings.ReplaceAll(s, `\`, "/") }},
	{"open, a URI up to its query", func(_ tree, s string) string {
		path, uri := strings.CutPrefix(s, "file://")
		if uri { // in a path a ? is a letter like others
			path, _, _ = strings.Cut(path, "?")
		}
		return decode(path)
	}},
}

func decode(s string) string {
	if t, err := url.PathUnescape(s); err == nil {
		return t
	}
	return s
}

// opened is what a reader gets for a path, relative ones from the home.
func opened(tr tree, reader func(tree, string) string, s string) string {
	s = reader(tr, s)
	if s != "" && s[0] != '/' {
		s = tr.home() + "/" + s
	}
	if real, err := filepath.EvalSymlinks(s); err != nil || !strings.HasPrefix(real, tr.root+"/") {
		return ""
	}
	if text, err := os.ReadFile(s); err == nil {
		return string(text)
	}
	return ""
}
