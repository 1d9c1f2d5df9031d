//go:build e2e

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestPopupThatCannotBeShown: a client of tmux shows one popup at a time, so the
// question waits for the person's own to go; where nobody looks it waits in the
// queue alone.
func TestPopupThatCannotBeShown(t *testing.T) {
	s := newSite(t, askForWrites)
	inner := newTmux(t, s, "cat")
	inner.do("set-option", "-g", "remain-on-exit", "on")
	person := newTmux(t, s, "env -u TMUX TERM=xterm-256color "+strings.Join(inner.command("attach").Args, " "))
	ask := func() {
		s.write("call.sh", "cd "+here(t)+" && echo the client is here && exec setsid -w node asker.mjs write_file '"+
			`{"path":"`+filepath.Join(s.projects(), "new.md")+`","content":"new"}' -- `+strings.Join(proxied(serverCommand(s, "filesystem")), " ")+" 2>/dev/null\n")
		inner.do("respawn-window", "-k", "sh "+filepath.Join(s.home, "call.sh"))
	}
	queued := func() (list string) {
		eventually(t, "the call in the queue", func() bool {
			list, _ = s.run(clawai, "approve", "--list")
			return strings.Contains(list, "wants to")
		})
		return list
	}

	client := strings.TrimSpace(inner.do("list-clients", "-F", "#{client_name}"))
	inner.do("run-shell", "-b", "tmux display-popup -c "+client+" -E 'echo THEIR OWN; sleep 4'")
	person.wait("THEIR OWN")
	ask()
	queued()
	person.wait("one request", `tool       "write_file"`)
	person.press("d")
	person.gone("one request", "┌──")
	person.wait(`["result"`)

	inner.do("detach-client", "-s", "0")
	ask()
	id, _, _ := strings.Cut(queued(), " ")
	s.must(clawai, "decide", id, "deny")
	eventually(t, "the client's answer", func() bool { return strings.Contains(inner.do("capture-pane", "-p", "-t", "0"), `["result"`) })
	if out := s.must(clawai, "log", "--kind", "answered"); strings.Count(out, "\n") != 2 {
		t.Errorf("recorded\n%s", out)
	}
}
