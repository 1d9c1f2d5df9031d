package console

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
)

// long is arguments that no screen shows at once.
func long() string {
	var b strings.Builder
	b.WriteString(`{"first":1`)
	for i := range 60 {
		fmt.Fprintf(&b, `,"arg%d":"value"`, i)
	}
	return b.String() + `,"last":"the end"}`
}

// What allows needs the question to have been in sight to its end; until then
// its key reads on. What denies needs nothing.
func TestAllowNeedsTheEnd(t *testing.T) {
	slow.Test(t)
	for _, size := range [][2]int{{80, 24}, {40, 14}, {100, 40}} {
		for _, only := range []string{"", id(1)} { // the list, and one alone
			for _, key := range []string{"a", "s", "A"} {
				sit(t, size[0], size[1], Options{Only: only}, func(d *desk) {
					r := request(1, "files", "read_files", long())
					r.Offers = offers()
					d.q.put(r)
					d.see("read to the end to allow")
					for n := 1; !strings.Contains(d.glass.Text(), "Ask first"); n++ {
						if d.answer(key); n > 80 {
							d.Fatalf("%v: never at its end:\n%s", size, d.glass.Text())
						}
						d.see("read on first: lines")
						d.pass(50e6)
						if d.q.decides > 0 || strings.Contains(d.glass.Text(), "How far") {
							d.Fatalf("%v: %s answered before the end:\n%s", size, key, d.glass.Text())
						}
					}
					d.never("read to the end to allow")
					d.answer(key)
					if key == "A" {
						d.see("How far should the rule reach?")
						return
					}
					d.pass(50e6)
					if d.q.decides != 1 || !said(d.q, 1).Allows() {
						d.Errorf("%v: %s answered nothing at the end:\n%s", size, key, d.glass.Text())
					}
				})
			}
			for _, keys := range [][]string{{"d"}, {end, "a"}} {
				sit(t, size[0], size[1], Options{Only: only}, func(d *desk) {
					d.q.put(request(1, "files", "read_files", long()))
					d.see("read to the end to allow")
					d.answer(keys...)
					d.pass(50e6)
					if want := map[string]gate.Reply{"d": gate.DenyOnce, end: gate.AllowOnce}[keys[0]]; d.q.decides != 1 || said(d.q, 1) != want {
						d.Errorf("%v %q: %v", size, keys, said(d.q, 1))
					}
				})
			}
		}
	}
}

// Of a long value the beginning, the end and the length are enough, unless the
// call needs care.
func TestTheMiddleOfALongValue(t *testing.T) {
	args := `{"command":"` + strings.Repeat("all work and no play makes jack a dull boy ", 80) + `"}`
	sit(t, 80, 30, Options{}, func(d *desk) {
		d.q.put(request(1, "files", "annotate", args))
		d.see("End show the rest")
		d.answer("a")
		d.see("allowed once")
	})
	sit(t, 80, 30, Options{}, func(d *desk) {
		r := risky(1, "run")
		r.Calls[0].Args = []byte(args)
		d.q.put(r)
		d.see("read to the end to allow")
		d.answer("a")
		d.see("read on first: lines")
		d.never("Really allow")
		d.answer(end, "a")
		d.see("Really allow it once?")
	})
}

// Who comes back to a request may find another change to its file.
func TestAnotherRequestIsReadAnew(t *testing.T) {
	sit(t, 80, 24, Options{}, func(d *desk) {
		d.q.put(request(1, "files", "read_files", long()))
		d.q.put(request(2, "files", "read_files", long()))
		d.see("Waiting (2)")
		d.answer(end, down, "a")
		d.see("read on first: lines")
		d.answer(up, "a")
		d.pass(50e6)
		if d.q.decides > 0 {
			d.Error("what was read of one request counted for another")
		}
	})
}

// A rule that is too long for the screen is read before it is written.
func TestARuleIsReadToItsEnd(t *testing.T) {
	sit(t, 80, 24, Options{}, func(d *desk) {
		r := request(1, "files", "read_file", `{}`)
		rule := "[[rule]]\n" + strings.Repeat("args.x = 1\n", 30) + "# the end\n"
		r.Offers = []view.Offer{
			{Scope: "exact", Title: "this exact call", Allow: rule, Deny: rule},
			{Scope: "tool", Title: "all of it", Allow: rule, Deny: rule},
		}
		d.q.put(r)
		d.see("A always…")
		d.answer("A", end, "2", "y")
		d.see("read on first: lines")
		if d.q.decides > 0 {
			d.Fatal("what was read of one rule counted for another")
		}
		d.answer(end, "y")
		d.see("allowed always (tool)")
	})
	sit(t, 80, 24, Options{}, func(d *desk) {
		r := request(1, "files", "read_file", `{}`)
		r.Offers = []view.Offer{{Scope: "exact", Deny: "[[rule]]\n" + strings.Repeat("args.x = 1\n", 30)}}
		d.q.put(r)
		d.see("D always deny…")
		d.answer("D", "y")
		d.see("denied always")
	})
}

// Several that are allowed together are shown in full, to the last of them.
func TestSeveralAreReadToTheirEnd(t *testing.T) {
	slow.Test(t)
	sit(t, 80, 24, Options{}, func(d *desk) {
		d.q.put(request(1, "files", "read_files", long()))
		d.q.put(request(2, "files", "annotate", `{"text":"`+strings.Repeat("x", 3000)+`y"}`))
		d.see("Waiting (2)")
		d.answer(" ", down, " ", "a")
		d.see("Allow these 2, each once?", "1 of 2  wants", "read to the end to allow")
		d.answer("y")
		d.see("read on first: lines", "Allow these 2, each once?")
		if d.q.decides > 0 {
			d.Fatal("answered before the end")
		}
		d.answer(end)
		d.see("xy")
		d.answer("y")
		d.see("Waiting (0)")
		if !said(d.q, 1).Allows() || !said(d.q, 2).Allows() {
			d.Error("not allowed")
		}
	})
	sit(t, 80, 24, Options{}, func(d *desk) {
		for n := range 40 {
			d.q.put(request(n, "files", "read_files", long()))
		}
		d.see("Waiting (40)")
		for range 40 {
			d.answer(" ", down)
		}
		d.answer("a")
		d.see("together they are too long to be read")
		d.answer("d")
		d.see("Deny these 40")
		d.answer("y")
		d.see("Waiting (0)")
	})
}

func TestAllowNeedsTheEndLineByLine(t *testing.T) {
	dictate(t, Options{}, func(r *reading) {
		r.q.put(request(1, "files", "read_files", long()))
		r.hears("1 waiting:")
		r.says("1")
		r.hears("more lines are not shown yet")
		r.says("allow")
		r.hears("Nothing was answered: read to the end first", `last = "the end"`)
		if r.q.decides > 0 {
			r.Fatal("answered before the end")
		}
		r.says("allow")
		time.Sleep(100 * time.Millisecond)
		r.q.outcome(id(1), "it went on")
		r.hears("allowed once: it went on")
	})
	dictate(t, Options{}, func(r *reading) {
		r.q.put(request(1, "files", "read_files", long()))
		r.hears("1 waiting:")
		r.says("1")
		r.says("deny")
		time.Sleep(100 * time.Millisecond)
		r.q.outcome(id(1), "it ended")
		r.hears("denied: it ended")
	})
}

// The help is a page like any other, answers nothing, and is left by any key.
func TestHelp(t *testing.T) {
	for _, only := range []string{"", id(1)} {
		sit(t, 80, 24, Options{Only: only}, func(d *desk) {
			d.q.put(request(1, "files", "read_file", `{}`))
			d.see("? help")
			d.answer("?")
			d.see("What the keys do", "allow this call, once", "> Go back")
			d.never("read to the end to allow")
			if strings.Contains(d.glass.Text(), "mark requests") != (only == "") {
				d.Error(d.glass.Text())
			}
			d.answer("a")
			d.see("clawai asks: let it through?")
			d.never("What the keys do", "nothing was done")
			if d.q.decides > 0 {
				d.Error("a key in the help answered")
			}
			d.answer("?")
			d.see("What the keys do")
			d.answer(enter)
			d.see("clawai asks: let it through?")
		})
	}
}

// The page holds the keys that the help has.
func TestThePageHasTheKeys(t *testing.T) {
	page, err := os.ReadFile("../../../docs/approvals.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range help {
		for _, key := range strings.Fields(row.keys) {
			if !strings.Contains(string(page), "`"+key+"`") {
				t.Errorf("docs/approvals.md does not tell of %s", key)
			}
		}
	}
}
