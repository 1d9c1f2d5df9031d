//go:build linux || darwin

package main

import (
	"context"
	"strings"
	"syscall"
	"testing"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
)

func TestSignalsGiveTheTerminalBack(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for _, plain := range []string{"", "1"} {
		for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
			home := t.TempDir()
			a := asks(t, home)
			ticket := a.put(about("write_file", `{}`))
			w := watchAs(t, home, []string{"TERM=xterm", "CLAWAI_ACCESSIBLE=" + plain}, 24, 80, "approve")
			w.sees("files wants to call write_file")
			a.attended("console")
			if err := w.cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			w.leaves(130)
			a.attended("")
			a.pends(ticket)
		}
	}
}

// Nothing can be restored by a process that was killed, but nobody believes
// that it still looks.
func TestAKilledConsoleDoesNotAttend(t *testing.T) {
	home := t.TempDir()
	a := asks(t, home)
	w := watch(t, home, "approve")
	w.sees("Nothing waits")
	a.attended("console")
	if err := w.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-w.ended
	a.attended("")
}

func TestAHangUpEndsTheConsole(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := t.TempDir()
	a := asks(t, home)
	w := watch(t, home, "approve")
	w.sees("Nothing waits")
	_ = w.tty.Close()
	w.blind.Store(true)
	<-w.read
	_ = w.pty.Close() // the terminal goes away
	<-w.ended
	a.attended("")
}

func TestConsoleResizes(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := t.TempDir()
	a := asks(t, home)
	ticket := a.put(about("write_file", `{}`))
	w := watch(t, home, "approve")
	w.sees("clawai asks: let it through?")
	w.resize(8, 30)
	w.sees("too small")
	w.types("ad")
	w.resize(40, 120)
	w.sees("clawai asks: let it through?", "d deny · a allow once · s for the session · n note · space mark · ↑ ↓ move")
	a.pends(ticket)
	w.answers("a")
	a.gets(ticket, gate.AllowOnce)
	w.quits(0)
}

// One question alone, as `clawai approve ID` shows it.
func TestConsoleOfOneRequest(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(a *asker, w *watcher, ticket *queue.Ticket)
		code int
		says string
	}{
		"allowed": {func(_ *asker, w *watcher, _ *queue.Ticket) { w.answers("a") }, 0, `"write_file" on "files": allowed once`},
		"denied":  {func(_ *asker, w *watcher, _ *queue.Ticket) { w.answers("d") }, 0, `"write_file" on "files": denied`},
		"left":    {func(_ *asker, w *watcher, _ *queue.Ticket) { w.answers("q") }, 1, "left without an answer; the call still waits"},
		"answered elsewhere": {func(a *asker, _ *watcher, ticket *queue.Ticket) {
			if _, err := a.q.Decide(context.Background(), ticket.ID(), queue.Answer{Reply: gate.DenyOnce, Channel: "web", By: "bob"}); err != nil {
				a.t.Error(err)
			}
		}, 1, "too late: it was denied at"},
		"expired": {func(a *asker, _ *watcher, ticket *queue.Ticket) {
			if _, _, err := ticket.Resolve(context.Background(), queue.Expired, queue.Answer{}, ""); err != nil {
				a.t.Error(err)
			}
		}, 1, "too late: it expired at"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			a := asks(t, home)
			ticket := a.put(about("write_file", `{}`))
			other := a.put(about("other", `{}`))
			w := watch(t, home, "approve", ticket.ID()[:8])
			w.sees("one request, 0:4", `tool       "write_file"`)
			a.attended("") // who looks at one does not look at all
			w.settles()
			c.do(a, w, ticket)
			w.leaves(c.code)
			w.sees(c.says)
			a.pends(other)
		})
	}
}

func TestOnceOnATerminal(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := t.TempDir()
	a := asks(t, home)
	first, second := a.put(about("first", `{}`)), a.put(about("second", `{}`))
	w := watch(t, home, "approve", "--once")
	w.sees("Waiting (2)", `tool       "first"`)
	w.answers("d")
	w.leaves(0)
	w.sees(`"first" on "files": denied`)
	a.gets(first, gate.DenyOnce)
	a.pends(second)
}

func TestConsoleLineByLine(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for _, env := range []string{"TERM=dumb", "CLAWAI_ACCESSIBLE=1"} {
		home := t.TempDir()
		a := asks(t, home)
		w := watchAs(t, home, []string{"TERM=xterm", env}, 60, 100, "approve")
		w.sees("Nothing waits for an answer.", "q to leave:")
		a.attended("console")
		w.types("allow") // for the next question, which must not take it
		ticket := a.put(about("write_file", `{"path":"x"}`))
		w.sees("1 waiting:", "files wants to")
		prompts := func(n int) func(string) bool {
			return func(s string) bool { return strings.Count(s, "q to leave:") >= n }
		}
		if !w.screen.Wait(10e9, prompts(2)) {
			t.Fatal(w.screen.Text())
		}
		w.types("1\n")
		w.sees(`tool       "write_file"`, "  deny ", "  allow ", "  session ", "  skip ", "Return alone: deny", "\n>")
		w.types("allow\n")
		a.gets(ticket, gate.AllowOnce)
		if err := ticket.Outcome(t.Context(), "went on"); err != nil {
			t.Fatal(err)
		}
		w.sees("allowed once") // on a busy machine its outcome comes later than the command waits
		if !w.screen.Wait(10e9, prompts(3)) {
			t.Fatal(w.screen.Text())
		}
		w.types("q\n")
		w.leaves(0)
	}
}
