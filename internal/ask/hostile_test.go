//go:build linux || darwin

package ask

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/testing/viewtest"
	"github.com/clawai/clawai/internal/text/term"
)

// The corpus that every channel shows: what the screen holds is what would
// be executed, and nothing on it hides, moves or imitates.
func TestHostileCalls(t *testing.T) {
	slow.Test(t)
	cases := viewtest.Cases()
	if len(cases) < 100 {
		t.Fatalf("only %d", len(cases))
	}
	for _, c := range cases {
		for _, env := range []string{"TERM=xterm", "TERM=dumb"} {
			t.Run(c.Name+" "+env, func(t *testing.T) {
				t.Parallel()
				o := writeCall(`{}`)
				o.Options.Grace = 1
				o.Question.Calls, o.Question.Server = c.Calls, c.Calls[0].Server
				s := start(t, o, room(t, o), 100, env)
				if env == "TERM=dumb" {
					viewtest.Check(t, c, s.readPlain())
					s.press("deny\n")
				} else {
					s.see("> Deny", "Return answer")
					facts, _, _ := strings.Cut(s.screen.Text(), "\n────") // our own rows stand below
					viewtest.Check(t, c, facts)
					s.press(enter)
				}
				if out := s.end(); out.Reply != gate.DenyOnce || out.Err != "" {
					t.Errorf("got %+v", out)
				}
			})
		}
	}
}

// room is as many rows as the question takes in either form, and no more: to paint
// a large screen takes its time.
func room(t *testing.T, o order) int {
	t.Helper()
	v, err := view.NewQuestion(o.Question.Calls, o.Options.View)
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := v.Rows(100)
	return 60 + 2*len(rows)
}

// readPlain reads a plain question to its end, or ten times as far as it shows at
// once, and leaves out the rows that are ours.
func (s *session) readPlain() string {
	s.t.Helper()
	for n := 1; ; n++ {
		if !s.screen.Wait(patience, func(shown string) bool {
			return strings.Count(shown, "\n>") == n && strings.HasSuffix(strings.TrimSpace(shown), "\n>")
		}) {
			s.t.Fatalf("no prompt:\n%s", s.screen.Text())
		}
		text := s.screen.Text()
		if n <= 10 && n == strings.Count(text, "are not shown yet") {
			s.press("more\n")
			continue
		}
		var facts []string
		for line := range strings.Lines(text) {
			if !strings.HasSuffix(line, "Type one word and press Return:\n") {
				facts = append(facts, line)
			}
		}
		return strings.Join(facts, "")
	}
}

// Every other text of the question comes from strangers too, but for the rule.
func TestHostileNames(t *testing.T) {
	slow.Test(t)
	evil := "x\x1b[2J\r\n\u202e\x9b]52;c;eA==\a"
	o := writeCall(`{"` + `k\u001b[2J\u202e` + `":1,"` + strings.Repeat("long", 200) + `":2,"a.b":{"":3}}`)
	c := &o.Question.Calls[0]
	c.Server, c.Method, c.Names = evil, evil, []string{evil}
	o.Question.Rule.Description, o.Question.Rule.Pos.File = evil, evil
	for _, env := range []string{"TERM=xterm", "TERM=dumb"} {
		s := start(t, o, 60, 120, env)
		v := term.VisibleValue(evil)
		if env == "TERM=dumb" {
			s.prompt()
		}
		s.see("server     "+v, "method     "+v, "tool       "+v, "rule       "+term.VisibleLine(evil)+":7 "+v,
			`"k\u{1b}[2J\u{202e}" = 1`, `"a.b"."" = 3`, "characters, SHA-256")
		if env == "TERM=dumb" {
			s.press("deny\n")
		} else {
			s.answer(enter)
		}
		if out := s.end(); out.Reply != gate.DenyOnce || out.Err != "" {
			t.Errorf("got %+v", out)
		}
	}
}

func TestPathsAreAlsoShownClean(t *testing.T) {
	slow.Test(t)
	s := start(t, writeCall(`{"a":"/home/user/../../etc/passwd","b":"/plain/","c":"x/../y","d":"./a//b"}`), 24, 80)
	s.see(`a = "/home/user/../../etc/passwd" → "/etc/passwd"`, `b = "/plain/"`+"\n", `c = "x/../y"`+"\n", `d = "./a//b" → "a/b"`)
	s.answer(esc)
	s.end()
}
