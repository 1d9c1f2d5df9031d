package console

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/testing/viewtest"
)

func TestResize(t *testing.T) {
	sit(t, 80, 24, Options{}, func(d *desk) {
		d.q.put(request(1, "files", "write_file", `{"path":"/p/`+strings.Repeat("x", 100)+`"}`))
		for _, size := range [][2]int{{120, 40}, {50, 14}, {80, 24}, {dialog.MinWidth, minHeight}, {200, 60}} {
			d.resize(size[0], size[1])
			d.see("let it through?", "d deny", "files wants")
		}
		d.answer("d")
		d.see(": denied")
	})
}

func TestTooSmallAWindowSaysSoAndAnswersNothing(t *testing.T) {
	for _, size := range [][2]int{{20, 24}, {80, 8}, {10, 3}, {1, 1}} {
		sit(t, size[0], size[1], Options{}, func(d *desk) {
			d.q.put(request(1, "files", "write_file", `{}`))
			d.ready()
			if size[0] > 8 {
				d.see("clawai:")
			}
			d.press("a", "a", "y", enter)
			d.ready()
			if d.q.decides > 0 {
				t.Errorf("%v: answered unseen", size)
			}
			d.resize(80, 24)
			d.see("a allow once")
			d.answer("a")
			d.see("allowed once")
		})
	}
}

// However long a value is, its end can be reached.
func TestTheTailIsAlwaysReached(t *testing.T) {
	slow.Test(t)
	sit(t, 80, 24, Options{}, func(d *desk) {
		var lines strings.Builder
		for n := range 40000 {
			fmt.Fprintf(&lines, `line %d\n`, n)
		}
		d.q.put(request(1, "files", "write_file", `{"content":"`+lines.String()+`THE VERY TAIL","last":1}`))
		d.see("PgDn", "w without gaps")
		d.press(end)
		d.ready()
		d.see("THE VERY TAIL")
		d.press("w")
		d.ready()
		d.press(end)
		d.ready()
		d.see("THE VERY TAIL")
		rows := d.glass.Text()
		var n, m, of int
		i := strings.Index(rows, "── lines ")
		if _, err := fmt.Sscanf(rows[i:], "── lines %d-%d of %d;", &n, &m, &of); err != nil || m != of || of < 40000 {
			t.Errorf("rows %d-%d of %d (%v)", n, m, of, err)
		}
	})
}

func TestOneRequest(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(d *desk)
		want func(r Result) bool
	}{
		"answered here":      {func(d *desk) { d.answer("a") }, func(r Result) bool { return r.Answered && r.Request.Answer.Reply == gate.AllowOnce }},
		"left":               {func(d *desk) { d.answer("q") }, func(r Result) bool { return !r.Answered && r.Request.ID == "" }},
		"left with Esc":      {func(d *desk) { d.answer(esc) }, func(r Result) bool { return !r.Answered && r.Request.ID == "" }},
		"answered elsewhere": {func(d *desk) { d.q.settle(id(1), queue.Denied, queue.Answer{Channel: "web"}, "") }, func(r Result) bool { return !r.Answered && r.Request.Status == queue.Denied }},
		"expired":            {func(d *desk) { d.q.settle(id(1), queue.Expired, queue.Answer{}, "") }, func(r Result) bool { return !r.Answered && r.Request.Status == queue.Expired }},
	} {
		t.Run(name, func(t *testing.T) {
			sit(t, 80, 24, Options{Only: id(1)}, func(d *desk) {
				d.q.put(request(1, "files", "write_file", `{}`))
				d.q.put(request(2, "files", "other", `{}`))
				d.see("one request, 0:4", `tool       "write_file"`)
				d.never("other", "2 History", "space mark")
				c.do(d)
				<-d.ended
				if d.err != nil || !c.want(d.result) {
					t.Errorf("got %+v, %v", d.result, d.err)
				}
				if d.q.get(id(2)).Status != queue.Pending {
					t.Error("the other was answered")
				}
			})
		})
	}
}

func TestOnceLeavesAfterOneAnswer(t *testing.T) {
	sit(t, 80, 24, Options{Once: true}, func(d *desk) {
		d.q.put(request(1, "files", "one", `{}`))
		d.q.put(request(2, "files", "two", `{}`))
		d.see("Waiting (2)")
		d.answer("d")
		<-d.ended
		if d.err != nil || !d.result.Answered || d.result.Request.ID != id(1) || d.q.get(id(2)).Status != queue.Pending {
			t.Errorf("got %+v, %v", d.result, d.err)
		}
	})
}

func TestLeaving(t *testing.T) {
	cause := errors.New("terminated")
	for name, c := range map[string]struct {
		do   func(d *desk)
		want error
	}{
		"q":      {func(d *desk) { d.press("q") }, nil},
		"Ctrl-C": {func(d *desk) { d.press("\x03") }, ErrInterrupted},
		"signal": {func(d *desk) { d.stop(cause) }, cause},
	} {
		t.Run(name, func(t *testing.T) {
			sit(t, 80, 24, Options{}, func(d *desk) {
				d.see("Nothing waits")
				c.do(d)
				<-d.ended
				if !errors.Is(d.err, c.want) {
					t.Errorf("got %v, want %v", d.err, c.want)
				}
			})
		})
	}
}

// panicking is a queue whose code fails.
type panicking struct{ *memory }

func (panicking) Pending(context.Context) ([]queue.Request, error) { panic("\x1b[2Jboom") }

func TestAPanicGivesTheTerminalBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{T: t, q: newMemory()}
		g := newGlass(80, 24)
		_, err := Run(t.Context(), g, Options{Queue: panicking{d.q}})
		if err == nil || !strings.Contains(err.Error(), `the console failed: "\x1b[2Jboom"`) || !g.cooked {
			t.Errorf("got %v, cooked %v", err, g.cooked)
		}
		if err := g.Complaint(); err != nil {
			t.Error(err)
		}
	})
}

func TestAPanicOfTheScreenIsAnError(t *testing.T) {
	m := newModel(Options{}, func(dialog.Task) {})
	if _, cmd := m.Update(decidedMsg{}); cmd == nil || m.err == nil { // Now is nil
		t.Errorf("got %v", m.err)
	}
}

// The countdown goes on by itself, and the queue is looked at again when
// nothing announced a change.
func TestTimeGoesOn(t *testing.T) {
	sit(t, 80, 24, Options{Every: 10 * time.Second}, func(d *desk) {
		d.q.put(request(1, "files", "one", `{}`))
		d.see(" 0:4")
		d.pass(5 * time.Second)
		d.see(" 0:39")
		d.q.mu.Lock()
		d.q.all[id(1)].Status = queue.Expired // without a word
		d.q.mu.Unlock()
		d.pass(11 * time.Second)
		d.see("it expired at")
	})
}

// Every hostile call of the corpus: in the list, in the details, and whole.
func TestHostileCalls(t *testing.T) {
	slow.Test(t)
	for _, c := range viewtest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			sit(t, 120, 60, Options{Only: id(1)}, func(d *desk) {
				r := request(1, c.Calls[0].Server, "", "")
				r.Calls = c.Calls
				d.q.put(r)
				d.see("through?")
				viewtest.Check(t, c, d.read())
				d.answer("d")
				<-d.ended
			})
			sit(t, 100, 24, Options{}, func(d *desk) {
				for n := range 3 {
					r := request(n, c.Calls[0].Server, "", "")
					r.Calls = c.Calls
					r.Client, r.Project, r.Reason, r.NoOffer = hostile, hostile, hostile, hostile
					d.q.put(r)
				}
				d.see("Waiting (3)")
				viewtest.CheckHarmless(t, c, above(d.glass.Text()))
				d.press(end)
				d.pass(50e6)
				viewtest.CheckHarmless(t, c, above(d.glass.Text()))
				d.q.settle(id(0), queue.Denied, queue.Answer{Channel: hostile, By: hostile, Scope: hostile, Words: hostile}, hostile)
				d.see("This request waits no more")
				d.press("2")
				d.see("[2 History]")
				viewtest.CheckHarmless(t, c, above(d.glass.Text()))
			})
		})
	}
}

// read is the details, scrolled through to their end.
func (d *desk) read() string {
	d.Helper()
	var rows []string
	for range 1000 {
		d.pass(50 * time.Millisecond)
		shown := strings.Split(above(d.glass.Text()), "\n")
		details, last := shown[1:len(shown)-1], shown[len(shown)-1]
		from, to, all := 1, len(details), len(details)
		if strings.HasPrefix(last, "── ") {
			_, at, _ := strings.Cut(last, "lines ")
			if _, err := fmt.Sscanf(at, "%d-%d of %d;", &from, &to, &all); err != nil {
				d.Fatal(err, last)
			}
		}
		if from > len(rows)+1 {
			d.Fatalf("rows %d to %d were skipped", len(rows)+1, from-1)
		}
		rows = append(rows[:from-1], details[:to-from+1]...)
		if to == all {
			return strings.Join(rows, "\n")
		}
		d.press(pgdown)
	}
	d.Fatal("no end")
	return ""
}

// above is the screen without our own question and keys.
func above(screen string) string { return screen[:strings.LastIndex(screen, "────")] }

const hostile = "x\x1b[2J\r\n\u202e\u009b]52;c;eA==\a\x1b]8;;http://evil\x1b\\<b>"
