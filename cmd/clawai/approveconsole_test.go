//go:build linux || darwin

package main

import (
	"context"
	"strings"
	"testing"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
)

func TestConsoleAnswers(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := t.TempDir()
	a := asks(t, home)
	w := watch(t, home, "approve")
	w.sees("[1 Waiting (0)]", "Nothing waits for an answer.")
	a.attended("console")
	w.types("aadd") // for nobody
	for key, want := range map[string]gate.Reply{"a": gate.AllowOnce, "s": gate.AllowSession, "d": gate.DenyOnce} {
		ticket := a.put(about("tool_"+key, `{"path":"`+home+`/x"}`))
		w.sees("files wants to call tool_"+key, `path = "`+home+`/x"`, "clawai asks: let it through?")
		a.pends(ticket)
		w.answers(key)
		if got := a.gets(ticket, want); got.Channel != "console" || got.By != cmdline.AccountName() {
			t.Errorf("answered by %+v", got)
		}
		if err := ticket.Outcome(context.Background(), "went on"); err != nil {
			t.Fatal(err)
		}
		w.sees(`"tool_`+key+`" on "files", `, ": went on")
	}
	w.quits(0)
	a.attended("")
	if got := strings.TrimSpace(w.screen.Text()); got != "" {
		t.Errorf("left on the screen: %q", got)
	}
}

func TestConsoleTellsWhatVanished(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := t.TempDir()
	a := asks(t, home)
	first, second := a.put(about("first", `{}`)), a.put(about("second", `{}`))
	w := watch(t, home, "approve")
	w.sees(`tool       "first"`)
	w.settles()
	if _, _, err := first.Resolve(context.Background(), queue.Expired, queue.Answer{}, "withdrawn by the client; nothing was executed"); err != nil {
		t.Fatal(err)
	}
	w.sees("This request waits no more", "withdrawn by the client; nothing was executed")
	w.answers("a")
	w.sees("too late: it ended at", `tool       "first"`)
	a.pends(second)
	w.types("\x1b[B")
	w.sees(`tool       "second"`)
	w.answers("d")
	a.gets(second, gate.DenyOnce)
	w.types("\x03")
	w.leaves(130)
}

// Two people see the same question: one answers, the other is told.
func TestTwoConsoles(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := t.TempDir()
	a := asks(t, home)
	one, two := watch(t, home, "approve"), watch(t, home, "approve")
	both := []*watcher{one, two}
	ticket := a.put(about("write_file", `{}`))
	for _, w := range both {
		w.sees(`tool       "write_file"`)
	}
	one.answers("a")
	a.gets(ticket, gate.AllowOnce)
	one.sees("allowed once")
	two.sees("it was allowed once at", "by console")
	for round := range 5 { // and at the same moment
		name := "race_" + string(rune('a'+round))
		ticket = a.put(about(name, `{}`))
		for _, w := range both {
			w.sees("files wants to call " + name)
			w.types("\x1b[B")
			w.sees(`tool       "` + name + `"`)
			w.settles()
		}
		one.types("a")
		two.types("d")
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		got, err := ticket.Wait(ctx)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		winner, loser, word := one, two, "allowed once"
		if got.Reply == gate.DenyOnce {
			winner, loser, word = two, one, "denied"
		}
		winner.sees(`"` + name + `" on "files": ` + word)
		loser.sees("it was " + word + " at")
	}
}

func TestConsoleConfirmsDangerousOnes(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := t.TempDir()
	a := asks(t, home)
	r := about("run", `{"command":"make"}`)
	r.Risk = "dangerous"
	ticket := a.put(r)
	w := watch(t, home, "approve")
	w.sees("DANGEROUS  ", "DANGEROUS. clawai asks: let it through?")
	if !w.screen.Styled("31") {
		t.Error("no colour says so")
	}
	w.answers("ayyyy") // in one go: no y comes later than the grace lasts
	w.sees("Really allow it once?", "One moment")
	a.pends(ticket)
	w.answers("n")
	w.sees("nothing was done")
	w.answers("a")
	w.sees("Really allow it once?", "y  Yes, allow it once")
	w.answers("y")
	a.gets(ticket, gate.AllowOnce)
}

func TestConsoleWithoutColour(t *testing.T) {
	home := t.TempDir()
	a := asks(t, home)
	r := about("run", `{}`)
	r.Risk = "dangerous"
	a.put(r)
	w := watchAs(t, home, []string{"TERM=xterm-256color", "NO_COLOR=1"}, 24, 80, "approve")
	w.sees("DANGEROUS  ")
	w.quits(0)
	if w.screen.Styled("31") {
		t.Error("a colour was used")
	}
}

func TestConsoleAnswersSeveral(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := t.TempDir()
	a := asks(t, home)
	one, two := a.put(about("one", `{}`)), a.put(about("two", `{}`))
	r := about("three", `{}`)
	r.Risk = "dangerous"
	three := a.put(r)
	w := watch(t, home, "approve")
	w.sees("Waiting (3)")
	w.answers(" ")
	w.sees("> [x]")
	w.types("\x1b[B")
	w.sees(`tool       "one"`) // what needs care stands first
	w.answers(" ")
	w.sees("> [x]")
	w.types("\x1b[B")
	w.sees(`tool       "two"`)
	w.answers(" ")
	w.sees("> [x]")
	w.sees("Esc take the marks back")
	w.answers("a")
	w.sees("Allow these 2, each once?", "Left out: 1 dangerous")
	w.answers("y")
	a.gets(one, gate.AllowOnce)
	a.gets(two, gate.AllowOnce)
	a.pends(three)
}

func TestConsoleFiltersAndNotes(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := t.TempDir()
	a := asks(t, home)
	a.put(about("read_file", `{"path":"`+home+`/a"}`))
	ticket := a.put(about("create_issue", `{"title":"It broke"}`))
	w := watch(t, home, "approve")
	w.sees("Waiting (2)", `tool       "read_file"`)
	w.answers("/")
	w.sees("filter: _")
	w.types("broke\r")
	w.sees(`1 of 2 hold "broke"`, `tool       "create_issue"`)
	w.answers("n")
	w.sees("note for the agent: _")
	w.types("Ask Bob first\r")
	w.sees(`note       "Ask Bob first"`)
	w.answers("d")
	if got := a.gets(ticket, gate.DenyOnce); got.Words != "Ask Bob first" {
		t.Errorf("the note is %q", got.Words)
	}
}

func TestConsoleWritesRules(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := t.TempDir()
	a := asks(t, home)
	r := about("write_file", `{}`)
	r.Offers = []view.Offer{
		{Scope: "exact", Title: "this exact call", Allow: "[[rule]]\naction = \"allow\"\nargs.path = \"/p/a\"\n"},
		{Scope: "folder", Title: "this tool in /p", Allow: "[[rule]]\nargs.path = \"/p/**\"\n", Example: "write_file path = \"/p/other\""},
	}
	ticket := a.put(r)
	w := watch(t, home, "approve")
	w.sees("A always…")
	w.answers("A")
	w.sees("> 1  exact", `args.path = "/p/a"`)
	w.answers("2")
	w.sees("> 2  folder", `args.path = "/p/**"`, "for example:", `"/p/other"`)
	w.answers("y")
	if got := a.gets(ticket, gate.AllowAlways); got.Scope != "folder" {
		t.Errorf("got %+v", got)
	}
}

func TestConsoleTabs(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	home := t.TempDir()
	a := asks(t, home)
	ticket := a.put(about("write_file", `{}`))
	if _, _, err := ticket.Resolve(t.Context(), queue.Denied, queue.Answer{Channel: "terminal", By: "ada"}, "denied"); err != nil {
		t.Fatal(err)
	}
	grant := queue.Grant{ID: "11111111/1", Since: about("", "").Deadline, Uses: 2, Calls: about("read_file", `{}`).Calls}
	if err := a.proxy.SetGrants(t.Context(), []queue.Grant{grant}); err != nil {
		t.Fatal(err)
	}
	w := watch(t, home, "approve")
	w.sees("Nothing waits")
	w.chooses("2", "[2 History]")
	w.sees("it was denied at", "by terminal (ada)")
	w.chooses("3", "[3 Answers]")
	w.sees(`"read_file" on "files"`, "used 2 times")
	w.answers("r")
	w.sees("Take this answer back?")
	w.answers("y")
	w.sees("taken back", "No answer holds for a session.")
	if got := <-a.proxy.Revoked(); got != grant.ID {
		t.Errorf("revoked %q", got)
	}
	w.quits(0)
}
