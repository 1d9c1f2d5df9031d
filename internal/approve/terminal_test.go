//go:build linux || darwin

package approve

import (
	"testing"

	"github.com/clawai/clawai/internal/gate"
)

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		want       gate.Reply
	}{
		{"return takes the preset", enter, gate.DenyOnce},
		{"allow once", down + enter, gate.AllowOnce},
		{"this session", down + down + enter, gate.AllowSession},
		{"escape", down + esc, gate.DenyOnce},
		{"ctrl-c", down + "\x03", gate.DenyOnce},
		{"ctrl-d", down + "\x04", gate.DenyOnce},
		{"a stray letter takes the choice back", down + "x", gate.DenyOnce},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, writeCall(`{"path":"/p/a.txt","content":"hi"}`), 24, 80)
			s.see(`"files"`, "tools/call", `"write_file"`, `policy.toml:7 "Ask before writes"`,
				`path = "/p/a.txt"`, `content = "hi"`, "Let this through?", "> Deny", "Allow once")
			s.keys(c.keys)
			if c.keys == down+"x" {
				s.see("> Deny")
				s.keys(enter)
			}
			out := s.end()
			if out.Reply != c.want || out.Err != "" || out.Rung != "terminal" || out.Digest != [32]byte{1, 2, 3} {
				t.Errorf("got %+v, want %v", out, c.want)
			}
		})
	}
}
