//go:build unix

package flow

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/gate"
)

// full has writes to a file fail, as on a disk without room.
func full(t *testing.T, f **os.File) {
	t.Helper()
	other, err := os.Open((*f).Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	*f = other
}

// What cannot be written is not let through: neither a label nor that a text came.
func TestFullDisk(t *testing.T) {
	web, _, _ := house(t, t.TempDir())
	full(t, &web.session.journals[0].f)
	if err := web.Add([]gate.Label{{Kind: secret, Source: "new"}}, nil); err == nil {
		t.Error("a label that could not be written is kept")
	}
	web, _, mail := house(t, t.TempDir())
	full(t, &web.session.journals[0].marks.f)
	if err := web.Add([]gate.Label{{Kind: untrusted, Source: "web read"}}, []byte(`"x"`)); err == nil {
		t.Error("a text that could not be announced is kept")
	}
	if err := HearUser(filepath.Dir(web.session.dir), []string{"session:1"}, "to bob@example.org"); err != nil {
		t.Fatal(err)
	}
	m := web.session.journals[0].marks
	m.open[1] = true // announced, and never marked
	if err := web.session.recallMarks(&web.session.known); err != nil || !web.session.known.doubt {
		t.Error("nothing is in doubt", err)
	}
	if got := weighed(mail, tool("send", `{"to":"carl@c.example"}`)); !strings.HasPrefix(got, "prompt") {
		t.Error(got)
	}
}

// Journals and marks of another user are not read: who comes is told nothing, and lets
// nothing go.
func TestForeignFiles(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	for _, name := range []string{fileOf("session:1"), fileOf("session:1") + marksEnd} {
		state := t.TempDir()
		house(t, state)
		if err := HearUser(state, []string{"session:1"}, "to bob@example.org"); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(filepath.Join(dirOf(state), name), 12345, 12345); err != nil {
			t.Fatal(err)
		}
		comes := New(state, []string{"session:1"})
		defer comes.Close()
		if got := weighed(comes.NewServer("mail", "", noRow, parsed(t, ruleText)), tool("send", `{"to":"bob@example.org"}`)); !strings.HasPrefix(got, "deny") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
