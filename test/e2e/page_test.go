//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/state/audit"
)

// TestPageByKeyboard answers every kind of question in a real browser, without a
// mouse, at the width of a phone and of a desk.
func TestPageByKeyboard(t *testing.T) {
	t.Parallel()
	for _, size := range sizes {
		t.Run(size.name, func(t *testing.T) {
			d := newDesk(t)
			b := newBrowser(t, size.width, size.height)
			b.do(nil, "open", map[string]any{"url": d.link})
			b.wait("#empty", "Nothing waits")
			b.wait("#state", "Connected")
			if kinds, err := d.q.Answerers(); err != nil || len(kinds) != 1 || kinds[0] != "web" {
				t.Errorf("attended: %v %v", kinds, err)
			}
			b.fits("empty")
			recordByKeyboard(t, d, b)
			answerByKeyboard(t, d, b, size.name)
			b.quiet(d.origin)
		})
	}
}

// recordByKeyboard opens the tab of calls, to which rows come, and goes back.
func recordByKeyboard(t *testing.T, d *desk, b *browser) {
	t.Helper()
	l, err := audit.Open(filepath.Join(d.s.home, ".local/state/clawai/audit"), audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	call := event.Event{
		Kind: event.Decision, Server: "files", Method: "tools/call", Subject: "tool", Names: []string{"list_directory"},
		Args: []byte(`{"path":"/home/ana/projects/garden"}`), Policy: "allow", Decision: "allow", RuleText: "Look, but do not touch",
	}
	if err := l.Record(&call); err != nil {
		t.Fatal(err)
	}
	b.tabTo("Shift+Tab", "Calls")
	b.press("Enter")
	b.wait("#view", "list_directory")
	call.Names, call.Policy, call.Decision, call.RuleText = []string{"read_file\x1b[2J"}, "deny", "deny", "Secrets stay here"
	call.Args = []byte(`{"path":"/home/ana/.ssh/id_ed25519"}`)
	if err := l.Record(&call); err != nil {
		t.Fatal(err)
	}
	b.wait("#view", `read_file\u{1b}[2J`)
	b.fits("the calls")
	b.do(nil, "run", map[string]any{"script": "history.back()"})
	b.wait("#empty", "Nothing waits")
}

func answerByKeyboard(t *testing.T, d *desk, b *browser, size string) {
	// Deny: read the details, then Return on the preset answer.
	w := d.ask(offers)
	b.opens(w)
	b.wait("#list", "Prune the apple tree")
	b.fits("one question")
	if f := b.tabTo("Tab", "files wants to write"); f.Expanded != "true" {
		t.Errorf("the only question is not open: %+v", f)
	}
	b.tabTo("Tab", "Note for the agent")
	b.do(nil, "type", map[string]any{"text": "not in the garden"})
	b.tabTo("Tab", "Deny")
	b.shot(size, "phone", "web-question")
	b.calm()
	b.press("Enter")
	if a := w.answer("denied"); a.Reply != gate.DenyOnce || a.Words != "not in the garden" || a.Channel != "web" {
		t.Errorf("deny: %+v", a)
	}
	b.wait("#said", "Denied at")
	b.wait("#empty", "Nothing waits")

	// Allow once.
	w = d.ask(nil)
	b.opens(w)
	b.wait("#list", "notes.md")
	b.tabTo("Tab", "Allow once")
	b.calm()
	b.press("Space")
	if a := w.answer("went on"); a.Reply != gate.AllowOnce {
		t.Errorf("allow: %+v", a)
	}
	b.wait("#said", "Allowed once at")

	// Always: choose how far, read the rule and its example, confirm.
	w = d.ask(offers)
	b.opens(w)
	b.wait("#list", "Prune the apple tree")
	b.tabTo("Tab", "Always allow")
	b.calm()
	b.press("Enter")
	b.wait("dialog", "How far should the rule reach?")
	b.wait("dialog", "No other call is known")
	b.tabTo("Shift+Tab", "this exact call")
	b.press("ArrowDown")
	b.wait("dialog", "/home/ana/projects/garden/**")
	b.wait("dialog", "other.md")
	b.fits("always")
	b.shot(size, "phone", "web-always")
	w.waiting("the dialog")
	b.tabTo("Tab", "Write the rule and allow")
	b.pressAtTheEnd(func() { w.waiting("before the end") })
	if a := w.answer("went on; the rule was written"); a.Reply != gate.AllowAlways || a.Scope != "folder" {
		t.Errorf("always: %+v", a)
	}
	b.wait("#said", "Always allowed (folder) at")

	// Dangerous: Return on the confirmation goes back; only the second button allows.
	w = d.ask(dangerous)
	b.opens(w)
	b.wait("#list", "Careful")
	b.tabTo("Tab", "Allow once")
	b.shot(size, "desk", "web-dangerous")
	b.calm()
	b.press("Enter")
	b.wait("dialog", "Allow once?")
	b.fits("confirm")
	b.calm()
	b.press("Enter")
	b.waitGone("dialog", "Allow once?")
	w.waiting("gone back")
	b.tabTo("Tab", "Deny")
	b.tabTo("Tab", "Allow once")
	b.calm()
	b.press("Enter")
	b.wait("dialog", "Careful")
	b.press("Tab")
	b.calm()
	b.press("Enter")
	if a := w.answer("went on"); a.Reply != gate.AllowOnce {
		t.Errorf("dangerous: %+v", a)
	}
	b.wait("#said", "Allowed once at")

	// A change, line by line against what is there.
	w = d.ask(func(r *queue.Request) {
		r.Project = d.folder()
		r.Calls = writeCall(`"# Notes\nWater the roses.\n"`)
		r.Calls[0].Args = bytes.ReplaceAll(r.Calls[0].Args, []byte("/home/ana/projects/garden"), []byte(d.folder()))
	})
	b.opens(w)
	b.wait("#list", "Changes")
	b.wait("#list", "┆ + Water the roses.")
	b.fits("a change")
	b.tabTo("Tab", "Session: allow until it ends")
	b.calm()
	b.press("Enter")
	if a := w.answer("went on"); a.Reply != gate.AllowSession {
		t.Errorf("session: %+v", a)
	}
	b.wait("#said", "Allowed for the session at")

	// A question that vanishes while it is read.
	w = d.ask(nil)
	b.opens(w)
	b.wait("#list", "notes.md")
	b.tabTo("Tab", "Allow once")
	w.settle(queue.Expired, queue.Answer{}, "expired")
	b.wait("#list", "Expired at")
	b.wait("#list", "nothing was executed")
	b.wait("#empty", "Nothing waits") // it leaves by itself

	// Several: filter, select, answer each once; the dangerous one stays.
	severalByKeyboard(t, d, b, size)
}

func severalByKeyboard(t *testing.T, d *desk, b *browser, size string) {
	one, two, risky := d.ask(nil), d.ask(offers), d.ask(dangerous)
	three := d.ask(func(r *queue.Request) { r.Calls[0].Args = []byte(`{"path":"/home/ana/projects/garden/plan.md"}`) })
	b.wait("#list", "shell wants to run")
	b.wait("#count", "4") // a question that comes later moves what has the focus
	b.tabTo("Shift+Tab", "Filter")
	b.do(nil, "type", map[string]any{"text": "run_"})
	b.wait("#shown", "3 more are hidden by the filter.")
	b.waitGone("#list", "write_file")
	for range 4 {
		b.press("Backspace")
	}
	b.wait("#list", "write_file")
	b.shot(size, "desk", "web-list")
	b.fits("several")
	b.tabTo("Tab", "All that are shown")
	b.press("Space")
	b.tabTo("Tab", "Allow selected once")
	b.calm()
	b.press("Enter")
	b.wait("dialog", "Left out: 1 dangerous")
	b.wait("dialog", "Left out: 1 that this list has no room for") // the change to a file
	b.fits("bulk")
	b.tabTo("Tab", "Allow 2 once")
	b.calm()
	b.press("Enter")
	if a, c := one.answer("went on"), three.answer("went on"); a.Reply != gate.AllowOnce || c.Reply != gate.AllowOnce {
		t.Errorf("several: %+v %+v", a, c)
	}
	risky.waiting("left out of several")
	two.waiting("left out of several")
	b.wait("#said", "Allowed once: 2 of 2.")
	risky.settle(queue.Expired, queue.Answer{}, "the call was withdrawn")
	two.settle(queue.Expired, queue.Answer{}, "the call was withdrawn")
	b.wait("#empty", "Nothing waits")
	b.fits("the end")
}

// TestPageCanBeRead holds that text stands out from its ground in light and in
// dark (WCAG 2.2, 1.4.3), on a question with everything in it.
func TestPageCanBeRead(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			d := newDesk(t)
			b := newBrowser(t, 1280, 800, scheme)
			b.do(nil, "open", map[string]any{"url": d.link})
			b.opens(d.ask(dangerous))
			b.wait("#list", "Careful")
			w := d.ask(offers)
			b.wait("#count", "2")
			var faint []string
			if b.do(&faint, "faint", nil); len(faint) > 0 {
				t.Errorf("hard to read: %q", faint)
			}
			b.shot(scheme, "dark", "web-dark")
			w.settle(queue.Expired, queue.Answer{}, "expired")
		})
	}
}

// TestPageIgnoresHastyKeys holds that a key pressed before a question could be
// read is no answer.
func TestPageIgnoresHastyKeys(t *testing.T) {
	d := newDesk(t)
	b := newBrowser(t, 1280, 800)
	b.enter(d.link)
	first := d.ask(nil)
	b.opens(first)
	b.tabTo("Tab", "Allow once")
	b.calm()
	// By the page's clock, which goes ahead from here, the list has just moved, however long the press takes.
	b.do(nil, "run", map[string]any{"script": `{ const now = performance.now.bind(performance); performance.now = () => now() + 3_600_000 }`})
	second := d.ask(nil)
	b.wait("#count", "2")
	b.press("Enter")
	b.wait("#said", "too soon")
	first.waiting("too soon")
	second.waiting("too soon")
	b.do(nil, "run", map[string]any{"script": `{ delete performance.now; dispatchEvent(new Event('focus')) }`}) // which counts as a move now
	b.calm()
	b.press("Enter")
	if a := first.answer("went on"); a.Reply != gate.AllowOnce {
		t.Errorf("%+v", a)
	}
	second.settle(queue.Expired, queue.Answer{}, "expired")
}

// TestPageWithAThousandQuestions holds that a flood can be filtered and denied.
func TestPageWithAThousandQuestions(t *testing.T) {
	d := newDesk(t)
	b := newBrowser(t, 1280, 800)
	b.enter(d.link)
	const many = 1000
	all := make([]wants, many)
	begun := time.Now()
	for i := range all {
		all[i] = d.ask(func(r *queue.Request) {
			r.Deadline = time.Now().Add(5 * time.Minute)
			r.Calls[0].Args = fmt.Appendf(nil, `{"path":"/home/ana/%d"}`, i)
		})
	}
	asked := time.Since(begun)
	b.wait("#count", fmt.Sprint(many))
	t.Logf("asked in %v, all in sight %v later", asked, time.Since(begun)-asked)
	b.tabTo("Tab", "All that are shown")
	b.press("Space")
	b.tabTo("Tab", "Deny selected")
	b.calm()
	b.press("Enter")
	b.tabTo("Tab", "Deny 1000")
	b.calm()
	denied := time.Now()
	b.press("Enter")
	for i := range all {
		if a := all[i].answer("denied"); a.Reply != gate.DenyOnce {
			t.Fatalf("%+v", a)
		}
	}
	b.wait("#said", "Denied: 1000 of 1000.")
	t.Logf("denied in %v", time.Since(denied))
	b.wait("#empty", "Nothing waits")
}
