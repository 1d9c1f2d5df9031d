//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/testing/viewtest"
)

// TestPageLink holds what a link, a second tab and a reload may do.
func TestPageLink(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := newBrowser(t, 360, 740)
	b.enter(d.link)
	var url string
	if b.do(&url, "url", nil); strings.Contains(url, "#") {
		t.Errorf("the token stays in the address: %s", url)
	}
	b.do(nil, "reload", nil)
	b.wait("#state", "Connected")
	other := newBrowser(t, 360, 740)
	other.do(nil, "open", map[string]any{"url": d.link})
	other.wait("#why", "This link has been used")
	other.wait("#why", "Press Enter in the terminal")
	other.fits("used")
	stranger := newBrowser(t, 360, 740)
	stranger.do(nil, "open", map[string]any{"url": d.origin + "/"})
	stranger.wait("#why", "opened by the link")
	stranger.quiet(d.origin)
	b.do(nil, "close", nil)
	await(t, "nobody attends", func() bool { kinds, err := d.q.Answerers(); return err == nil && len(kinds) == 0 })
}

// TestPageFromElsewhere holds that a page of another port of this machine, in the
// same browser, neither reads nor answers anything.
func TestPageFromElsewhere(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := newBrowser(t, 1280, 800)
	b.do(nil, "open", map[string]any{"url": d.link})
	w := d.ask(nil)
	b.opens(w)
	b.calm()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>elsewhere</title>")
	}))
	defer elsewhere.Close()
	r, err := d.q.Get(t.Context(), w.ID())
	if err != nil {
		t.Fatal(err)
	}
	body := fmt.Sprintf(`{"id":%q,"digest":"%x","reply":"allow"}`, r.ID, r.Digest)
	for _, origin := range []string{elsewhere.URL, strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)} {
		b.do(nil, "open", map[string]any{"url": origin})
		for _, c := range []struct{ path, method, mode, kind string }{
			{"/answer", "POST", "no-cors", "text/plain"}, {"/answer", "POST", "cors", "application/json"},
			{"/events", "GET", "cors", ""}, {"/request/" + r.ID, "GET", "cors", ""}, {"/page.js", "GET", "cors", ""},
		} {
			init := map[string]any{"method": c.method, "mode": c.mode, "credentials": "include", "headers": map[string]string{}}
			if c.method == "POST" {
				init["body"], init["headers"] = body, map[string]string{"Content-Type": c.kind}
			}
			var got string
			b.do(&got, "fetched", map[string]any{"url": d.origin + c.path, "init": init})
			if got != "blocked" && got != "opaque" {
				t.Errorf("%s %s from %s: %s", c.mode, c.path, origin, got)
			}
		}
		var framed string
		b.do(&framed, "run", map[string]any{"script": `new Promise((tell) => {
			const frame = document.createElement('iframe')
			frame.onload = () => { try { tell(frame.contentDocument ? 'read' : 'closed') } catch { tell('closed') } }
			setTimeout(() => tell('closed'), 3000)
			frame.src = '` + d.origin + `/'
			document.body.append(frame)
		})`})
		if framed != "closed" {
			t.Errorf("framed by %s: %s", origin, framed)
		}
		b.do(nil, "close", nil)
	}
	w.waiting("from elsewhere")
	w.settle(queue.Expired, queue.Answer{}, "expired")
}

// TestPageWithOthersCookies: cookies know no ports. What a page of another port of
// this machine leaves in the browser, as many as it keeps and in our name, neither
// logs the page out nor keeps it from loading.
func TestPageWithOthersCookies(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := newBrowser(t, 1280, 800)
	b.enter(d.link)
	_, port, _ := strings.Cut(strings.TrimPrefix(d.origin, "http://"), ":")
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := range 170 {
			http.SetCookie(w, &http.Cookie{Name: fmt.Sprint("c", i), Value: strings.Repeat("v", 1000), Path: "/"})
		}
		for _, path := range []string{"/", "/events", "/answer"} {
			http.SetCookie(w, &http.Cookie{Name: "clawai-" + port, Value: "tossed", Path: path})
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>elsewhere</title>")
	}))
	defer elsewhere.Close()
	b.do(nil, "goto", map[string]any{"url": elsewhere.URL})
	var cookies int
	if b.do(&cookies, "run", map[string]any{"script": "document.cookie.length"}); cookies < 100_000 {
		t.Fatalf("the browser kept %d bytes of cookies", cookies)
	}
	b.do(nil, "goto", map[string]any{"url": d.origin + "/"})
	b.wait("#state", "Connected")
	w := d.ask(nil)
	b.opens(w)
	b.tabTo("Tab", "files wants to read")
	b.tabTo("Tab", "Deny")
	b.calm()
	b.press("Enter")
	if a := w.answer("denied"); a.Channel != "web" {
		t.Errorf("answered %+v", a)
	}
}

// TestPageShowsHostileText shows the corpus and holds that all of it is text.
func TestPageShowsHostileText(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := newBrowser(t, 360, 740)
	b.enter(d.link)
	// What has ended is not waited for: that is for TestPageSaysHowEachEnds.
	b.do(nil, "run", map[string]any{"script": `{ const later = window.setTimeout; window.setTimeout = (f, ms) => later(f, ms === 6000 ? 0 : ms) }`})
	cases := viewtest.Cases()
	if len(cases) < 100 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		w := d.ask(func(r *queue.Request) {
			r.Calls, r.Server = c.Calls, c.Calls[0].Server
			r.Client = "evil\x1b[2J\u202e<img src=x onerror=alert(1)>"
		})
		if err := b.try(nil, "wait", map[string]any{"selector": "#answers-" + w.ID(), "text": "Deny"}); err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		viewtest.Check(t, c, b.text("#list"))
		b.fits(c.Name)
		b.do(nil, "run", map[string]any{"script": `document.querySelectorAll('#list details').forEach((whole) => { whole.open = true })`})
		viewtest.CheckHarmless(t, c, b.text("#list"))
		b.fits(c.Name + ", whole")
		w.settle(queue.Expired, queue.Answer{}, "expired")
		b.wait("#empty", "Nothing waits")
	}
	historyIsText(t, b)
	b.quiet(d.origin)
}

// historyIsText looks at the names of all cases among what was answered.
func historyIsText(t *testing.T, b *browser) {
	t.Helper()
	b.do(nil, "run", map[string]any{"script": `document.querySelector('#past').open = true`})
	text := b.text("#history")
	viewtest.CheckHarmless(t, viewtest.Case{Name: "history"}, text)
	var elements int
	b.do(&elements, "count", map[string]any{"selector": "#open img, #open script, #open iframe, #open a, #open svg, #open style, #open b"})
	if elements > 0 {
		t.Errorf("%d elements were made of text", elements)
	}
}
