//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/testing/termtest"
)

// settleIn writes a policy into a home, as init does.
func settleIn(t *testing.T, home string) {
	t.Helper()
	dir := filepath.Join(home, ".config", "clawai")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "policy.toml"), []byte(allowTools), 0o600); err != nil {
		t.Fatal(err)
	}
}

// clawai alone shows the calls of the record as they go by, and a question that comes.
func TestRenderedOverview(t *testing.T) {
	sizes(t, func(t *testing.T, rows, cols int) {
		at, home := fmt.Sprintf("%dx%d", cols, rows), aDay(t)
		settleIn(t, home)
		w := watchAs(t, home, append([]string{"TZ=UTC"}, colorful...), rows, cols)
		w.sees("[4 Calls]", "> 00:00:50", "list_directory")
		w.settles()
		session := regexp.MustCompile(`session    \S+`)
		picture := func() string {
			shown := recordID.ReplaceAllString(strings.ReplaceAll(w.screen.Text(), home, "/home/user"), "k3f9x2m7qa-$1")
			return session.ReplaceAllString(shown, "session    k3f9x2m7qa")
		}
		termtest.Golden(t, "screens/overview-"+at+".txt", picture())
		if !w.screen.Styled("31") || !w.screen.Styled("32") {
			t.Error("allowed and refused are not told apart by colour")
		}
		w.types("/")
		w.types("run_command\r")
		w.sees("> 00:00:46", "No removing", "clawai log explain ")
		w.settles()
		termtest.Golden(t, "screens/overview-call-"+at+".txt", picture())
		w.types("\x1b")

		l, err := audit.Open(filepath.Join(home, ".local", "state", "clawai", "audit"), audit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Record(call("tool_of_now", `{}`, "deny")); err != nil {
			t.Fatal(err)
		}
		w.sees("tool_of_now")
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		asks(t, home).put(about("write_file", `{"path":"`+work+`/a.go"}`))
		w.sees("1 Waiting (1)", "new: ")
		w.types("1")
		w.sees("clawai asks: let it through?")
		time.Sleep(400 * time.Millisecond)
		w.types("q")
		w.leaves(0)
	})
}

// Without a policy, or a full screen, clawai alone says what to do.
func TestOverviewElsewhere(t *testing.T) {
	home := t.TempDir()
	w := watchAs(t, home, colorful, 40, 100)
	w.sees("start: find your servers, write a policy for them")
	w.leaves(0)
	settleIn(t, home)
	w = watchAs(t, home, []string{"TERM=dumb"}, 40, 100)
	w.sees("This terminal shows no full screen. Use:", "clawai approve, clawai log --follow, clawai status.")
	w.leaves(0)
	if err := os.WriteFile(filepath.Join(home, ".config", "clawai", "policy.toml"), []byte("[[rule"), 0o600); err != nil {
		t.Fatal(err)
	}
	w = watchAs(t, home, colorful, 24, 80)
	w.sees("the policy cannot be used (clawai doctor): ")
	w.types("q")
	w.leaves(0)
	if code, out, _ := clawai(t); code != 0 || !strings.Contains(out, "COMMANDS:") {
		t.Errorf("without a terminal: %d %s", code, out)
	}
}
