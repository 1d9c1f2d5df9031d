//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
)

// A proxy asks the disk it runs on, and counts: across a reload, and for all
// calls of one moment.
func TestProxyAsksTheDiskAndCounts(t *testing.T) {
	r := prepare(t)
	home, err := filepath.EvalSymlinks(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"open", "shut"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../shut", filepath.Join(home, "open", "link")); err != nil {
		t.Fatal(err)
	}
	rule := func(comment string) string {
		return fmt.Sprintf("%s[[rule]]\naction = \"allow\"\ntool = \"read\"\nwhere.path.under = [%q]\nlimit = \"2/day\"\n", comment, filepath.Join(home, "open"))
	}
	r.write("policy.toml", rule(""))
	r.cmd.Dir = home
	r.start()
	n := 0
	read := func(path, want string) {
		t.Helper()
		n++
		fmt.Fprintf(r.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read","arguments":{"path":%q}}}`+"\n", n, path)
		if got := r.next(); !strings.Contains(got, want) {
			t.Errorf("reading %s: %s, want %s", path, got, want)
		}
	}
	read(filepath.Join(home, "open/link/key"), `"code":"no_rule"`)
	read("shut/key", `"code":"no_rule"`)
	read("open/a", `"result":{"content":[]}`) // in our own directory
	read(filepath.Join(home, "open/a"), `"result":{"content":[]}`)
	read("open/a", `at most 2 a day; try again in 24 h. The owner`)
	r.write("policy.toml", rule("# Moved.\n\n"))
	r.recorded(event.Policy, "policy_loaded")
	read("open/a", `{"decision":"deny","stage":"rate","code":"limit"`)
	if err := r.in.Close(); err != nil {
		t.Error(err)
	}
	r.code(patience)
	r.quiet()
}
