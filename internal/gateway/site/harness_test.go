package site

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// world is a centre that serves, its administrator's browser, and the key that signs its bundles.
type world struct {
	t        *testing.T
	dir      string
	site     *Site
	listener net.Listener
	centre   *centre.Centre
	secret   string // of bundles
	browser  *http.Client
	laptop   *http.Client
}

// newWorld starts a centre in a folder of its own.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	var public string
	var err error
	w.secret, public, err = bundle.NewKey("team.example")
	w.must(err)
	w.must(os.WriteFile(filepath.Join(w.dir, centre.SettingsFile), fmt.Appendf(nil, "bundle_keys = [%q]\n[offline]\ndays = 3\nthen = \"deny\"\n", public), 0o600))
	w.centre, err = centre.Open(t.Context(), w.dir)
	w.must(err)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	w.must(err)
	w.listener = l
	w.site, err = New(w.centre, l)
	w.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- w.site.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		_ = w.centre.Close()
	})
	jar, err := cookiejar.New(nil)
	w.must(err)
	w.browser = &http.Client{Jar: jar, Timeout: time.Minute}
	w.laptop = &http.Client{Timeout: time.Minute}
	return w
}

// local returns somebody whom a link signs in.
func local(name string) principal.Principal {
	return principal.Principal{Issuer: principal.Local, Subject: name, Name: name, GroupsKnown: true}
}

// host returns what a request's Host must be.
func (w *world) host() string { return w.listener.Addr().String() }

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// do sends a request as it is.
func (w *world) do(c *http.Client, r *http.Request) (int, string, http.Header) {
	w.t.Helper()
	resp, err := c.Do(r)
	w.must(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	w.must(err)
	return resp.StatusCode, string(body), resp.Header
}

func (w *world) request(method, path, body string) *http.Request {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.site.Address()+path, strings.NewReader(body))
	w.must(err)
	return r
}

// visit gets a page as a browser does.
func (w *world) visit(path string) (int, string) {
	w.t.Helper()
	r := w.request("GET", path, "")
	r.Header.Set("Sec-Fetch-Site", "none")
	r.Header.Set("Sec-Fetch-Dest", "document")
	status, body, _ := w.do(w.browser, r)
	return status, body
}

// formRequest is a form of one of our pages.
func (w *world) formRequest(path string, values ...string) *http.Request {
	form := url.Values{}
	for i := 0; i < len(values); i += 2 {
		form.Set(values[i], values[i+1])
	}
	r := w.request("POST", path, form.Encode())
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", w.site.Address())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Sec-Fetch-Dest", "document")
	return r
}

func (w *world) submit(path string, values ...string) (int, string) {
	w.t.Helper()
	status, body, _ := w.do(w.browser, w.formRequest(path, values...))
	return status, body
}

var formToken = regexp.MustCompile(`name="form" value="([0-9a-f]+)"`)

// signIn signs the browser in and returns what its forms send along.
func (w *world) signIn() string {
	w.t.Helper()
	return w.signInAs("administrator")
}

func (w *world) signInAs(who string) string {
	w.t.Helper()
	token, err := w.centre.NewLink(w.t.Context(), who)
	w.must(err)
	if status, body := w.visit(SignInPath + token); status != 200 || !strings.Contains(body, token) {
		w.t.Fatalf("the link: %d\n%s", status, body)
	}
	status, body := w.submit("/sign-in", "token", token)
	found := formToken.FindStringSubmatch(body)
	if status != 200 || found == nil {
		w.t.Fatalf("signing in: %d\n%s", status, body)
	}
	return found[1]
}

// call sends a message of a laptop and reads the answer.
func (w *world) call(token, method, path string, message, answer any) int {
	w.t.Helper()
	var body string
	if message != nil {
		src, err := json.Marshal(message)
		w.must(err)
		body = string(src)
	}
	r := w.request(method, path, body)
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	status, text, _ := w.do(w.laptop, r)
	if answer != nil {
		if err := json.Unmarshal([]byte(text), answer); err != nil {
			w.t.Fatalf("%s %s: %d %q: %v", method, path, status, text, err)
		}
	}
	return status
}

// enrol enrols a laptop of a name, with the administrator's answer on the page.
func (w *world) enrol(name string) enrolment.Grant {
	w.t.Helper()
	form := w.signIn()
	var code enrolment.DeviceCode
	if status := w.call("", "POST", enrolment.EnrollPath, enrolment.AskEnrolment{Name: name, OS: "linux/amd64", Version: "1.2.3"}, &code); status != 200 {
		w.t.Fatalf("enroll: %d", status)
	}
	if status, body := w.submit(enrollPage, "form", form, "code", strings.ToLower(code.UserCode), "answer", "allow"); status != 200 || !strings.Contains(body, "You allowed") {
		w.t.Fatalf("allowing: %d\n%s", status, body)
	}
	var grant enrolment.Grant
	if status := w.call("", "POST", enrolment.TokenPath, enrolment.AskToken{DeviceCode: code.DeviceCode}, &grant); status != 200 {
		w.t.Fatalf("token: %d", status)
	}
	return grant
}

// enrolAt enrols a laptop of any name that asks from an address.
func (w *world) enrolAt(name, address string) enrolment.Grant {
	w.t.Helper()
	code, err := w.centre.BeginEnrolment(w.t.Context(), enrolment.AskEnrolment{Name: name, OS: name, Version: name}, address)
	w.must(err)
	_, err = w.centre.DecideWish(w.t.Context(), code.UserCode, true, local(name))
	w.must(err)
	grant, refusal, err := w.centre.PollToken(w.t.Context(), code.DeviceCode)
	w.must(err)
	if refusal != nil {
		w.t.Fatalf("%+v", refusal)
	}
	return grant
}

// databaseHas reports whether a text is anywhere in the files of the database.
func (w *world) databaseHas(t *testing.T, text string) bool {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(w.dir, "gateway.db*"))
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(src, []byte(text)) {
			return true
		}
	}
	return len(paths) == 0
}

// recordSegments records calls and returns the record's segments.
func recordSegments(t *testing.T, o audit.Options, calls ...event.Event) map[string][]byte {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "audit")
	log, err := audit.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range calls {
		if err := log.Record(&calls[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	paths, _ := filepath.Glob(filepath.Join(dir, "*-*.ndjson"))
	for _, path := range paths {
		if all[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if len(all) == 0 {
		t.Fatal("nothing was recorded")
	}
	return all
}

// recordedCall returns a call as a session records it.
func recordedCall(decision, tool, args string) event.Event {
	return event.Event{
		Kind: event.Decision, Time: time.Now(), Server: "files", Direction: "client", Method: "tools/call", Subject: "tool", Names: []string{tool}, Args: []byte(args),
		Policy: decision, Decision: decision, Stage: "policy", Code: "rule", Reason: "the rule says so", RuleFile: "policy.toml", RuleLine: 7, RuleText: "a rule",
	}
}

// recordsPathOf returns the path of a segment in the interface.
func recordsPathOf(name string) string {
	session, _ := audit.SplitSegmentName(name)
	return enrolment.RecordsPath + session + "/" + name
}

// ship sends a part of a segment.
func (w *world) ship(token, name string, at int, text []byte, complete bool) (int, enrolment.Held) {
	w.t.Helper()
	path := fmt.Sprintf("%s?at=%d", recordsPathOf(name), at)
	if complete {
		path += "&complete=1"
	}
	r, err := http.NewRequestWithContext(w.t.Context(), "PUT", w.site.Address()+path, bytes.NewReader(text))
	w.must(err)
	r.Header.Set("Authorization", "Bearer "+token)
	status, body, _ := w.do(w.laptop, r)
	var held enrolment.Held
	if status == 200 || status == 409 {
		w.must(json.Unmarshal([]byte(body), &held))
	}
	return status, held
}
