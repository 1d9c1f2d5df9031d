package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

// TestNestedAgents: a client's calls are left to its hook, also those of the same client that it starts, unless that
// one's hooks are turned off. A program that it starts has the address of its model, but not its hook: that one's calls are judged.
func TestNestedAgents(t *testing.T) {
	slow.Test(t)
	dir := initialised(t, built("clawai-hook"))
	other := filepath.Join(dir, "bin/agent")
	text, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, text, 0o700); err != nil {
		t.Fatal(err)
	}
	p := &paritySite{dir: dir, state: filepath.Join(dir, "state"), work: dir + "/work", programs: dir + "/bin"}
	d := openModel(t, p, "uncovered")
	key := `{"file_path":"` + dir + `/.ssh/id_ed25519"}`
	n, judged := 0, 0
	for _, c := range []struct {
		through string
		covered bool
	}{{"", true}, {other, false}, {os.Args[0], true}, {os.Args[0] + " --bare", false}, {"", true}, {other, false}} {
		n++
		d.through = c.through
		if went := d.callTool(t, n, "Read", key); went != c.covered {
			t.Errorf("asked for over %q: it went: %v", c.through, went)
		}
		if !c.covered {
			judged++
		}
	}
	d.end(t)
	rows := p.decisions(t)
	if all := strings.Join(rows, "\n"); len(rows) != judged || strings.Count(all, "decision:deny") != judged {
		t.Errorf("on record are\n%s", all)
	}
}
