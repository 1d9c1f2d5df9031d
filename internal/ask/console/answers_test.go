package console

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
)

// risky is a request that the proxy calls dangerous.
func risky(n int, tool string) queue.Request {
	r := request(n, "shell", tool, `{"command":"make"}`)
	r.Risk = dangerous
	return r
}

func TestDangerousOnesLookDifferentAndNeedASecondKey(t *testing.T) {
	sit(t, 100, 30, Options{}, func(d *desk) {
		q := d.q
		q.put(risky(1, "run"))
		d.see("DANGEROUS  ", "DANGEROUS. clawai asks: let it through?", "careful    ")
		if !d.glass.Styled("31") {
			t.Error("no colour says so")
		}
		for _, key := range []string{"a", "s"} {
			d.answer(key)
			d.see("Really allow")
			d.answer("n")
			d.see("nothing was done", "DANGEROUS. clawai asks")
			d.answer(key)
			d.see("Really allow")
			d.press("y") // typed before it could be read
			d.pass(100e6)
			if q.decides > 0 {
				t.Fatal("one burst was enough")
			}
			d.answer(esc)
			d.see("DANGEROUS. clawai asks")
		}
		d.answer("a")
		d.see("Really allow it once?")
		d.answer("y")
		d.see("allowed once")
		if said(q, 1) != gate.AllowOnce {
			t.Errorf("got %+v", q.get(id(1)))
		}
		q.put(risky(2, "run"))
		d.see("Waiting (1)")
		d.answer("d") // to deny, one key is enough
		d.see(": denied")
	})
}

func TestWithoutColourTheWordStays(t *testing.T) {
	sit(t, 100, 30, Options{}, func(d *desk) {
		d.glass.Colors = true
		d.q.put(risky(1, "run"))
		d.see("DANGEROUS")
	})
}

// While somebody confirms, the request is resolved elsewhere.
func TestAConfirmationClosesWithItsRequest(t *testing.T) {
	sit(t, 100, 30, Options{}, func(d *desk) {
		q := d.q
		q.put(risky(1, "run"))
		q.put(risky(2, "other"))
		d.see(`tool       "run"`)
		d.answer("a")
		d.see("Really allow")
		d.ready()
		q.settle(id(1), queue.Denied, queue.Answer{Channel: "web"}, "")
		d.see("it was denied at")
		d.answer("y")
		d.never("Really allow")
		if q.decides > 0 || q.get(id(2)).Status != queue.Pending {
			t.Error("the key answered something")
		}
	})
}

func TestBulkAnswersEachForItself(t *testing.T) {
	sit(t, 100, 40, Options{}, func(d *desk) {
		q := d.q
		q.put(request(1, "files", "one", `{}`))
		q.put(risky(2, "two"))
		q.put(request(3, "files", "three", `{}`))
		q.put(request(4, "files", "four", `{}`))
		d.see("Waiting (4)")
		d.answer(" ", down, " ", down, " ")
		d.see("[x]", "[ ]", "a allow the marked once")
		for _, key := range []string{"s", "A", "D", "n"} {
			d.answer(key)
			d.see("only a (allow once) and d (deny) answer")
		}
		d.answer("a")
		d.see("Allow these 2, each once?", "1 of 2  wants to call one", "2 of 2  wants to call three", "Left out: 1 dangerous")
		d.ready()
		q.settleUnseen(id(3), queue.Expired) // the console learns it from the answer
		d.press("y")
		d.see(`"one" on "files": allowed once`)
		d.ready()
		if said(q, 1) != gate.AllowOnce || q.get(id(2)).Status != queue.Pending || q.get(id(4)).Status != queue.Pending ||
			q.get(id(3)).Status != queue.Expired {
			t.Errorf("got %v %v %v %v", q.get(id(1)).Status, q.get(id(2)).Status, q.get(id(3)).Status, q.get(id(4)).Status)
		}
	})
}

func TestBulkDeniesDangerousOnesToo(t *testing.T) {
	sit(t, 100, 40, Options{}, func(d *desk) {
		q := d.q
		q.put(risky(1, "one"))
		q.put(risky(2, "two"))
		d.see("Waiting (2)")
		d.answer(" ", down, " ", "a")
		d.see("all that are marked are dangerous")
		d.answer("d")
		d.see("Deny these 2, each once?")
		d.answer("y")
		d.see("Waiting (0)", `"one" on "shell": denied`, `"two" on "shell": denied`)
	})
}

func TestFilter(t *testing.T) {
	sit(t, 100, 30, Options{}, func(d *desk) {
		q := d.q
		q.put(request(1, "files", "write_file", `{"path":"/tmp/a"}`))
		q.put(request(2, "github", "create_issue", `{"title":"broken"}`))
		d.see("Waiting (2)")
		d.answer("/")
		d.press("b", "r", "o", "k", "e")
		d.see("filter: broke_", "Return keep it")
		d.press("\x7f", "e", enter)
		d.see(`1 of 2 hold "broke"`, `tool       "create_issue"`)
		d.never("write_file")
		d.answer("d")
		d.see(`"create_issue" on "github": denied`)
		d.answer(esc)
		d.see("wants to write")
		d.answer("/")
		d.press("zzz", enter)
		d.see("Nothing matches the filter")
		if q.get(id(1)).Status != queue.Pending {
			t.Error("a filter answered")
		}
	})
}

func TestANoteGoesToTheAgent(t *testing.T) {
	sit(t, 100, 30, Options{}, func(d *desk) {
		d.q.put(request(1, "files", "write_file", `{}`))
		d.see("n note")
		d.answer("n")
		d.see("note for the agent:")
		d.press("ask", " ", "first", "\x1b[200~ please\x1b[2J\x1b[201~", enter)
		d.see(`note       "ask first please"`)
		d.answer("d")
		d.see("denied")
		if got := d.q.get(id(1)).Answer.Words; got != "ask first please" {
			t.Errorf("got %q", got)
		}
	})
}

func TestAPasteIsNoAnswer(t *testing.T) {
	sit(t, 100, 30, Options{}, func(d *desk) {
		d.q.put(request(1, "files", "write_file", `{}`))
		d.see("a allow once")
		d.press("\x1b[200~a\x1b[201~")
		d.see("One moment…")
		if d.q.decides > 0 {
			t.Error("answered")
		}
	})
}

func offers() []view.Offer {
	return []view.Offer{
		{Scope: "exact", Title: "this exact call", Allow: "[[rule]]\naction = \"allow\"\ntool = \"write_file\"\nargs.path = \"/p/a\"\n", Deny: "[[rule]]\naction = \"deny\"\n"},
		{Scope: "folder", Title: "this tool in /p", Allow: "[[rule]]\nargs.path = \"/p/**\"\n", Example: "write_file path = \"/p/\u202eother\""},
	}
}

func TestAlwaysShowsTheRuleAndWhatElseItLetsThrough(t *testing.T) {
	sit(t, 100, 40, Options{}, func(d *desk) {
		q := d.q
		r := request(1, "files", "write_file", `{"path":"/p/a"}`) // outside the project
		r.Offers = offers()
		q.put(r)
		d.see("A always…", "D always deny…")
		d.answer("A")
		d.see("> 1  exact   this exact call", `args.path = "/p/a"`, "No other call is known", "write this rule, and allow", "careful    writes outside", "DANGEROUS. clawai asks: write")
		d.answer("2")
		d.see("> 2  folder  this tool in /p", `args.path = "/p/**"`, "let through, for example:", `/p/\u{202e}other`)
		d.press("y") // the rule has just come into sight
		d.pass(50e6)
		if q.decides > 0 {
			t.Fatal("answered before it could be read")
		}
		d.answer("y")
		d.see("allowed always (folder)")
		if a := q.get(id(1)).Answer; a.Reply != gate.AllowAlways || a.Scope != "folder" {
			t.Errorf("got %+v", a)
		}
	})
}

// An answer for the session that can reach further asks how far, the folder first.
func TestSessionAsksHowFar(t *testing.T) {
	for keys, want := range map[string]string{"y": "folder", "2y": "exact", "3y": "tool"} {
		sit(t, 100, 40, Options{}, func(d *desk) {
			q := d.q
			r := request(1, "files", "write_file", `{"path":"/p/a"}`) // outside the project
			r.Offers = []view.Offer{
				{Scope: "folder", Title: `"write_file" in "/p/" and below`, Session: "Edit files below /p"},
				{Scope: "tool", Title: `"write_file" with any arguments`, Session: "Call write_file with any arguments"},
			}
			q.put(r)
			d.see("s for the session…")
			d.never("A always")
			d.answer("s")
			d.see("> 1  Edit files below /p", "  2  This exact call", "  3  Call write_file with any arguments",
				`That is "write_file" in "/p/" and below.`, "allow this until the session ends?", "DANGEROUS. clawai asks", "careful    writes outside", "What a rule denies stays denied")
			for _, key := range keys {
				d.answer(string(key))
			}
			d.see("allowed until the session ends (" + want + ")")
			if a := q.get(id(1)).Answer; a.Reply != gate.AllowSession || a.Scope != want {
				t.Errorf("%s: %+v", keys, a)
			}
		})
	}
}

func TestDenyAlwaysOffersWhatCanBeDenied(t *testing.T) {
	sit(t, 100, 40, Options{}, func(d *desk) {
		r := request(1, "files", "write_file", `{}`)
		r.Offers = offers()
		d.q.put(r)
		none := request(2, "files", "other", `{}`)
		none.NoOffer, none.Lasting = "a value holds *", false
		d.q.put(none)
		d.see("D always deny…")
		d.answer("D")
		d.see("> 1  exact", `action = "deny"`)
		d.never("folder")
		d.answer("y")
		d.see("denied always (exact)", `tool       "other"`, "always     not offered: a value holds *")
		d.never("A always", "s for the session")
		d.answer("A")
		d.see("allow always is not offered: a value holds *")
		d.answer("s")
		d.see("an answer for the session cannot hold")
	})
}

func TestWhatIsDamagedHidesNothingElse(t *testing.T) {
	sit(t, 110, 40, Options{}, func(d *desk) {
		r := request(1, "files", "write_file", `{}`)
		r.Calls, r.Damage = nil, queue.ErrBroken
		d.q.put(r)
		d.q.put(request(2, "files", "write_file", `{"path":"/p/whole"}`))
		d.see(`a call that cannot be shown, of "files": deny it, or it denies by itself`, "/p/whole", "its row in the queue is damaged")
		d.answer("a")
		d.see("it can only be denied")
		d.answer("d")
		d.see(": denied")
	})
}

func TestWhatCannotBeShownCanOnlyBeDenied(t *testing.T) {
	sit(t, 100, 40, Options{}, func(d *desk) {
		r := request(1, "files", "write_file", `{"a":[`+strings.Repeat("0,", 2000)+`0]}`)
		d.q.put(r)
		d.see("It cannot be shown", "DANGEROUS")
		for _, key := range []string{"a", "s", "A"} {
			d.answer(key)
			d.see("it can only be denied")
		}
		d.answer("d")
		d.see(": denied")
	})
}
