//go:build linux || darwin

package ask

import (
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
)

func TestPlainAnswers(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for typed, want := range map[string]gate.Reply{
		"allow\n": gate.AllowOnce, "session\n": gate.AllowSession, "deny\n": gate.DenyOnce,
		"\n": gate.DenyOnce, "y\n": gate.DenyOnce, "yes\n": gate.DenyOnce, "ALLOW\n": gate.DenyOnce,
		" allow\n": gate.DenyOnce, "allow \n": gate.DenyOnce, "always\n": gate.DenyOnce, "more\n": gate.DenyOnce,
	} {
		for _, env := range []string{"TERM=dumb", "CLAWAI_ACCESSIBLE=1", "TERM="} {
			s := start(t, writeCall(`{"path":"/p/a","n":1.50,"b":[true,null]}`), 24, 80, env)
			s.see(`"files"`, `path = "/p/a"`, "n = 1.50", "b[0] = true", "b[1] = null", "clawai asks: let it through?", "deny", "session")
			s.prompt()
			s.press(typed)
			if out := s.end(); out.Reply != want || out.Err != "" {
				t.Errorf("%s %q: got %+v, want %v", env, typed, out, want)
			}
			if env == "CLAWAI_ACCESSIBLE=1" || typed != "allow\n" {
				break
			}
		}
	}
}

func TestPlainEndOfFileDenies(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{"\x04", "allow\x04\x04"} {
		s := start(t, writeCall(`{}`), 24, 80, "TERM=dumb")
		s.prompt()
		s.press(typed)
		if out := s.end(); out.Reply != gate.DenyOnce || !strings.Contains(out.Err, "hung up") {
			t.Errorf("%q: got %+v", typed, out)
		}
	}
}

func TestPlainTimeout(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	o := writeCall(`{}`)
	o.Timeout = 3 * time.Second
	s := start(t, o, 24, 80, "TERM=dumb")
	s.prompt()
	s.press("allow") // not finished with Return
	if out := s.end(); out.Reply != gate.DenyOnce || !strings.Contains(out.Err, "in time") {
		t.Errorf("got %+v", out)
	}
}

func TestPlainTypeAheadIsNoAnswer(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	o := writeCall(`{}`)
	o.Options.Grace = time.Second
	s := open(t, 24, 80)
	s.press("allow\n")
	s.run(o, "TERM=dumb")
	s.see("clawai asks: let it through?")
	s.press("session\n")
	s.prompt()
	s.press("no\n")
	if out := s.end(); out.Reply != gate.DenyOnce || out.Err != "" {
		t.Errorf("got %+v", out)
	}
}

func TestPlainMore(t *testing.T) {
	t.Parallel()
	args := `{"list":[` + strings.Repeat("0,", 80) + `"the end"]}`
	s := start(t, writeCall(args), 60, 80, "TERM=dumb")
	for _, rest := range []string{"48", "8"} {
		s.prompt("\n" + rest + ` more lines are not shown yet; type "more"`)
		s.press("more\n")
	}
	s.prompt(`list[80] = "the end"`)
	s.press("allow\n")
	if out := s.end(); out.Reply != gate.AllowOnce {
		t.Errorf("got %+v", out)
	}
}
