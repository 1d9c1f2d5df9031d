package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/gateway/workload"
	"github.com/clawai/clawai/internal/page"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/testing/viewtest"
)

func TestEnrolment(t *testing.T) {
	w := newWorld(t)
	form := w.signIn()
	var code enrolment.DeviceCode
	ask := enrolment.AskEnrolment{Name: "ana's laptop", OS: "linux/amd64", Version: "1.2.3"}
	if status := w.call("", "POST", enrolment.EnrollPath, ask, &code); status != 200 || code.VerificationURI != w.site.Address()+"/enroll" || code.ExpiresIn != 600 {
		t.Fatalf("%d, %+v", status, code)
	}
	poll := func(want int, word string) (grant enrolment.Grant) {
		t.Helper()
		var answer struct {
			enrolment.Grant
			enrolment.Refusal
		}
		if status := w.call("", "POST", enrolment.TokenPath, enrolment.AskToken{DeviceCode: code.DeviceCode}, &answer); status != want || answer.Error != word {
			t.Fatalf("%d, %+v, want %d %s", status, answer, want, word)
		}
		return answer.Grant
	}
	poll(400, enrolment.Pending)
	poll(400, enrolment.SlowDown) // it came at once

	// The page shows what the laptop says of itself, and decides nothing by being opened.
	status, body := w.visit(strings.TrimPrefix(code.Complete, w.site.Address()))
	if status != 200 || !strings.Contains(body, "ana&#39;s laptop") || !strings.Contains(body, "linux/amd64") || !strings.Contains(body, code.UserCode) {
		t.Fatalf("%d\n%s", status, body)
	}
	if status, _ := w.submit(enrollPage, "form", "wrong", "code", code.UserCode, "answer", "allow"); status != 403 {
		t.Errorf("a form of another session: %d", status)
	}
	if status, body := w.submit(enrollPage, "form", form, "code", code.UserCode, "answer", "allow"); status != 200 || !strings.Contains(body, "You allowed") {
		t.Fatalf("%d\n%s", status, body)
	}
	if _, body := w.submit(enrollPage, "form", form, "code", code.UserCode, "answer", "deny"); !strings.Contains(body, "allowed or denied before") {
		t.Errorf("decided twice:\n%s", body)
	}
	first := poll(200, "")
	second := poll(200, "") // the first answer was lost
	if first.Laptop == "" || first.Laptop != second.Laptop || first.Token == second.Token || len(first.BundleKeys) != 1 || first.Offline != (enrolment.Offline{Days: 3, Then: "deny"}) {
		t.Fatalf("%+v, %+v", first, second)
	}
	if status := w.call(first.Token, "GET", enrolment.BundlePath, nil, nil); status != 401 {
		t.Errorf("the token that was lost: %d", status)
	}
	if status := w.call(second.Token, "GET", enrolment.BundlePath, nil, nil); status != 404 {
		t.Errorf("no bundle yet: %d", status)
	}
	poll(400, enrolment.Expired) // the token is in use

	// Denied.
	if status := w.call("", "POST", enrolment.EnrollPath, ask, &code); status != 200 {
		t.Fatal(status)
	}
	w.submit(enrollPage, "form", form, "code", code.UserCode, "answer", "deny")
	poll(400, enrolment.Refused)
	code.DeviceCode = "nobody's"
	poll(400, enrolment.Expired)

	// Neither codes nor tokens are in the database.
	for _, table := range []string{first.Token, second.Token, code.UserCode} {
		if w.databaseHas(t, table) {
			t.Errorf("%q is in the database", table)
		}
	}
}

// Codes cannot be guessed, and wishes cannot pile up.
func TestEnrolmentIsLimited(t *testing.T) {
	w := newWorld(t)
	form := w.signIn()
	var code enrolment.DeviceCode
	last := 0
	for range 25 {
		last = w.call("", "POST", enrolment.EnrollPath, enrolment.AskEnrolment{Name: "x"}, &code)
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the 25th wish in a moment: %d", last)
	}
	told := ""
	for i := range 12 {
		_, told = w.submit(enrollPage, "form", form, "code", "BCDF-GHJ"+string("KLMNPQRSTVWX"[i]), "answer", "allow")
	}
	if !strings.Contains(told, "Too often") {
		t.Errorf("the twelfth guess:\n%s", told)
	}
}

// The token matrix: whatever is sent in place of a laptop's token, nothing is told and nothing kept.
func TestTokens(t *testing.T) {
	w := newWorld(t)
	grant, other := w.enrol("one"), w.enrol("two")
	form := w.signIn()
	segments := recordSegments(t, audit.Options{}, recordedCall("allow", "read_file", `{}`))
	var name string
	for name = range segments {
	}
	secret := grant.Token[strings.LastIndexByte(grant.Token, '_')+1:]
	tokens := map[string][]string{
		"none":               nil,
		"empty":              {""},
		"no scheme":          {grant.Token},
		"another scheme":     {"Basic " + grant.Token},
		"a word":             {"Bearer x"},
		"two headers":        {"Bearer " + grant.Token, "Bearer " + grant.Token},
		"cut":                {"Bearer " + grant.Token[:len(grant.Token)-1]},
		"longer":             {"Bearer " + grant.Token + "A"},
		"another's secret":   {"Bearer clw_" + other.Laptop + "_" + secret},
		"another's name":     {"Bearer clw_nobody_" + secret},
		"no secret":          {"Bearer clw_" + grant.Laptop + "_"},
		"a path":             {"Bearer clw_../../x_" + secret},
		"a form's token":     {"Bearer " + form},
		"the hash":           {"Bearer clw_" + grant.Laptop + "_" + strings.Repeat("0", 64)},
		"very long":          {"Bearer clw_" + grant.Laptop + "_" + strings.Repeat("A", 10_000)},
		"SQL":                {"Bearer clw_' OR '1'='1_" + secret},
		"upper case":         {"Bearer " + strings.ToUpper(grant.Token)},
		"a tab":              {"Bearer\t" + grant.Token},
		"two blanks":         {"Bearer  " + grant.Token},
		"revoked afterwards": {"Bearer " + other.Token},
	}
	if err := w.centre.Store.RevokeLaptop(t.Context(), other.Laptop, "ana", time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, what := range []struct{ method, path, body string }{
		{"GET", enrolment.BundlePath, ""}, {"POST", enrolment.StatePath, `{"counter":9}`},
		{"GET", recordsPathOf(name), ""}, {"PUT", recordsPathOf(name) + "?at=0", string(segments[name])},
	} {
		for said, values := range tokens {
			r := w.request(what.method, what.path, what.body)
			r.Header.Set("Content-Type", "application/json")
			if values != nil {
				r.Header["Authorization"] = values
			}
			if status, body, headers := w.do(w.laptop, r); status != 401 || headers.Get("WWW-Authenticate") == "" || strings.Contains(body, "size") {
				t.Errorf("%s %s, %s: %d %s", what.method, what.path, said, status, body)
			}
		}
		// The right token does not help a browser, another host, or another method.
		for said, change := range map[string]func(*http.Request){
			"a browser": func(r *http.Request) { r.Header.Set("Origin", w.site.Address()) },
			"a fetch":   func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") },
			"a cookie":  func(r *http.Request) { r.Header.Set("Cookie", "a=b") },
			"a name":    func(r *http.Request) { r.Host = "centre.example" },
			"a method":  func(r *http.Request) { r.Method = "DELETE" },
		} {
			r := w.request(what.method, what.path, what.body)
			r.Header.Set("Authorization", "Bearer "+grant.Token)
			r.Header.Set("Content-Type", "application/json")
			change(r)
			if status, body, _ := w.do(w.laptop, r); status < 400 || status == 401 {
				t.Errorf("%s %s, %s: %d %s", what.method, what.path, said, status, body)
			}
		}
	}
	if _, err := w.centre.Store.FindSegment(t.Context(), grant.Laptop, name); err == nil {
		t.Error("a segment was kept")
	}
	if l, _, err := w.centre.Store.FindLaptop(t.Context(), grant.Laptop); err != nil || l.Report.Counter != 0 || !l.Seen.IsZero() {
		t.Errorf("%+v, %v", l, err)
	}
}

// Nobody sees a page without having signed in, and no other site can do anything.
func TestPagesAreGuarded(t *testing.T) {
	w := newWorld(t)
	grant := w.enrol("one")
	form := w.signIn()
	w.publishFiles(1, firstRules)
	paths := []string{"/", laptopsPage, laptopsPage + "/" + grant.Laptop, recordsPage, recordsPage + "/1", bundlesPage, bundlesPage + "/1", enrollPage, enrollPage + "?code=BCDF-GHJK"}
	for _, path := range paths {
		r := w.request("GET", path, "")
		if status, body, _ := w.do(w.laptop, r); status != 401 || strings.Contains(body, grant.Laptop) {
			t.Errorf("%s without a session: %d\n%s", path, status, body)
		}
		for said, change := range map[string]func(*http.Request){
			"another host":  func(r *http.Request) { r.Host = "localhost:" + r.URL.Port() },
			"another site":  func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
			"another port":  func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
			"a frame":       func(r *http.Request) { r.Header.Set("Sec-Fetch-Dest", "iframe") },
			"a script":      func(r *http.Request) { r.Header.Set("Sec-Fetch-Dest", "script") },
			"an origin":     func(r *http.Request) { r.Header.Set("Origin", "https://attacker.example") },
			"a null origin": func(r *http.Request) { r.Header.Set("Origin", "null") },
		} {
			r := w.request("GET", path, "")
			change(r)
			if status, body, _ := w.do(w.browser, r); status != 403 && status != 421 || strings.Contains(body, grant.Laptop) {
				t.Errorf("%s, %s: %d", path, said, status)
			}
		}
		status, _, headers := w.do(w.browser, w.request("GET", path, ""))
		if status != 200 && path != recordsPage+"/1" || headers.Get("Content-Security-Policy") != pagePolicy || headers.Get("X-Frame-Options") != "DENY" || headers.Get("Cache-Control") != "no-store" ||
			headers.Get("Referrer-Policy") != "same-origin" { // otherwise a browser names no origin when it sends a form
			t.Errorf("%s: %d, %v", path, status, headers)
		}
	}
	for _, path := range []string{"/revoke", enrollPage, "/sign-out"} {
		for said, change := range map[string]func(*http.Request){
			"no origin":       func(r *http.Request) { r.Header.Del("Origin") },
			"another origin":  func(r *http.Request) { r.Header.Set("Origin", "https://attacker.example") },
			"cross-site":      func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
			"no form's token": func(r *http.Request) { *r = *w.formRequest(path, "laptop", grant.Laptop) },
			"JSON":            func(r *http.Request) { r.Header.Set("Content-Type", "application/json") },
			"plain text":      func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
			"GET":             func(r *http.Request) { r.Method = "GET"; r.URL.Path = "/revoke" },
		} {
			r := w.formRequest(path, "form", form, "laptop", grant.Laptop, "answer", "allow")
			change(r)
			if status, body, _ := w.do(w.browser, r); status < 400 {
				t.Errorf("%s, %s: %d\n%s", path, said, status, body)
			}
		}
	}
	if l, _, err := w.centre.Store.FindLaptop(t.Context(), grant.Laptop); err != nil || !l.Revoked.IsZero() {
		t.Errorf("%+v, %v", l, err)
	}
	if status, _ := w.submit("/revoke", "form", form, "laptop", grant.Laptop); status != 200 {
		t.Errorf("revoking: %d", status)
	}
	if status := w.call(grant.Token, "GET", enrolment.BundlePath, nil, nil); status != 401 {
		t.Errorf("a revoked laptop: %d", status)
	}
	if status, _ := w.submit("/sign-out", "form", form); status != 200 {
		t.Errorf("signing out: %d", status)
	}
	if status, _ := w.visit("/"); status != 401 {
		t.Errorf("after signing out: %d", status)
	}
}

// A link signs in once, and only by its button: what a program opens by itself uses nothing up.
func TestSignIn(t *testing.T) {
	w := newWorld(t)
	token, err := w.centre.NewLink(t.Context(), "administrator")
	w.must(err)
	for range 3 {
		if status, _ := w.visit(SignInPath + token); status != 200 {
			t.Fatalf("opening: %d", status)
		}
	}
	if status, _ := w.submit("/sign-in", "token", token+"x"); status != 403 {
		t.Errorf("another token: %d", status)
	}
	status, _, headers := w.do(w.laptop, func() *http.Request {
		w.laptop.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		return w.formRequest("/sign-in", "token", token)
	}())
	cookie := headers.Get("Set-Cookie")
	if status != 303 || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") || !strings.Contains(cookie, "Path=/") {
		t.Errorf("%d, %q", status, cookie)
	}
	if status, _ := w.submit("/sign-in", "token", token); status != 403 {
		t.Errorf("used again: %d", status)
	}
}

func TestBundles(t *testing.T) {
	w := newWorld(t)
	grant := w.enrol("one")
	make := func(counter uint64, later ...time.Duration) []byte {
		at := time.Now().UTC().Truncate(time.Second)
		for _, d := range later {
			at = at.Add(d)
		}
		src, err := bundle.Write(bundle.Bundle{Counter: counter, Created: at, Files: []bundle.File{{Name: "policy.toml", Text: []byte("[[rule]]\naction = \"deny\"\ntool = \"*\"\n")}}})
		w.must(err)
		signed, err := bundle.Sign(src, w.secret)
		w.must(err)
		return signed
	}
	get := func(known string) (int, string, http.Header) {
		r := w.request("GET", enrolment.BundlePath, "")
		r.Header.Set("Authorization", "Bearer "+grant.Token)
		if known != "" {
			r.Header.Set("If-None-Match", known)
		}
		return w.do(w.laptop, r)
	}
	seven := make(7)
	if _, err := w.centre.Publish(t.Context(), seven, "ana"); err != nil {
		t.Fatal(err)
	}
	status, body, headers := get("")
	if status != 200 || body != string(seven) {
		t.Fatalf("%d, %q", status, body)
	}
	tag := headers.Get("ETag")
	if status, body, _ := get(`"other", W/` + tag); status != 304 || body != "" {
		t.Errorf("known: %d %q", status, body)
	}
	if _, err := w.centre.Publish(t.Context(), seven, "ana"); err != nil {
		t.Errorf("the same again: %v", err)
	}
	stranger, _, err := bundle.NewKey("team.example")
	w.must(err)
	unsigned, _ := bundle.Write(bundle.Bundle{Counter: 9, Created: time.Now().UTC().Truncate(time.Second), Files: []bundle.File{{Name: "policy.toml", Text: []byte("[[rule]]\naction = \"deny\"\ntool = \"*\"\n")}}})
	foreign, err := bundle.Sign(unsigned, stranger)
	w.must(err)
	changed := bytes.Replace(make(9), []byte(`"deny"`), []byte(`"deni"`), 1)
	for said, src := range map[string][]byte{"older": make(6), "the same counter": make(7, -time.Hour), "unsigned": unsigned, "another key": foreign, "changed": changed, "nothing": nil, "cut": seven[:len(seven)-1]} {
		if _, err := w.centre.Publish(t.Context(), src, "ana"); err == nil {
			t.Errorf("%s was published", said)
		}
	}
	if status, _, _ := get(tag); status != 304 {
		t.Errorf("after what was refused: %d", status)
	}
	eight := make(8)
	_, err = w.centre.Publish(t.Context(), eight, "ana")
	w.must(err)
	if status, body, _ := get(tag); status != 200 || body != string(eight) {
		t.Errorf("%d, %q", status, body)
	}
	w.signIn()
	if _, body := w.visit(bundlesPage); !strings.Contains(body, "team.example") {
		t.Errorf("the page:\n%s", body)
	}
}

// Records come in parts, at most once, whatever is sent twice or in the wrong order.
func TestRecords(t *testing.T) {
	w := newWorld(t)
	grant := w.enrol("one")
	var calls []event.Event
	for i := range 250 {
		calls = append(calls, recordedCall([]string{"allow", "deny"}[i%2], fmt.Sprintf("tool%d", i%3), fmt.Sprintf(`{"path":"/srv/%d"}`, i)))
	}
	segments := recordSegments(t, audit.Options{MaxBytes: 50_000}, calls...)
	if len(segments) < 2 {
		t.Fatalf("%d segments", len(segments))
	}
	for _, name := range slices.Sorted(maps.Keys(segments)) {
		text := segments[name]
		for at := 0; at < len(text); {
			end := min(at+7001, len(text))
			status, held := w.ship(grant.Token, name, at, text[at:end], end == len(text))
			if status != 200 || held.Size != int64(end) || held.Complete != (end == len(text)) {
				t.Fatalf("%d: %d, %+v", at, status, held)
			}
			// The same again, too early and too late: it is told where to go on.
			for _, wrong := range []int{at, at / 2, end + 1} {
				again := []byte("x")
				if wrong < end {
					again = text[wrong:end]
				}
				status, is := w.ship(grant.Token, name, wrong, again, false)
				if status != 409 || is != held {
					t.Fatalf("at %d in place of %d: %d, %+v", wrong, end, status, is)
				}
			}
			at = end
		}
		var held enrolment.Held
		if status := w.call(grant.Token, "GET", recordsPathOf(name), nil, &held); status != 200 || held != (enrolment.Held{Size: int64(len(text)), Complete: true}) {
			t.Errorf("%d, %+v", status, held)
		}
		kept, err := w.centre.Store.ReadSegment(t.Context(), grant.Laptop, name, 0, len(text)+1)
		if err != nil || !bytes.Equal(kept, text) {
			t.Errorf("%d bytes of %d, %v", len(kept), len(text), err)
		}
	}
	if found, err := w.centre.Store.ListFindings(t.Context(), "", "", 10); err != nil || len(found) > 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	all, err := w.centre.Store.ListRecords(t.Context(), store.Query{Most: 1000})
	seen := map[uint64]bool{}
	for _, r := range all {
		seen[r.Seq] = true
	}
	if err != nil || len(all) != 250 || len(seen) != 250 {
		t.Errorf("%d records with %d numbers, %v", len(all), len(seen), err)
	}
	w.signIn()
	next := recordsPage
	listed := map[string]int{}
	for pages := 0; next != "" && pages < 10; pages++ {
		status, body := w.visit(next)
		if status != 200 {
			t.Fatalf("%s: %d\n%s", next, status, body)
		}
		for _, m := range recordLink.FindAllStringSubmatch(body, -1) {
			listed[m[1]]++
		}
		next = ""
		if m := olderLink.FindStringSubmatch(body); m != nil {
			next = strings.ReplaceAll(m[1], "&amp;", "&")
		}
	}
	for id, n := range listed {
		if n != 1 {
			t.Errorf("record %s stands %d times on the pages", id, n)
		}
	}
	if len(listed) != 250 {
		t.Errorf("%d records on the pages", len(listed))
	}
	for query, want := range map[string]int{
		"?decision=refused": 100, "?tool=tool1&decision=allowed": 41, "?tool=tool1&server=files": 83, "?server=other": 0, "?since=1h": 100, "?until=2020-01-01": 0,
		"?kind=all&rule=policy.toml%3A7": 100, "?laptop=" + grant.Laptop: 100, "?laptop=x": 0,
	} {
		status, body := w.visit(recordsPage + query)
		if n := len(recordLink.FindAllString(body, -1)); status != 200 || n != want {
			t.Errorf("%s: %d, %d records, want %d", query, status, n, want)
		}
	}
	for _, query := range []string{"?x=y", "?decision=maybe", "?kind=nothing", "?since=soon", "?before=x", "?tool=a&tool=b", "?before=1-0", "?before=-5", "?label=all", "?label=Untrusted", "?label=untrusted&label=secret"} {
		if status, _ := w.visit(recordsPage + query); status != 400 {
			t.Errorf("%s: %d", query, status)
		}
	}
}

// What a laptop's owner does to the record after it was shipped is found, and shown red.
func TestChangedRecordsAreFound(t *testing.T) {
	segments := recordSegments(t, audit.Options{MaxBytes: 3000}, func() (calls []event.Event) {
		for i := range 12 {
			calls = append(calls, recordedCall("allow", "read_file", fmt.Sprintf(`{"path":"/srv/%d"}`, i)))
		}
		return calls
	}()...)
	names := slices.Sorted(maps.Keys(segments))
	first := segments[names[0]]
	half := bytes.IndexByte(first[bytes.IndexByte(first, '\n')+1:], '\n') + bytes.IndexByte(first, '\n') + 2
	rewritten := bytes.Replace(first, []byte("read_file"), []byte("list_file"), 1)
	forked := recordSegments(t, audit.Options{}, recordedCall("allow", "x", `{}`))
	for said, c := range map[string]struct {
		do   func(w *world, token string)
		want string
	}{
		"a byte changed before it was shipped": {func(w *world, token string) {
			w.ship(token, names[0], 0, rewritten, false)
		}, "are no record, or one that was changed"},
		"rewritten behind what was shipped": {func(w *world, token string) {
			w.ship(token, names[0], 0, first[:half], false)
			for _, other := range forked {
				w.ship(token, names[0], half, other[bytes.IndexByte(other, '\n')+1:], false)
			}
		}, "does not follow the line before it"},
		"rewritten and shipped again": {func(w *world, token string) {
			w.ship(token, names[0], 0, first, false)
			w.ship(token, names[0], 0, rewritten, false)
		}, "was rewritten"},
		"cut": {func(w *world, token string) {
			w.ship(token, names[0], 0, first, false)
			w.ship(token, names[0], half, nil, true)
		}, "was cut"},
		"lengthened after its end": {func(w *world, token string) {
			w.ship(token, names[0], 0, first, true)
			w.ship(token, names[0], len(first), []byte("more\n"), false)
		}, "was lengthened"},
		"a segment left out": {func(w *world, token string) {
			w.ship(token, names[0], 0, first, true)
			w.ship(token, names[2], 0, segments[names[2]], true)
		}, "does not follow the session's segment before it"},
		"a segment left out, shipped late": {func(w *world, token string) {
			w.ship(token, names[2], 0, segments[names[2]], true)
			w.ship(token, names[0], 0, first, true)
		}, "does not follow the session's segment before it"},
		"a line left out": {func(w *world, token string) {
			lines := bytes.SplitAfter(first, []byte("\n"))
			w.ship(token, names[0], 0, bytes.Join(append([][]byte{lines[0]}, lines[2:]...), nil), true)
		}, "was removed, inserted or moved"},
		"renamed": {func(w *world, token string) {
			w.ship(token, names[1], 0, first, true)
		}, "does not name this file"},
		"forked from the beginning": {func(w *world, token string) {
			w.ship(token, names[0], 0, first, false)
			session, _ := audit.SplitSegmentName(names[0])
			for name, other := range forked {
				another, _ := audit.SplitSegmentName(name)
				again := strings.Replace(name, another, session, 1)
				w.ship(token, again, 0, chainAgain(other, name, again, another, session), false)
			}
		}, "was forked"},
		"a piece behind the end": {func(w *world, token string) {
			w.ship(token, names[0], 0, append(bytes.Clone(first), "rest\nrest"...), true)
		}, "at the end are not a record"},
	} {
		t.Run(said, func(t *testing.T) {
			w := newWorld(t)
			grant := w.enrol("ana's laptop")
			c.do(w, grant.Token)
			found, err := w.centre.Store.ListFindings(t.Context(), grant.Laptop, "", 100)
			w.must(err)
			if !slices.ContainsFunc(found, func(f store.Finding) bool { return !f.Note && strings.Contains(f.What, c.want) }) {
				t.Fatalf("%+v", found)
			}
			w.signIn()
			for _, path := range []string{"/", laptopsPage + "/" + grant.Laptop} {
				if _, body := w.visit(path); !strings.Contains(body, "its record was changed") || !strings.Contains(body, "mark refused") {
					t.Errorf("%s does not show it:\n%s", path, body)
				}
			}
		})
	}
	t.Run("nothing", func(t *testing.T) {
		w := newWorld(t)
		grant := w.enrol("one")
		for _, i := range []int{1, 0, 2} { // the order in which they come does not matter
			w.ship(grant.Token, names[i], 0, segments[names[i]], true)
		}
		if found, err := w.centre.Store.ListFindings(t.Context(), "", "", 100); err != nil || slices.ContainsFunc(found, func(f store.Finding) bool { return !f.Note }) {
			t.Errorf("%+v, %v", found, err)
		}
	})
}

// chainAgain replaces texts in the lines of a segment and computes their chain anew, as somebody does
// who makes a record up.
func chainAgain(segment []byte, replace ...string) (again []byte) {
	prev := strings.Repeat("0", 64)
	for line := range strings.Lines(strings.NewReplacer(replace...).Replace(string(segment))) {
		line = line[:strings.LastIndex(line, `,"prev":"`)] + `,"prev":"` + prev + `"`
		sum := sha256.Sum256([]byte(line))
		prev = hex.EncodeToString(sum[:])
		again = append(again, line+`,"hash":"`+prev+"\"}\n"...)
	}
	return again
}

// What is shipped is bounded.
func TestRecordsAreBounded(t *testing.T) {
	w := newWorld(t)
	grant := w.enrol("one")
	const name = "20261130T100203.123456789Z-k3f9x2m7qa.ndjson"
	if status, _ := w.ship(grant.Token, name, 0, make([]byte, 1<<20+1), false); status != 413 {
		t.Errorf("a part that is too long: %d", status)
	}
	last := 200
	for i := 0; i < 10 && last < 400; i++ {
		last, _ = w.ship(grant.Token, name, i<<20, bytes.Repeat([]byte("x"), 1<<20), false)
	}
	if last != 507 {
		t.Errorf("many MiB of no record: %d", last)
	}
	w.centre.Settings.LaptopBytes = 1 << 20
	if status, _ := w.ship(grant.Token, "20261130T100203.123456789Z-k3f9x2m7qb.ndjson", 0, []byte("x"), false); status != 507 {
		t.Errorf("beyond the laptop's share: %d", status)
	}
	for _, path := range []string{"x/y", "k3f9x2m7qa/" + name + "/x", "k3f9x2m7qb/" + name, "../" + name, "k3f9x2m7qa/ledger.ndjson", "k3f9x2m7qa/", ""} {
		r := w.request("PUT", enrolment.RecordsPath+path+"?at=0", "x")
		r.Header.Set("Authorization", "Bearer "+grant.Token)
		if status, body, _ := w.do(w.laptop, r); status < 400 || status == 409 {
			t.Errorf("%q: %d %s", path, status, body)
		}
	}
	for _, query := range []string{"", "?at=", "?at=-1", "?at=x", "?at=0&complete=2", "?at=99999999999999999999"} {
		r := w.request("PUT", recordsPathOf(name)+query, "x")
		r.Header.Set("Authorization", "Bearer "+grant.Token)
		if status, _, _ := w.do(w.laptop, r); status != 400 {
			t.Errorf("%q: %d", query, status)
		}
	}
}

// A laptop that lies fills neither the database nor the first places of a list, and hides nothing that
// was found before or is found later.
func TestALaptopCannotDrownTheOthers(t *testing.T) {
	w := newWorld(t)
	grant := w.enrol("one")
	late := recordedCall("deny", "from_the_future", "{}")
	late.Time = time.Now().AddDate(100, 0, 0)
	for name, segment := range recordSegments(t, audit.Options{}, late) {
		w.ship(grant.Token, name, 0, segment, true)
	}
	calls := []event.Event{recordedCall("allow", "a", "{}"), recordedCall("allow", "b", "{}"), recordedCall("allow", "c", "{}")}
	var changed string
	for name, segment := range recordSegments(t, audit.Options{}, calls...) {
		changed = name
		w.ship(grant.Token, name, 0, bytes.Replace(segment, []byte(`"b"`), []byte(`"B"`), 1), true)
	}
	for name, segment := range recordSegments(t, audit.Options{}, calls...) {
		lines := bytes.SplitAfter(segment, []byte("\n"))
		swapped := bytes.Repeat(append(bytes.Clone(lines[2]), lines[1]...), 800) // no line follows the one before it
		w.ship(grant.Token, name, 0, lines[0], false)
		at := len(lines[0])
		for range 5 {
			if status, _ := w.ship(grant.Token, name, at, swapped, false); status != 200 {
				t.Fatalf("a part: %d", status)
			}
			at += len(swapped)
		}
	}
	found, err := w.centre.Store.ListFindings(t.Context(), grant.Laptop, "", 100_000)
	w.must(err)
	if len(found) < 4000 || len(found) > 5000 {
		t.Errorf("%d findings are kept", len(found))
	}
	records, err := w.centre.Store.ListRecords(t.Context(), store.Query{Laptop: grant.Laptop, Most: 10_000})
	w.must(err)
	at := slices.IndexFunc(records, func(r store.Record) bool { return r.Segment == changed })
	ahead := slices.IndexFunc(records, func(r store.Record) bool { return r.Name == "from_the_future" })
	if at < 0 || ahead < 0 || records[ahead].Time.After(time.Now().Add(time.Minute)) {
		t.Fatalf("the records of the changed segment and of the future: %d, %d", at, ahead)
	}
	w.signIn()
	if _, body := w.visit(fmt.Sprint(recordsPage, "/", records[at].ID)); !strings.Contains(body, "are no record, or one that was changed") {
		t.Error("the page of a record does not show what was found in its segment")
	}
}

func TestHoursAheadChangeNoBar(t *testing.T) {
	now := time.Date(2026, 12, 1, 10, 30, 0, 0, time.UTC)
	hour := now.Truncate(time.Hour)
	here := []store.Sum{{Hour: hour, Look: store.LookAllowed, N: 3}}
	bars, totals, most := newBars(here, now)
	ahead, totalsAhead, mostAhead := newBars(append(here, store.Sum{Hour: hour.Add(2 * time.Hour), Look: store.LookAllowed, N: 1000}), now)
	if most != 3 || mostAhead != most || !maps.Equal(totals, totalsAhead) || !reflect.DeepEqual(bars, ahead) {
		t.Errorf("%d, %v; with calls of the next hours: %d, %v", most, totals, mostAhead, totalsAhead)
	}
}

// Bodies that never end take the memory of two parts for each laptop, and keep no other laptop out.
func TestBodiesThatDoNotEnd(t *testing.T) {
	w := newWorld(t)
	one, other := w.enrol("one"), w.enrol("other")
	const name = "20261130T100203.123456789Z-k3f9x2m7qa.ndjson"
	for n := 1; n <= maxParts; n++ {
		c, err := net.Dial("tcp", w.host())
		w.must(err)
		defer c.Close()
		_, err = fmt.Fprintf(c, "PUT %s?at=0 HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: 1000\r\n\r\nx", recordsPathOf(name), w.host(), one.Token)
		w.must(err)
		for begun, end := 0, time.Now().Add(time.Minute); begun < n; time.Sleep(time.Millisecond) {
			w.site.mu.Lock()
			begun = w.site.works[one.Laptop]
			w.site.mu.Unlock()
			if time.Now().After(end) {
				t.Fatalf("part %d is not being read", n)
			}
		}
	}
	if status, _ := w.ship(one.Token, name, 5, nil, false); status != 429 {
		t.Errorf("a third part: %d", status)
	}
	if status, _ := w.ship(other.Token, name, 0, []byte("x"), false); status != 200 {
		t.Errorf("another laptop: %d", status)
	}
}

func TestSegmentsOfASessionAreBounded(t *testing.T) {
	w := newWorld(t)
	grant := w.enrol("one")
	name := func(i int) string { return fmt.Sprintf("20261130T100203.%09dZ-k3f9x2m7qa.ndjson", i) }
	for i := range 998 {
		w.must(w.centre.Store.ExtendSegment(t.Context(), grant.Laptop, "k3f9x2m7qa", name(i), func(h store.Holding) (store.Extension, error) {
			is := h.Segment()
			is.Complete = true
			return store.Extension{Segment: is}, nil
		}))
	}
	for i := 998; i <= 1000; i++ {
		status, _ := w.ship(grant.Token, name(i), 0, nil, true)
		if want := map[bool]int{true: 200, false: 507}[i < 1000]; status != want {
			t.Fatalf("segment %d: %d, want %d", i, status, want)
		}
	}
}

// A fault of the centre is told to whoever runs it, and a laptop is told no details.
func TestFaultsAreReported(t *testing.T) {
	w := newWorld(t)
	grant := w.enrol("one")
	var told []error
	w.site.Report = func(err error) { told = append(told, err) }
	if status := w.call("", "GET", enrolment.BundlePath, nil, nil); status != 401 || len(told) > 0 {
		t.Errorf("a refusal: %d, %v", status, told)
	}
	w.must(w.centre.Close())
	var said enrolment.Refusal
	if status := w.call(grant.Token, "GET", enrolment.BundlePath, nil, &said); status != 503 || len(told) != 1 || strings.Contains(said.Description, "closed") {
		t.Errorf("a fault: %d, %+v, %v", status, said, told)
	}
	if status, _ := w.visit("/"); status != 401 && len(told) < 2 {
		t.Errorf("a page: %d, %v", status, told)
	}
}

// Whatever texts come from laptops, no page has a mark-up of theirs, a control character, or a
// character that hides or turns others.
func TestHostileTextsOnEveryPage(t *testing.T) {
	slow.Test(t)
	w := newWorld(t)
	texts := []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `javascript:alert(1)`, `{{.Who}}`, `</title><b>`, "a\u202eb\u2066c", "\x1b[31mred\x07",
		"zero\u200bwidth\ufeff", "line\nbreak\r\t", "null\x00byte", "bad\xffutf8", "\U000E0041tag", strings.Repeat("long ", 2000), `&lt;b&gt;`, "-->", "`${1}`",
	}
	for _, c := range viewtest.Cases() {
		for _, call := range c.Calls {
			texts = append(texts, append(call.Names, call.Server)...)
		}
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	for i, text := range texts {
		grant := w.enrolAt(fmt.Sprint(text, i), fmt.Sprint("address", i))
		w.call(grant.Token, "POST", enrolment.StatePath, enrolment.Report{Error: text, Version: text, Revision: text}, nil)
		call := recordedCall("deny", text, "{}")
		call.Server, call.Reason, call.RuleFile, call.RuleText, call.Code, call.Method = text, text, text, text, text, text
		call.Args = fmt.Appendf(nil, `{"path":%s}`, quoteJSON(text))
		for name, segment := range recordSegments(t, audit.Options{}, call) {
			w.ship(grant.Token, name, 0, append(bytes.Clone(segment), text...), true)
		}
	}
	for i, text := range texts {
		w.must(w.centre.Store.AddKey(t.Context(), store.Key{ID: fmt.Sprint("key", i), Name: text, Roles: []string{text}, Expires: time.Now().Add(time.Hour)}, "hash", "", time.Time{}))
		counter := uint64(2 * i)
		w.must(w.centre.Store.AddBundle(t.Context(), store.Bundle{Counter: counter + 1, Key: text, By: text, Bytes: []byte("x")}))
		w.must(w.centre.Store.AddProposal(t.Context(), store.Proposal{Bundle: store.Bundle{Counter: counter + 2, Digest: text, Key: text, By: text, Bytes: []byte(text)}}))
		_, err := w.centre.Store.ChangeProposal(t.Context(), counter+2, func(p *store.Proposal) error {
			p.Votes = []store.Vote{{By: local(text), Allow: i%2 == 0, Way: text, Words: text}}
			return nil
		})
		w.must(err)
		w.centre.Settings.Workloads = append(w.centre.Settings.Workloads, workload.Settings{Name: text, Issuer: text, Audience: text, Roles: []string{text}, Claims: map[string]string{text: text}})
		w.must(w.centre.Store.TouchWorkload(t.Context(), store.WorkloadUse{Rule: text, Issuer: text, Subject: text, Used: time.Now()}))
	}
	asked := w.enrolAt("asks", "asks")
	paths := []string{"/", questionsPage, laptopsPage, recordsPage, recordsPage + "?kind=all", bundlesPage, keysPage, enrollPage, mePage}
	w.signIn()
	for i, c := range viewtest.Cases() {
		for _, call := range c.Calls {
			text := strings.Join(call.Names, " ")
			a := askWhat("1", 1, "role:"+"oncall", "person:<b>\u202e@x")
			a.Digest, a.Server, a.Client, a.Why, a.RuleFile, a.RuleText, a.Session = fmt.Sprintf("%064d", i), text, text, text, text, text, text
			a.Calls = []enrolment.ShownCall{{Subject: call.Subject.RuleKey(), Server: call.Server, Method: call.Method, Names: call.Names, Args: call.Args}}
			var q enrolment.QuestionState
			if w.call(asked.Token, "POST", enrolment.QuestionsPath, a, nil) == 200 { // some cannot be shown, or are too many
				w.call(asked.Token, "POST", enrolment.QuestionsPath, a, &q)
				for _, path := range []string{questionsPage, questionsPage + "/" + q.ID} {
					if status, body := w.visit(path); status != 200 {
						t.Errorf("%s: %d", path, status)
					} else {
						checkHarmless(t, path, body)
					}
				}
				w.call(asked.Token, "DELETE", enrolment.QuestionsPath+"/"+q.ID, nil, nil)
			}
		}
	}
	w.signIn()
	laptops, err := w.centre.Store.ListLaptops(t.Context())
	w.must(err)
	records, err := w.centre.Store.ListRecords(t.Context(), store.Query{Most: 1000})
	w.must(err)
	for _, l := range laptops {
		paths = append(paths, laptopsPage+"/"+l.ID)
	}
	for _, r := range records {
		paths = append(paths, fmt.Sprint(recordsPage, "/", r.ID), page.Address(recordsPage, "tool", r.Name, "server", r.Server), page.Address(recordsPage, "rule", r.Rule))
	}
	shown := 0
	look := func(path string) {
		t.Helper()
		status, body := w.visit(path)
		if status != 200 && status != 400 && len(path) < maxForm {
			t.Errorf("%s: %d", path, status)
		}
		if strings.Contains(body, "onerror") {
			shown++
		}
		checkHarmless(t, path, body)
	}
	for i, text := range texts {
		paths = append(paths, page.Address(enrollPage, "code", text), page.Address(recordsPage, "session", text), page.Address(recordsPage, "since", text), page.Address(recordsPage, "label", text), page.Address(recordsPage, text, "x"))
		code, err := w.centre.BeginEnrolment(t.Context(), enrolment.AskEnrolment{Name: text, OS: text, Version: text}, fmt.Sprint("address", i))
		w.must(err)
		look(page.Address(enrollPage, "code", code.UserCode))
		_, err = w.centre.DecideWish(t.Context(), code.UserCode, false, local(text))
		w.must(err)
	}
	for i, path := range paths {
		if i%5 == 0 {
			w.signInAs(fmt.Sprint("administrator", i)) // one person may not guess so many codes
		}
		look(path)
	}
	if shown < 5 {
		t.Errorf("the texts stand on %d pages only", shown)
	}
}

// Names that our own templates write.
var (
	knownTags = strings.Fields("html head meta title link body header h1 h2 h3 nav a p form input button main section ul li code span time ol details summary strong dl dt dd " +
		"div table thead tbody tr th td svg rect select option label")
	knownAttributes = strings.Fields("lang charset name content rel href type class aria-current aria-label aria-hidden method action value datetime viewbox preserveaspectratio " +
		"role x y width height scope selected placeholder autocomplete spellcheck http-equiv maxlength enctype")
	knownLinks = regexp.MustCompile(`^/(page\.css|icon\.svg|questions|laptops|records|bundles|keys|health|enroll|me|oidc/begin|)([/?][ -~]*)?$`)
)

// checkHarmless fails if a page has anything that no template of ours writes.
func checkHarmless(t *testing.T, path, body string) {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(body))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.CommentToken:
			t.Errorf("%s has a comment", path)
		}
		token := z.Token()
		if token.Type == html.StartTagToken || token.Type == html.SelfClosingTagToken {
			if !slices.Contains(knownTags, token.Data) {
				t.Errorf("%s has a tag <%s>", path, token.Data)
			}
		}
		for _, a := range token.Attr {
			if !slices.Contains(knownAttributes, strings.ToLower(a.Key)) {
				t.Errorf("%s has an attribute %s", path, a.Key)
			}
			if (a.Key == "href" || a.Key == "action") && !knownLinks.MatchString(a.Val) && a.Val != "/revoke" && a.Val != "/revoke-key" && a.Val != "/answer" && a.Val != answerBundlePath && a.Val != simulatePath && a.Val != "/sign-out" {
				t.Errorf("%s leads to %q", path, a.Val)
			}
			checkCharacters(t, path, a.Val)
		}
		if token.Type == html.TextToken {
			checkCharacters(t, path, strings.ReplaceAll(token.Data, "\n", " "))
		}
	}
}

func checkCharacters(t *testing.T, path, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s has a text that is not UTF-8: %q", path, text)
	}
	for _, r := range text {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) {
			t.Errorf("%s shows %U: %q", path, r, text)
			return
		}
	}
}

func quoteJSON(s string) []byte {
	quoted, _ := json.Marshal(strings.ToValidUTF8(s, "?"))
	return quoted
}

var (
	recordLink = regexp.MustCompile(`<dt>record</dt><dd><a href="/records/([0-9]+)">`)
	olderLink  = regexp.MustCompile(`<a class="do" href="([^"]*)">Older</a>`)
)
