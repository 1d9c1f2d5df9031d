package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
)

// opened is what a test saw written.
type opened struct{ wrote []int }

func (o *opened) offer(context.Context) (*Opening, error) {
	return &Opening{
		About: []string{"record r-1: deny"}, Offers: []view.Offer{{Scope: "exact", Title: "this very call"}, {Scope: "folder", Title: "all of /srv"}},
		Preview: func(at int) ([]string, error) {
			return slices.Concat([]string{fmt.Sprintf("It opens %d", at)}, slices.Repeat([]string{"a line of the rule"}, 30), []string{"It stays refused"}), nil
		},
		Write: func(_ context.Context, at int) (string, error) {
			if o.wrote = append(o.wrote, at); at == 0 {
				return "", errors.New("nothing was written: the policy file has changed meanwhile")
			}
			return "written", nil
		},
	}, nil
}

// A call of the record is opened as "always" opens one: by a choice of scope, after all of the preview
// was in sight, and by y alone.
func TestOpenACall(t *testing.T) {
	var o opened
	sit(t, 80, 24, Options{CallsPage: callsPage, Calls: func(ctx context.Context, send func(Row), _ func(string)) error {
		refused := recorded(1, "deny", "read_file")
		refused.Open = o.offer
		shut := recorded(2, "deny", "delete_file")
		shut.Open = func(context.Context) (*Opening, error) { return nil, errors.New("a rule that denies is never undone") }
		send(refused)
		send(shut)
		send(recorded(3, "dropped", "nothing"))
		open := recorded(4, "allow", "list")
		open.Look = view.Allowed
		send(open)
		<-ctx.Done()
		return ctx.Err()
	}}, func(d *desk) {
		d.see("[1 Waiting (0)]")
		d.press("4")
		d.see("> 12:00:04")
		d.answer("o")
		d.see("list: it is open, it was allowed")
		d.answer(down, "o")
		d.see("nothing: no rule can open this")
		d.answer(down, "o")
		d.see("delete_file: a rule that denies is never undone")
		d.answer(down, "o")
		d.see("How far should the rule reach?", "> 1  exact", "record r-1: deny")
		d.answer("y")
		if len(o.wrote) > 0 {
			t.Fatal("written before the end was in sight")
		}
		d.answer("2")
		d.see("> 2  folder")
		d.press(end)
		d.see("It stays refused")
		d.answer("y")
		d.see("read_file: written")
		d.answer("o")
		d.see("How far should")
		d.answer(esc)
		d.see("nothing was done")
		d.answer("o")
		d.see("How far should")
		d.press(end)
		d.answer("y")
		d.see("nothing was written: the policy file has changed")
		if fmt.Sprint(o.wrote) != "[1 0]" {
			t.Errorf("written: %v", o.wrote)
		}
	})
}

// Return explains a call, with its neighbours of the same session, and answers nothing.
func TestExplainACall(t *testing.T) {
	sit(t, 80, 40, Options{CallsPage: callsPage, Calls: func(ctx context.Context, send func(Row), notice func(string)) error {
		for n := range 4 {
			row := recorded(n, "allow", fmt.Sprintf("tool_%d", n))
			row.Session = "s"
			if n == 1 {
				row.Session = "another"
			}
			row.Explain = func(context.Context) (why, rules []string, err error) {
				if n == 3 {
					return nil, nil, errors.New("the policy does not load")
				}
				return []string{"then: allow"}, []string{"rule 7 took the reading /p"}, nil
			}
			send(row)
		}
		notice("the folder of the record was replaced")
		<-ctx.Done()
		return ctx.Err()
	}}, func(d *desk) {
		d.press("4")
		d.see("> 12:00:03", "the folder of the record was replaced")
		d.answer(enter)
		d.see("tool_3: the policy does not load")
		d.answer(down, enter)
		d.see("Why it was decided so", "then: allow", "Around it, in the same session", "> 12:00:02", "  12:00:00  allow", "rule 7 took the reading")
		d.answer(esc)
		d.see("Return why")
		d.never("Why it was decided so")
	})
}

// The pages behind the calls are loaded when they are shown, again while they are, and say what is
// wrong; the first page says what the sessions may no longer do.
func TestFurtherPages(t *testing.T) {
	var loads atomic.Int32 // as fault and none, it is shared with the loader's goroutine
	var fault, none, broken atomic.Bool
	rows := []Row{{ID: "a", Word: "untrusted", Look: view.Asked, Closed: "agent must ask to write", Search: "agent", Line: func(int) string { return "agent  untrusted" }, Facts: func(int) []string { return []string{"agent", "seen      fetch"} }}}
	pages := []Page{
		{Name: "Sessions", Decision: "Sessions.", Empty: "nothing", Early: true, Load: func(context.Context) ([]Row, error) {
			if none.Load() {
				return nil, nil
			}
			return rows, nil
		}},
		{Name: "Servers", Decision: "Servers.", Empty: "no server", Load: func(context.Context) ([]Row, error) {
			loads.Add(1)
			if fault.Load() {
				return nil, errors.New("no such folder")
			}
			return nil, nil
		}},
	}
	var w writing
	policy := func() string {
		if broken.Load() {
			return "no server starts: policy.toml:1:1: " + strings.Repeat("a long reason ", 8)
		}
		return ""
	}
	sit(t, 80, 24, Options{Calls: w.follow, CallsPage: callsPage, Pages: pages, CallsFirst: true, Fault: policy}, func(d *desk) {
		d.see("[4 Calls]", "Waits now     nothing", "Refused last  nothing of the last calls", "Now forbidden agent must ask to write")
		broken.Store(true)
		d.pass(2 * reloadEvery)
		d.see("Policy fault  no server starts: policy.toml:1:1: a long reason", "Now forbidden not known: the policy does not load")
		broken.Store(false)
		d.pass(2 * reloadEvery)
		d.see("Now forbidden agent must ask to write")
		w.calls <- recorded(1, "deny", "delete_file")
		d.see("Refused last  12:00:01  deny  delete_file")
		d.q.put(request(1, "files", "write_file", `{"path":"/p/a"}`))
		d.see("Waits now     press 1: ", "left)")
		if loads.Load() > 0 {
			t.Error("a page is loaded that nobody looks at")
		}
		d.press("6")
		d.see("[6 Servers]", "no server")
		fault.Store(true)
		d.pass(2 * reloadEvery)
		d.see("It cannot be read: no such folder")
		if loads.Load() < 2 {
			t.Error("it was not loaded again")
		}
		d.press("5")
		d.see("[5 Sessions]", "> agent  untrusted", "seen      fetch")
		d.answer("o", enter, "a", "y")
		d.press("?")
		d.see("What the keys do on this page")
		d.never("allow this call", "open a call that was")
		d.answer(esc)
		none.Store(true)
		d.pass(2 * reloadEvery)
		d.press("4")
		d.see("Now forbidden nothing")
		time.Sleep(time.Second)
	})
}
