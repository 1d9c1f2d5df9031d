package console

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
)

func TestLiveList(t *testing.T) {
	sit(t, 100, 30, Options{View: view.Options{Home: "/home/ada"}}, func(d *desk) {
		q := d.q
		d.see("[1 Waiting (0)]", "Nothing waits for an answer.")
		q.put(request(1, "files", "write_file", `{"path":"/home/ada/work/a.txt"}`))
		d.see("[1 Waiting (1)]", "files wants to write ~/work/a.txt", `path = "/home/ada/work/a.txt"`, "0:4", `folder     "~/work"`, "clawai asks: let it through?")
		q.put(request(2, "github", "create_issue", `{"title":"It broke"}`))
		d.see("[1 Waiting (2)]", `new: "create_issue" on "github"`, `> `+` 0:`)
		q.settle(id(2), queue.Expired, queue.Answer{}, "expired")
		d.see("[1 Waiting (1)]")
		d.never(`title = `)
	})
}

func TestAnswerKeys(t *testing.T) {
	for key, want := range map[string]gate.Reply{"a": gate.AllowOnce, "s": gate.AllowSession, "d": gate.DenyOnce} {
		t.Run(key, func(t *testing.T) {
			sit(t, 80, 24, Options{}, func(d *desk) {
				q := d.q
				q.put(request(1, "files", "write_file", `{}`))
				d.see("a allow once")
				d.press(key)
				d.see(AnswerText(queue.Answer{Reply: want}))
				r := q.get(id(1))
				if r.Answer.Reply != want || r.Answer.Channel != "console" || r.Answer.By != "ada" || r.Status == queue.Pending {
					t.Errorf("got %+v", r)
				}
				q.outcome(id(1), "it went on")
				d.see(`"write_file" on "files", ` + AnswerText(queue.Answer{Reply: want}) + ": it went on")
			})
		})
	}
}

func TestEarlyKeysAreNoAnswer(t *testing.T) {
	sit(t, 80, 24, Options{}, func(d *desk) {
		q := d.q
		d.see("Nothing waits")
		d.ready()
		q.put(request(1, "files", "write_file", `{}`))
		d.see("One moment…")
		for range 10 { // a key that is held down
			d.press("a")
			d.pass(200e6)
		}
		if q.decides > 0 {
			t.Fatal("an early key answered")
		}
		d.answer("a")
		d.see("allowed once")
	})
}

// After an answer the cursor goes on by itself: a second press of the key is
// not meant for the next one.
func TestADoubledKeyAnswersOnce(t *testing.T) {
	sit(t, 80, 24, Options{}, func(d *desk) {
		q := d.q
		q.put(request(1, "files", "first", `{}`))
		q.put(request(2, "files", "second", `{}`))
		d.see(`> `, `"first"`)
		d.answer("a")
		d.press("a", "a")
		d.see(`tool       "second"`)
		if q.get(id(2)).Status != queue.Pending {
			t.Error("the second was answered too")
		}
		d.answer("d")
		d.see(`"second" on "files": denied`)
	})
}

// A line typed for another program begins with what means nothing here.
func TestAStrayLineIsNoAnswer(t *testing.T) {
	sit(t, 80, 24, Options{}, func(d *desk) {
		d.q.put(request(1, "files", "first", `{}`))
		d.see("a allow once")
		d.press("y", "e", "s", enter, "s")
		d.see("One moment…")
		if d.q.decides > 0 {
			t.Error("answered")
		}
	})
}

func TestAThousandWait(t *testing.T) {
	slow.Test(t)
	sit(t, 80, 24, Options{}, func(d *desk) {
		q := d.q
		for n := range 1000 {
			q.put(request(n, "files", fmt.Sprintf("tool_%03d", n), `{"content":"`+strings.Repeat("x", 1000)+`"}`))
		}
		d.see("Waiting (1000)")
		d.answer("/")
		d.press("tool_99", enter)
		d.see(`10 of 1000 hold`)
		for range 12 {
			d.press(down)
		}
		d.see("files wants to call tool_999")
		d.answer(end, "a")
		d.see(`"tool_999" on "files": allowed once`)
		if q.decides != 1 || said(q, 999) != gate.AllowOnce {
			t.Error("another was answered")
		}
	})
}

func TestAnAnswerGoesToWhatWasUnderTheEyes(t *testing.T) {
	sit(t, 80, 30, Options{}, func(d *desk) {
		q := d.q
		for n := range 5 {
			q.put(request(n, "files", "tool"+string(rune('A'+n)), `{}`))
		}
		d.see("Waiting (5)")
		d.press(down, down)
		d.see(`tool       "toolC"`)
		d.ready()
		// Others go and come above and below in the same moment as the key.
		q.settle(id(0), queue.Expired, queue.Answer{}, "")
		q.settle(id(4), queue.Expired, queue.Answer{}, "")
		q.put(request(-1, "files", "toolZ", `{}`))
		d.see("Waiting (4)")
		d.see(`tool       "toolC"`)
		d.press("a")
		d.see(`"toolC" on "files": allowed once`)
		for n := range 5 {
			if n != 2 && q.get(id(n)).Answer.Reply.Allows() {
				t.Errorf("%d was allowed", n)
			}
		}
	})
}

func TestWhatVanishedIsTold(t *testing.T) {
	sit(t, 100, 24, Options{}, func(d *desk) {
		q := d.q
		q.put(request(1, "files", "first", `{}`))
		q.put(request(2, "files", "second", `{}`))
		d.see(`tool       "first"`)
		d.ready()
		q.settle(id(1), queue.Expired, queue.Answer{}, "")
		d.see(`"first" on "files": it expired at`, "This request waits no more")
		d.answer("a")
		d.see("too late: it expired at", "nothing was executed", `tool       "first"`)
		d.press(down)
		d.see(`tool       "second"`)
		d.never("expired  ")
		if q.decides > 0 {
			t.Error("an answer was given")
		}
	})
}

// The answer is on its way while somebody else answers.
func TestTheSecondAnswerIsTold(t *testing.T) {
	sit(t, 100, 24, Options{}, func(d *desk) {
		q := d.q
		q.put(request(1, "files", "first", `{}`))
		d.see(`tool       "first"`)
		d.ready()
		q.mu.Lock()
		r := q.all[id(1)]
		r.Status, r.Answer = queue.Denied, queue.Answer{Reply: gate.DenyOnce, Channel: "web", By: "bob"}
		q.mu.Unlock() // and no tick has come
		d.press("a")
		d.see(`"first" on "files": too late: it was denied at`, "by web (bob)")
	})
}

func TestWhatTheQueueRefusesIsSaid(t *testing.T) {
	sit(t, 100, 24, Options{}, func(d *desk) {
		q := d.q
		q.put(request(1, "files", "first", `{}`))
		d.see(`tool       "first"`)
		q.mu.Lock()
		q.fail = context_("disk is \x1b[2J full")
		q.mu.Unlock()
		d.answer("a")
		d.see(`the answer could not be given: disk is \u{1b}[2J full`, "> ")
	})
}

type context_ string

func (e context_) Error() string { return string(e) }
