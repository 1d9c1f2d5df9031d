//go:build linux || darwin

package ask

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"charm.land/lipgloss/v2"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
)

func TestAnswers(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for _, c := range []struct {
		name, keys string
		want       gate.Reply
	}{
		{"return takes the preset", enter, gate.DenyOnce},
		{"allow once", down + enter, gate.AllowOnce},
		{"this session", down + down + enter, gate.AllowSession},
		{"up goes round to the last", up + enter, gate.AllowSession},
		{"escape", down + esc, gate.DenyOnce},
		{"ctrl-c", down + "\x03", gate.DenyOnce},
		{"ctrl-d", down + "\x04", gate.DenyOnce},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, writeCall(`{"path":"/p/a.txt","content":"hi"}`), 24, 80)
			s.see(`server     "files"`, "method     tools/call", `tool       "write_file"`,
				`rule       policy.toml:7 "Ask before writes"`, "arguments  2",
				`  path = "/p/a.txt"`, `  content = "hi"`, "clawai asks: let it through?", "> Deny", "Allow once")
			s.answer(c.keys)
			out := s.end()
			if out.Reply != c.want || out.Err != "" || out.Channel != "terminal" || out.Digest != [32]byte{1, 2, 3} {
				t.Errorf("got %+v, want %v", out, c.want)
			}
		})
	}
}

// What was typed for another program is no answer.
func TestStrayInput(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for name, stray := range map[string]string{
		"a letter": "j", "a line": "go on then", "a paste": "\x1b[200~\x1b[B\r\x1b[201~", "a slash": "/", "tab": "\t",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := writeCall(`{}`)
			o.Options.Grace = time.Second // one burst, however slow the machine
			s := start(t, o, 24, 80)
			s.answer(down)
			s.see("> Allow once")
			s.press(stray)
			s.see("> Deny", "One moment")
			s.answer(enter)
			if out := s.end(); out.Reply != gate.DenyOnce || out.Err != "" {
				t.Errorf("got %+v", out)
			}
		})
	}
}

func TestTypeAheadIsNoAnswer(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for _, ahead := range []string{"y\r", down + enter, "allow\n", enter} {
		s := open(t, 24, 80)
		s.press(ahead) // waits in the terminal before anybody reads it
		s.run(writeCall(`{}`))
		s.answer(down)
		s.see("> Allow once")
		s.press(enter)
		if out := s.end(); out.Reply != gate.AllowOnce {
			t.Errorf("%q: got %+v", ahead, out)
		}
	}
}

func TestKeysBeforeTheQuestionCanBeReadAreNoAnswer(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	o := writeCall(`{}`)
	o.Options.Grace = 2 * time.Second
	s := start(t, o, 24, 80)
	s.see("> Deny", "One moment")
	s.press(down + enter)
	s.answer(enter) // still asked, and still at Deny
	if out := s.end(); out.Reply != gate.DenyOnce || out.Err != "" {
		t.Errorf("got %+v", out)
	}
}

func TestNoAnswerDenies(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	o := writeCall(`{}`)
	o.Timeout = 3 * time.Second
	s := start(t, o, 24, 80)
	s.answer(down)
	s.see("> Allow once")
	out := s.end()
	if out.Reply != gate.DenyOnce || !strings.Contains(out.Err, "nobody answered in time") {
		t.Errorf("got %+v", out)
	}
}

func TestHangUpDenies(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		o := writeCall(`{}`)
		o.Options.Plain = plain
		s := start(t, o, 24, 80)
		s.see("clawai asks: let it through?")
		s.hangUp()
		all := s.outcomes()
		if len(all) != 1 || all[0].Reply != gate.DenyOnce || all[0].Err == "" {
			t.Errorf("plain %v: got %+v", plain, all)
		}
	}
}

func TestSignalDenies(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for _, plain := range []bool{false, true} {
		o := writeCall(`{}`)
		o.Options.Plain = plain
		s := start(t, o, 24, 80)
		s.see("clawai asks: let it through?")
		if err := s.cmd.Process.Signal(sigterm); err != nil {
			t.Fatal(err)
		}
		if out := s.end(); out.Reply != gate.DenyOnce || out.Err == "" {
			t.Errorf("plain %v: got %+v", plain, out)
		}
	}
}

func TestResize(t *testing.T) {
	t.Parallel()
	s := start(t, writeCall(`{"path":"/p/`+strings.Repeat("x", 100)+`"}`), 24, 80)
	s.answer(down)
	s.see("> Allow once")
	for _, size := range [][2]int{{40, 120}, {14, 50}, {24, 80}} {
		s.resize(size[0], size[1])
		s.see("path = ", "clawai asks: let it through?", "> Allow once", "Return answer")
	}
	s.press(enter)
	if out := s.end(); out.Reply != gate.AllowOnce {
		t.Errorf("got %+v", out)
	}
}

// A window that a person drags gets many sizes and often ends at its first one.
func TestDraggedWindow(t *testing.T) {
	t.Parallel()
	s := start(t, writeCall(`{"path":"/p/`+strings.Repeat("x", 100)+`"}`), 24, 80)
	s.answer(down)
	s.see("> Allow once")
	for range 20 {
		s.resize(14, 50)
		s.resize(24, 80)
		s.see("path = ", "> Allow once", "Return answer")
	}
	s.press(enter)
	if out := s.end(); out.Reply != gate.AllowOnce {
		t.Errorf("got %+v", out)
	}
}

func TestTinyWindowDenies(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for _, size := range [][2]int{{5, 20}, {24, 20}, {6, 80}} {
		s := start(t, writeCall(`{}`), size[0], size[1])
		if out := s.end(); out.Reply != gate.DenyOnce || !strings.Contains(out.Err, "too small") {
			t.Errorf("%v: got %+v", size, out)
		}
	}
	s := start(t, writeCall(`{}`), 24, 80)
	s.answer(down)
	s.see("> Allow once")
	s.resize(5, 20)
	if out := s.end(); out.Reply != gate.DenyOnce || !strings.Contains(out.Err, "too small") {
		t.Errorf("made small: got %+v", out)
	}
}

// However much there is to show, the choices stay in sight and the rest can be
// seen.
func TestManyArguments(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 60 {
		b.WriteString(`,"arg` + strings.Repeat("i", i) + `":"value"`)
	}
	s := start(t, writeCall(`{"first":1`+b.String()+`,"last":"the end"}`), 24, 80)
	s.see("first = 1", "arguments  62", "read to the end to allow: lines", "clawai asks: let it through?", "> Deny", "Allow once")
	s.answer("\x1b[6~")
	s.see("argiiiiiiiiiiiii = ", "> Deny")
	s.press("\x1b[F")
	s.see(`last = "the end"`, "clawai asks: let it through?", "> Deny")
	s.press(down + enter)
	if out := s.end(); out.Reply != gate.AllowOnce {
		t.Errorf("got %+v", out)
	}
}

// What allows needs the arguments to have been in sight to the last; the first
// Return reads on instead. What denies needs nothing.
func TestAllowNeedsTheEnd(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	long := `{"first":1`
	for i := range 40 {
		long += `,"arg` + strings.Repeat("i", i) + `":"value"`
	}
	long += `,"last":"the end"}`
	t.Run("allow reads on", func(t *testing.T) {
		s := start(t, writeCall(long), 24, 80)
		s.answer(down)
		s.see("> Allow once", "first = 1", "read to the end to allow: lines")
		for _, shows := range []string{"argiiiiiiiiiiiiiiiiiiii = ", `last = "the end"`} {
			s.answer(enter)
			s.see("── read on first: lines", shows, "> Allow once")
		}
		s.answer(enter)
		if out := s.end(); out.Reply != gate.AllowOnce {
			t.Errorf("got %+v", out)
		}
	})
	t.Run("so does the session", func(t *testing.T) {
		s := start(t, writeCall(long), 24, 80)
		s.answer(down + down)
		s.see("> Allow this until the session ends")
		s.answer(enter)
		s.see("── read on first: lines")
		s.answer(esc)
		if out := s.end(); out.Reply != gate.DenyOnce {
			t.Errorf("got %+v", out)
		}
	})
	t.Run("deny does not", func(t *testing.T) {
		s := start(t, writeCall(long), 24, 80)
		s.answer(enter)
		if out := s.end(); out.Reply != gate.DenyOnce || out.Err != "" {
			t.Errorf("got %+v", out)
		}
	})
	t.Run("plain", func(t *testing.T) {
		s := start(t, writeCall(long), 60, 80, "TERM=dumb")
		s.prompt("more lines are not shown yet")
		s.press("allow\n")
		s.prompt("Nothing was answered: read to the end first.", `last = "the end"`)
		s.press("allow\n")
		if out := s.end(); out.Reply != gate.AllowOnce {
			t.Errorf("got %+v", out)
		}
	})
	t.Run("plain deny", func(t *testing.T) {
		s := start(t, writeCall(long), 60, 80, "TERM=dumb")
		s.prompt("more lines are not shown yet")
		s.press("deny\n")
		if out := s.end(); out.Reply != gate.DenyOnce || out.Err != "" {
			t.Errorf("got %+v", out)
		}
	})
}

// Of a long value the beginning, the end and the length are enough, unless the
// call needs care: then what stands in its middle may be why.
func TestTheMiddleOfALongValue(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	text := strings.Repeat("all work and no play makes jack a dull boy ", 60)
	t.Run("routine", func(t *testing.T) {
		o := writeCall(`{"path":"/p/a.txt","content":"` + text + `"}`)
		o.Options.View.Project = "/p"
		s := start(t, o, 30, 80)
		s.see("> Deny", "End show the rest", "let it through?")
		s.answer(down + enter)
		if out := s.end(); out.Reply != gate.AllowOnce {
			t.Errorf("got %+v", out)
		}
	})
	t.Run("dangerous", func(t *testing.T) {
		o := writeCall(`{"command":"` + text + `"}`)
		o.Question.Calls[0].Names = []string{"run_command"}
		s := start(t, o, 30, 80)
		s.see("DANGEROUS. clawai asks: let it through?")
		s.answer(down + enter)
		s.see("── read on first: lines")
		s.answer("\x1b[F" + enter)
		s.see("Really allow it once?", "> No, go back", "careful ")
		s.answer(enter)
		s.see("DANGEROUS. clawai asks")
		s.answer(enter)
		if out := s.end(); out.Reply != gate.DenyOnce {
			t.Errorf("got %+v", out)
		}
	})
}

func TestTooManyArgumentsDeny(t *testing.T) {
	t.Parallel()
	s := start(t, writeCall(`{"a":[`+strings.Repeat("0,", 1000)+`0]}`), 24, 80)
	if out := s.end(); out.Reply != gate.DenyOnce || !strings.Contains(out.Err, "more than can be shown") {
		t.Errorf("got %+v", out)
	}
}

func TestSeveralCallsAreOneQuestion(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	o := writeCall(`{}`)
	o.Question.Session = false
	o.Question.Calls = []policy.Call{
		{Method: "sampling/createMessage", Subject: policy.SamplingSubject, Names: []string{"be kind", "what is 2+2?"}},
		{Method: "elicitation/create", Subject: policy.ElicitationSubject, Names: []string{"Your name?"}},
	}
	s := start(t, o, 24, 80)
	s.see("request 1 of 2", `text       "be kind"`, `text       "what is 2+2?"`, "server     not named",
		"careful    ", "request 2 of 2", `asks       "Your name?"`, "DANGEROUS. clawai asks: let all 2 through?", "> Deny")
	if strings.Contains(s.screen.Text(), "session") {
		t.Error("an answer for the session is offered where it cannot hold")
	}
	s.answer(down + enter)
	s.see("Really allow it once?", "Yes, allow it once")
	s.answer(down + enter)
	if out := s.end(); out.Reply != gate.AllowOnce {
		t.Errorf("got %+v", out)
	}
}

// A label that wraps would push another choice out of sight.
func TestLabelsFitTheSmallestWindow(t *testing.T) {
	t.Parallel()
	q := writeCall(`{}`).Question
	offers := []view.Offer{{Scope: "exact", Deny: "x"}, {Scope: "folder", Deny: "x"}, {Scope: "tool", Deny: "x"}}
	pages := []dialog.Page{refusalPage(view.ErrTooMany, nil)}
	for _, r := range []gate.Reply{gate.AllowAlways, gate.DenyAlways} {
		pages = append(pages, scopePage(offers, r, nil), confirmationPage("", offers[0], r, nil))
	}
	v := view.Question{Dangers: []string{"It writes outside the folder of the work."}}
	for _, p := range append(pages, questionPage(q, view.Question{}, offers, ""), questionPage(q, v, offers, ""), dialog.DangerPage("", v.Dangers, dialog.SureSession)) {
		for _, c := range p.Choices {
			if n := lipgloss.Width(c.Label); n > dialog.MinWidth-6 {
				t.Errorf("%q is %d wide", c.Label, n)
			}
		}
		if n := lipgloss.Width(p.Decision); n > dialog.MinWidth {
			t.Errorf("%q is %d wide", p.Decision, n)
		}
		if w := p.Choices[0].Word; w != dialog.Deny && w != dialog.No {
			t.Errorf("the preset is %q", p.Choices[0].Word)
		}
	}
}

// What draws the screen cuts a row that it takes for wider than the window, so no
// character may be wider to it than it counts where rows are made.
func TestNoCharacterIsWiderThanItCounts(t *testing.T) {
	t.Parallel()
	for r := ' '; r <= unicode.MaxRune; r++ {
		s := string(r)
		if term.VisibleLine(s) == s && lipgloss.Width(s) > view.Cells(r) {
			t.Errorf("%U takes %d cells and counts %d", r, lipgloss.Width(s), view.Cells(r))
		}
	}
}

// A value of characters whose width has changed is shown to its end.
func TestWideNumeralsHideNothing(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	o := writeCall(`{"path":"/tmp/x","content":"` + strings.Repeat("\U0001d360", 50) + `;decisive"}`)
	s := start(t, o, 40, 80)
	s.see(";decisive", "Esc deny")
	s.press(esc)
}
