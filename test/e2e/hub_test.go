//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHub: two servers from npm behind one hub, as a client of the SDK sees them.
func TestHub(t *testing.T) {
	t.Parallel()
	s := newSite(t, `
[[rule]]
action = "allow"
server = "files"
tool = "read_text_file"

[[rule]]
action = "allow"
server = "everything"
tool = "*"
`)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	module := func(name string) string {
		return filepath.Join(here, "node_modules/@modelcontextprotocol", name, "dist/index.js")
	}
	s.write(".config/clawai/config.toml", fmt.Sprintf(`
[hub]
list_wait = "1m"

[upstream.files]
command = ["node", %q]
args = ["$HOME/projects"]

[upstream.everything]
command = ["node", %q, "stdio"]

[upstream.gone]
command = "no-such-program"
`, module("server-filesystem"), module("server-everything")))
	inspect := s.inspector([]string{clawai, "hub"})
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--method", "tools/list"}, "files__read_text_file"},
		{[]string{"--method", "tools/call", "--tool-name", "files__read_text_file", "--tool-arg", "path=" + filepath.Join(s.home, "projects/notes.md")}, "# Notes"},
		{[]string{"--method", "tools/call", "--tool-name", "everything__get-sum", "--tool-args-json", `{"a":2,"b":3}`}, "The sum of 2 and 3 is 5."},
	} {
		if out, err := inspect(c.args...); err != nil || !strings.Contains(out, c.want) {
			t.Errorf("%q: %v, not %q in\n%s", c.args, err, c.want, out)
		}
	}
	if out, err := inspect("--method", "tools/call", "--tool-name", "files__write_file", "--tool-arg", "path=/x", "content=y"); err == nil {
		t.Errorf("a call crossed that no rule allows: %s", out)
	}
	if out, err := s.run(clawai, "log", "--decision", "deny"); err != nil || !strings.Contains(out, "tools/call write_file") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := s.run(clawai, "log", "verify"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
