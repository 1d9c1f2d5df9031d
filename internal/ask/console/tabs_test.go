package console

import (
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

func TestHistory(t *testing.T) {
	sit(t, 100, 30, Options{}, func(d *desk) {
		q := d.q
		q.put(request(1, "files", "write_file", `{"path":"/p/a"}`))
		q.settle(id(1), queue.Approved, queue.Answer{Reply: gate.AllowOnce, Channel: "web", By: "bob"}, "went on")
		q.put(request(2, "files", "rm", `{}`))
		q.settle(id(2), queue.Expired, queue.Answer{}, "withdrawn by the client; nothing was executed")
		d.see("Nothing waits")
		d.press("2")
		d.see("[2 History]", "approved", "expired", "What was asked, and what became of it.")
		d.ready()
		all := d.glass.Text()
		d.press(down)
		d.ready()
		all += d.glass.Text()
		d.press(up)
		d.ready()
		all += d.glass.Text()
		for _, want := range []string{"it was allowed once at", "by web (bob); went on", "withdrawn by the client; nothing was executed"} {
			if !strings.Contains(all, want) {
				t.Errorf("not seen: %s\n%s", want, all)
			}
		}
		d.answer("a", "d", "s")
		if q.decides > 0 {
			t.Error("something was answered in the history")
		}
		d.press("\t", "\t")
		d.see("[1 Waiting (0)]")
	})
}

func TestSessionAnswersAreTakenBack(t *testing.T) {
	sit(t, 100, 30, Options{}, func(d *desk) {
		q := d.q
		for _, name := range []string{"one", "two"} {
			q.grants = append(q.grants, queue.Grant{ID: "g-" + name, Server: "files", Session: "s1", Uses: 3, Calls: []policy.Call{{
				Server: "files", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{name}, Args: []byte(`{"path":"/p"}`),
			}}})
		}
		d.see("Nothing waits")
		d.press("3")
		d.see("[3 Answers]", `> g-one  "one" on "files"`, `path = "/p"`, "used 3 times", "r take back")
		d.answer(down, "r")
		d.see("Take this answer back?", `tool       "two"`)
		d.answer("x")
		d.answer("r")
		d.see("Take this answer back?")
		d.answer("y")
		d.see(`"two" on "files": taken back`, "> g-one")
		if !slices.Equal(q.revoked, []string{"g-two"}) {
			t.Errorf("revoked %q", q.revoked)
		}
	})
}
