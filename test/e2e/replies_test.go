//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A file that was read with its key taken out cannot be written back in that form, by the
// real filesystem server; what else is written is.
func TestARedactedFileIsNotWrittenBack(t *testing.T) {
	const key = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	dir := t.TempDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	file, other, rules := filepath.Join(dir, "app.env"), filepath.Join(dir, "other.env"), filepath.Join(dir, "rules.toml")
	content := "A=1\nTOKEN=" + key + "\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(rules, []byte(`
[[rule]]
on = "reply"
action = "redact"
tool = "*"
find = ["secret"]

[[rule]]
action = "deny"
tool = "*"
find = ["secret", "marker"]

[[rule]]
action = "allow"
tool = "*"
`), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := filepath.Abs("node_modules/.bin/mcp-server-filesystem")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(clawai, "proxy", "--state", filepath.Join(dir, "state"), "--policy", rules, "--server", "fs", "--", server, dir)
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), cmd.Wait() }()
	lines := bufio.NewReaderSize(out, 1<<20)
	n := 0
	ask := func(method, params string) string {
		n++
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", n, method, params)
		for {
			line, err := lines.ReadString('\n')
			if err == io.EOF {
				t.Fatalf("%s: the proxy ended", method)
			}
			if strings.Contains(line, fmt.Sprintf(`"id":%d`, n)) {
				return line
			}
		}
	}
	write := func(path, text string) string {
		args, _ := json.Marshal(map[string]any{"name": "write_file", "arguments": map[string]string{"path": path, "content": text}})
		return ask("tools/call", string(args))
	}
	ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	args, _ := json.Marshal(map[string]any{"name": "read_text_file", "arguments": map[string]string{"path": file}})
	var read struct {
		Result struct {
			Content           []struct{ Text string }
			StructuredContent struct{ Content string }
		}
	}
	got := ask("tools/call", string(args))
	if err := json.Unmarshal([]byte(got), &read); err != nil || len(read.Result.Content) == 0 {
		t.Fatalf("%v: %s", err, got)
	}
	seen := read.Result.Content[0].Text
	if seen != "A=1\nTOKEN=[clawai:withheld secret 1]\n" || strings.Contains(got, key) {
		t.Fatalf("the agent read %q", seen)
	}
	if got := write(file, seen); !strings.Contains(got, "must not be written back") || !strings.Contains(got, `"isError":true`) {
		t.Errorf("written back: %s", got)
	}
	if b, _ := os.ReadFile(file); string(b) != content {
		t.Errorf("the file is now %q", b)
	}
	if got := write(other, "A=2\n"); strings.Contains(got, `"isError":true`) {
		t.Errorf("another file: %s", got)
	}
	if b, _ := os.ReadFile(other); string(b) != "A=2\n" {
		t.Errorf("the other file is %q", b)
	}
}
