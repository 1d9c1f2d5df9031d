//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPopupOverTheClient runs a client without a terminal of its own inside tmux,
// with somebody attached to it. The attached screen is itself one of tmux's, which
// shows what a person sees: the popup over the client's own interface.
func TestPopupOverTheClient(t *testing.T) {
	s := newSite(t, askForWrites)
	inner := newTmux(t, s, "cat") // a window to come into being with
	inner.do("set-option", "-g", "remain-on-exit", "on")
	person := newTmux(t, s, "env -u TMUX TERM=xterm-256color "+strings.Join(inner.command("attach").Args, " "))

	file := filepath.Join(s.projects(), "new.md")
	for i, c := range []struct {
		keys   []string
		by     string
		exists bool
	}{
		{[]string{"d"}, "console", false},
		{[]string{"q"}, "decide", false}, // closed without an answer, which comes by another way
		{nil, "decide", false},           // answered elsewhere while the popup is open
		{[]string{"End", "a", "y"}, "console", true},
	} {
		s.write("call.sh", "cd "+here(t)+" && echo the client is here && exec setsid -w node asker.mjs write_file '"+
			`{"path":"`+file+`","content":"new"}' -- `+strings.Join(proxied(serverCommand(s, "filesystem")), " ")+" 2>/dev/null\n")
		inner.do("respawn-window", "-k", "sh "+filepath.Join(s.home, "call.sh"))
		person.wait("┌──", "one request", `tool       "write_file"`, "asks: let")
		person.press(c.keys...)
		if c.by == "decide" {
			if len(c.keys) > 0 {
				person.gone("one request")
			}
			id, _, _ := strings.Cut(s.must(clawai, "approve", "--list"), " ")
			s.must(clawai, "decide", id, "deny")
		}
		person.gone("one request", "┌──")
		person.wait(`["result"`) // the first line scrolls away when the pane dies
		if _, err := os.Stat(file); (err == nil) != c.exists {
			t.Errorf("round %d: %v", i, err)
		}
		if out := s.must(clawai, "log", "--kind", "answered"); strings.Count(out, "\n") != i+1 || !strings.Contains(lastLine(out), c.by) {
			t.Errorf("round %d: recorded\n%s", i, out)
		}
		s.must("sh", "-c", "rm -f "+file)
	}
	s.must(clawai, "log", "verify")
}

func here(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
