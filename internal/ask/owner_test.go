//go:build linux || darwin

package ask

import (
	"strings"
	"syscall"
	"testing"

	xterm "golang.org/x/term"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
)

const sigterm = syscall.SIGTERM

// Where the terminal is not ours, nobody is asked, nothing is drawn, its mode
// stays, and the answer says what would help.
func TestTerminalOfOthers(t *testing.T) {
	t.Parallel()
	for client, want := range map[string]string{
		"background": "another program is in front on the terminal",
		"detached":   "there is no terminal",
		"interface":  "another program's interface owns the terminal",
	} {
		t.Run(client, func(t *testing.T) {
			o := writeCall(`{}`)
			o.Client = client
			s := start(t, o, 24, 80)
			all := s.outcomes()
			if len(all) != 1 || all[0].Reply != gate.DenyOnce || all[0].Note != want ||
				!strings.Contains(all[0].Err, "to allow such a call, add a rule") {
				t.Errorf("got %+v", all)
			}
			if shown := strings.TrimSpace(s.screen.Text()); shown != "" {
				t.Errorf("drawn: %q", shown)
			}
			now, err := xterm.GetState(int(s.tty.Fd()))
			if err != nil || (*now == *s.before) == (client == "interface") {
				t.Errorf("the mode of a terminal that is not ours was changed (%v)", err)
			}
		})
	}
}

// Two proxies on one terminal ask one after the other.
func TestTwoProcessesAskInTurn(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for _, plain := range []bool{false, true} {
		o := writeCall(`{}`)
		o.Client, o.Options.Plain = "pair", plain
		s := start(t, o, 24, 80)
		ask := func() {
			if plain {
				s.prompt()
				s.press("allow\n")
				return
			}
			s.answer(down)
			s.see("> Allow once")
			s.press(enter)
		}
		ask()
		// The second form comes up at Deny, so it is not the first one still.
		if plain {
			s.prompt("\n> allow\n")
		} else {
			s.see("> Deny")
		}
		ask()
		all := s.outcomes()
		if len(all) != 2 || all[0].Reply != gate.AllowOnce || all[1].Reply != gate.AllowOnce {
			t.Errorf("plain %v: got %+v", plain, all)
		}
	}
}
