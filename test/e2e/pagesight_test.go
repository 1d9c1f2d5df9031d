//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
)

// TestPageReadsToTheEnd holds, without a mouse and on a phone, that nothing on
// the page can be allowed whose end has not been in sight, and that what hides a
// part of a question, a box that scrolls or a value that is folded, does not.
func TestPageReadsToTheEnd(t *testing.T) {
	d := newDesk(t)
	b := newBrowser(t, 360, 740)
	b.enter(d.link)
	lines := func(n int) string { return strings.Repeat(`line of a text that is long\n`, n) }

	// A dangerous call: its long value stands there whole, and no box of it scrolls.
	w := d.ask(func(r *queue.Request) {
		dangerous(r)
		r.Calls[0].Args = []byte(`{"command":"echo ` + lines(300) + `the very end"}`)
	})
	b.opens(w)
	b.wait("#list", "the very end")
	var boxed []string
	if b.do(&boxed, "boxed", map[string]any{"selector": "#list"}); len(boxed) > 0 {
		t.Errorf("these show only a part: %q", boxed)
	}
	if b.sees("#list .end") {
		t.Error("the end is in sight at once")
	}
	// The answers are in sight before that; a pointer needs no way to them.
	b.do(nil, "run", map[string]any{"script": `document.querySelectorAll('.answers button')[1].focus({ preventScroll: true })`})
	b.calm()
	b.press("Enter")
	b.wait("#list .refused", "read the question to its end first")
	if !b.sees("#list .end") {
		t.Error("the end is not shown to who wants to allow before it")
	}
	w.waiting("before the end")
	b.calm()
	b.press("Enter")
	b.wait("dialog", "Nothing has been answered yet")
	b.press("Escape")
	b.waitGone("dialog", "Nothing has been answered yet")
	w.settle(queue.Expired, queue.Answer{}, "expired")
	b.wait("#list", "Expired at")
	b.wait("#empty", "Nothing waits")

	// A rule that is longer than the dialog: each press shows the next lines.
	w = d.ask(func(r *queue.Request) {
		offers(r)
		for i := range r.Offers {
			r.Offers[i].Allow = "[[rule]]\n" + strings.Repeat("args.x = 1\n", 80) + "# the very end\n"
		}
	})
	b.opens(w)
	b.tabTo("Tab", "Always allow")
	b.calm()
	b.press("Enter")
	b.wait("dialog", "How far should the rule reach?")
	b.wait("dialog", "There is more: read to the end to allow.")
	b.fits("a long rule")
	b.tabTo("Tab", "Write the rule and allow")
	presses := 0
	b.pressAtTheEnd(func() {
		presses++
		w.waiting(fmt.Sprintf("press %d", presses))
	})
	if presses < 2 {
		t.Errorf("the end was in sight after %d presses", presses)
	}
	if a := w.answer("went on; the rule was written"); a.Reply != gate.AllowAlways {
		t.Errorf("always: %+v", a)
	}
	b.wait("#empty", "Nothing waits")

	// Several at once: the one that the list has no room for is left out.
	short, long := d.ask(nil), d.ask(func(r *queue.Request) { r.Calls[0].Args = []byte(`{"text":"` + lines(50) + `"}`) })
	b.wait("#count", "2")
	b.tabTo("Tab", "All that are shown")
	b.press("Space")
	b.tabTo("Tab", "Allow selected once")
	b.calm()
	b.press("Enter")
	b.wait("dialog", "Left out: 1 that this list has no room for")
	b.fits("left out")
	b.tabTo("Tab", "Allow 1 once")
	b.calm()
	b.press("Enter")
	if a := short.answer("went on"); a.Reply != gate.AllowOnce {
		t.Errorf("several: %+v", a)
	}
	long.waiting("left out of several")
	long.settle(queue.Expired, queue.Answer{}, "expired")
	b.wait("#empty", "Nothing waits")
	b.quiet(d.origin)
}

// pressAtTheEnd presses the button of the dialog that lets something through, which
// has the focus, until the end has been in sight, and then once more. early is
// called after each press that came before.
func (b *browser) pressAtTheEnd(early func()) {
	b.t.Helper()
	for n := 0; !b.sees("dialog .end"); n++ {
		if n > 20 {
			b.t.Fatalf("never at its end\n%s", b.screen())
		}
		b.calm()
		b.press("Enter")
		b.wait("dialog", "Nothing was answered: read on to the end first.")
		early()
	}
	b.waitGone("dialog", "There is more")
	b.calm()
	b.press("Enter")
}

// sees says whether an element is in sight: on the screen, and in what scrolls it.
func (b *browser) sees(selector string) (yes bool) {
	b.t.Helper()
	b.do(&yes, "sees", map[string]any{"selector": selector})
	return yes
}
