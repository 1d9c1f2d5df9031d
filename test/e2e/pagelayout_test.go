//go:build e2e

package e2e

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
)

// box is where an element is on the screen.
type box struct {
	Name                     string
	Left, Top, Right, Bottom float64
	Cut, Met                 bool
}

// farther is a question that can be answered in every way.
func farther(r *queue.Request) {
	offers(r)
	r.Offers[0].Deny = r.Offers[0].Allow
	r.Offers[1].Title, r.Offers[1].Session = `"write_file" on "files" with path in "/home/ana/projects/garden/" and below`, "Edit files below ~/projects/garden"
	r.Offers = append(r.Offers, view.Offer{Scope: "tool", Title: `"write_file" on "files" with any arguments`, Session: "Call write_file with any arguments"})
}

// TestPageKeepsTheAnswersInSight holds that all answers to an open question stand in
// one row on the screen, however long it is and wherever it is scrolled to, and that
// what would change comes first, below a title with the path.
func TestPageKeepsTheAnswersInSight(t *testing.T) {
	t.Parallel()
	for _, size := range sizes {
		t.Run(size.name, func(t *testing.T) {
			d := newDesk(t)
			b := newBrowser(t, size.width, size.height)
			b.enter(d.link)
			w := d.ask(func(r *queue.Request) {
				farther(r)
				r.Project = d.folder()
				r.Calls = writeCall(`"# Notes\n` + strings.Repeat(`Water the roses.\n`, 200) + `"`)
				r.Calls[0].Args = []byte(strings.ReplaceAll(string(r.Calls[0].Args), "/home/ana/projects/garden", d.folder()))
			})
			b.opens(w)
			b.wait("#list", "Changes")
			b.shot(size.name, size.name, "web-row-"+size.name)
			for _, to := range []float64{0, 0.3, 0.6, 0.9, 1} {
				b.do(nil, "scroll", map[string]any{"to": to})
				if to == 1 { // on a phone the record comes below
					b.do(nil, "run", map[string]any{"script": `document.querySelector('#list .end').scrollIntoView()`})
				}
				var all []box
				b.do(&all, "boxes", map[string]any{"selector": ".answers button"})
				if len(all) != 5 {
					t.Fatalf("%d answers: %+v", len(all), all)
				}
				for i, one := range all {
					if one.Left < 0 || one.Top < 0 || one.Right > float64(size.width) || one.Bottom > float64(size.height) || !one.Met || one.Cut {
						t.Errorf("scrolled to %v: %+v is not in sight", to, one)
					}
					if one.Top != all[0].Top || i > 0 && one.Left < all[i-1].Right {
						t.Errorf("scrolled to %v: %+v is not in the row of %+v", to, one, all[0])
					}
				}
			}
			text := b.text("#list")
			path, first, facts := strings.Index(text, "notes.md"), strings.Index(text, "Changes"), strings.Index(text, "test-client 1.0")
			if path < 0 || path > first || first > facts || strings.Index(text, "2 arguments") < first {
				t.Errorf("the path at %d, the change at %d, the facts at %d:\n%s", path, first, facts, text)
			}
			b.fits("a long change")
			w.settle(queue.Expired, queue.Answer{}, "expired")
			b.quiet(d.origin)
		})
	}
}

// TestPageAllowsForTheSession holds that the folder is preset, that its bound is said,
// and that nothing but the pressed answer goes out.
func TestPageAllowsForTheSession(t *testing.T) {
	t.Parallel()
	for _, size := range sizes {
		t.Run(size.name, func(t *testing.T) {
			d := newDesk(t)
			b := newBrowser(t, size.width, size.height)
			b.enter(d.link)
			for _, scope := range []string{"folder", "exact"} {
				w := d.ask(farther)
				b.opens(w)
				b.tabTo("Tab", "Session:")
				b.calm()
				b.press("Enter")
				b.wait("dialog", "Allow until the session ends?")
				b.wait("dialog", "That is \"write_file\" on \"files\" with path in \"/home/ana/projects/garden/\" and below.")
				b.fits("the session")
				b.shot(size.name, "phone", "web-session")
				w.waiting("the dialog")
				if scope == "exact" {
					b.tabTo("Shift+Tab", "Edit files below ~/projects/garden")
					b.press("ArrowDown")
					b.wait("dialog", "That is this exact call again")
				}
				b.tabTo("Tab", "Allow")
				b.calm()
				b.press("Enter")
				if a := w.answer("went on to the server"); a.Reply != gate.AllowSession || a.Scope != scope {
					t.Errorf("%+v", a)
				}
				b.wait("#said", "Allowed for the session ("+scope+") at")
			}
			b.quiet(d.origin)
		})
	}
}

// TestPageSaysHowEachEnds holds that each end is one sentence, on the card and below
// "Answered" with the path, and that the card leaves by itself.
func TestPageSaysHowEachEnds(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := newBrowser(t, 1280, 800)
	b.enter(d.link)
	// The time that an ending stays passes when the test has read it.
	b.do(nil, "run", map[string]any{"script": `{ window.later = setTimeout; window.passed = []; window.setTimeout = (f, ms) => ms === 6000 ? passed.push(f) : later(f, ms) }`})
	for _, end := range []struct {
		status  queue.Status
		answer  queue.Answer
		outcome string
		want    []string
	}{
		{queue.Approved, queue.Answer{Reply: gate.AllowOnce, Channel: "terminal", By: "ana"}, "went on to the server", []string{"Allowed once at ", " in the terminal, by ana; it went on to the server."}},
		{queue.Denied, queue.Answer{Channel: "console", By: "ana"}, "nothing was executed", []string{"Denied at ", " in the console, by ana; nothing was executed."}},
		{queue.Expired, queue.Answer{}, "expired at 12:00:00; nothing was executed", []string{"Expired at ", "; nothing was executed."}},
		{queue.Expired, queue.Answer{}, "the session is over; nothing was executed", []string{"Ended at ", ": the session is over; nothing was executed."}},
	} {
		w := d.ask(nil)
		b.opens(w)
		w.settle(end.status, end.answer, end.outcome)
		late := b.wait(".late", end.want[0])
		b.wait("#history li:first-child", end.want[0])
		past := b.wait("#history li:first-child", end.want[len(end.want)-1])
		for _, want := range end.want {
			if !strings.Contains(late, want) || !strings.Contains(past, want) {
				t.Errorf("%q is not in %q and in %q", want, late, past)
			}
		}
		if !strings.Contains(past, "notes.md") || strings.Contains(late, ". ") {
			t.Errorf("more than one sentence, or no path: %q, %q", late, past)
		}
		b.do(nil, "run", map[string]any{"script": `passed.splice(0).forEach((f) => f())`})
		b.wait("#empty", "Nothing waits") // without a press
	}
	b.do(nil, "run", map[string]any{"script": `window.setTimeout = later`})
	// clawai itself goes, and with it who could say that the time ran out.
	b.opens(d.ask(func(r *queue.Request) { r.Deadline = time.Now().Add(30 * time.Second) }))
	d.web.Signal(syscall.SIGINT)
	b.wait("#trouble", "clawai has ended or cannot be reached")
	b.wait("#list", "Expired while clawai approve could not be reached; the call is denied.")
	b.wait("#empty", "Nothing waits")
}
