package site

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/bundle"
)

// candidateForm is the form of a simulation, as a browser sends it.
func (w *world) candidateForm(form, since, file, text string) *http.Request {
	w.t.Helper()
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	w.must(m.WriteField("form", form))
	w.must(m.WriteField("since", since))
	if file != "" {
		part, err := m.CreateFormFile("candidate", file)
		w.must(err)
		_, err = part.Write([]byte(text))
		w.must(err)
	}
	w.must(m.Close())
	r := w.request("POST", simulatePath, body.String())
	r.Header = w.formRequest(simulatePath).Header
	r.Header.Set("Content-Type", m.FormDataContentType())
	return r
}

func (w *world) simulatePage(form, since, file, text string) (int, string) {
	w.t.Helper()
	status, body, _ := w.do(w.browser, w.candidateForm(form, since, file, text))
	return status, body
}

// signedBundle returns a bundle of one policy, signed by the centre's key.
func (w *world) signedBundle(counter uint64, policy string) string {
	w.t.Helper()
	src, err := bundle.Write(bundle.Bundle{Counter: counter, Created: time.Now().UTC().Truncate(time.Second), Files: []bundle.File{{Name: bundle.PolicyName, Text: []byte(policy)}}})
	w.must(err)
	src, err = bundle.Sign(src, w.secret)
	w.must(err)
	return string(src)
}

const (
	denyWrites = "[[rule]]\naction = \"deny\"\ntool = \"write_file\"\ndescription = \"no writes\"\n[[rule]]\naction = \"prompt\"\ntool = \"move_file\"\n[[rule]]\naction = \"deny\"\nresource = \"file:///**\"\n"
	guess      = "[[rule]]\naction = \"deny\"\ntool = \"write_file\"\nargs.path = \"/srv/the-argument\"\n"
)

// A candidate is judged on the page by the recorded calls. Arguments show only to whoever may read them, and a
// policy that asks for them is not judged for anybody else.
func TestSimulationOnAPage(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	grant := w.enrolAs("ana")
	const secret = "the-argument"
	tool := recordedCall("allow", "write_file", `{"path":"/srv/`+secret+`"}`)
	resource := recordedCall("allow", "file:///srv/"+secret, `{"uri":"file:///srv/`+secret+`"}`)
	resource.Subject, resource.Method = "resource", "resources/read"
	for name, segment := range recordSegments(t, audit.Options{}, tool, recordedCall("allow", "read_file", `{}`), resource) {
		if status, _ := w.ship(grant.Token, name, 0, segment, true); status != 200 {
			t.Fatal(status)
		}
	}
	want := []string{"Would be denied", "ana@corp.example", "allow → deny", ">write_file</a>", "no writes", "2 would be denied, 0 asked, 0 released, 0 not known, 1 unchanged",
		"Could change beside rules that say nothing", "move_file", `href="/records/1"`, `href="/records?server=files`}
	for _, c := range []struct {
		role string
		sees bool
	}{{principal.Admin, false}, {principal.Payload, true}} {
		form := w.signInAs("p", c.role)
		if _, body := w.visit(bundlesPage); !strings.Contains(body, `action="/simulate"`) {
			t.Errorf("%s is offered no form", c.role)
		}
		status, body := w.simulatePage(form, "30d", "next.bundle", w.signedBundle(7, denyWrites))
		for _, text := range want {
			if status != 200 || !strings.Contains(body, text) {
				t.Errorf("%s: %d, want %q\n%s", c.role, status, text, body)
			}
		}
		if strings.Contains(body, secret) != c.sees {
			t.Errorf("%s sees the argument: %v\n%s", c.role, !c.sees, body)
		}
		if named := strings.Contains(body, "resources/read"); named == c.sees {
			t.Errorf("%s: the resource without its address: %v", c.role, named)
		}
		checkHarmless(t, c.role, body)
		// Whoever guesses an argument must not find out that it is right.
		status, body = w.simulatePage(form, "30d", "guess.toml", guess)
		if found := strings.Contains(body, "1 would be denied"); found != c.sees || !c.sees && (status != 422 || !strings.Contains(body, "only a signed bundle is judged")) {
			t.Errorf("%s: %d, guesses an argument: %v\n%s", c.role, status, found, body)
		}
	}
	w.signInAs("p", principal.Auditor)
	if _, body := w.visit(bundlesPage); strings.Contains(body, simulatePath) {
		t.Error("an auditor is offered the form")
	}
	if newest, err := w.centre.NewestCounter(t.Context()); err != nil || newest != 0 {
		t.Errorf("a simulation published bundle %d, %v", newest, err)
	}
}

// What cannot be judged is said on the page, and a form of another session judges nothing.
func TestWhatASimulationRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	grant := w.enrol("one")
	form := w.signIn()
	for name, segment := range recordSegments(t, audit.Options{}, recordedCall("allow", "write_file", `{"path":"/x"}`)) {
		w.ship(grant.Token, name, 0, segment, true)
	}
	if status, body := w.simulatePage(form, "30d", "a.toml", denyWrites); status != 200 || !strings.Contains(body, "1 would be denied") {
		t.Fatalf("%d\n%s", status, body)
	}
	for name, c := range map[string]struct {
		form, since, file, text string
		status                  int
		says                    string
	}{
		"another session":          {"00", "30d", "a.toml", denyWrites, 403, "not one of this session"},
		"no file":                  {form, "30d", "", "", 422, "choose one file"},
		"no policy":                {form, "30d", "a.toml", "[[rule]\n", 422, "a.toml:1"},
		"no time":                  {form, "<b>", "a.toml", denyWrites, 422, "&lt;b&gt;"},
		"nothing in the time":      {form, "0s", "a.toml", denyWrites, 422, "nothing was judged"},
		"too large":                {form, "30d", "a.toml", strings.Repeat("#", maxUpload), 413, "clawai-gateway simulate NEW"},
		"a pack of the centre":     {form, "30d", "a.toml", "packs = [\"" + filepath.Join(w.dir, centre.SettingsFile) + "\"]\n" + denyWrites, 422, "packs are taken from a bundle alone"},
		"a file that is not there": {form, "30d", "a.toml", "packs = [\"/nowhere.toml\"]\n" + denyWrites, 422, "packs are taken from a bundle alone"},
		"a file of the centre":     {form, "30d", "a.toml", "[[extends]]\nfile = \"/etc/passwd\"\nsha256 = \"" + strings.Repeat("0", 64) + "\"\n", 422, "extends cannot be followed here"},
		"a thousand and one rules": {form, "30d", "a.toml", strings.Repeat("[[rule]]\naction = \"deny\"\ntool = \"x\"\n", 1001), 422, "it has 1001 rules"},
		"a long pattern":           {form, "30d", "a.toml", denyWrites + "[[rule]]\naction = \"deny\"\ntool = \"" + strings.Repeat("*a", 1001) + "\"\n", 422, "the rule on line 11 has a pattern of more than 2000 bytes"},
		"too many patterns":        {form, "30d", "a.toml", strings.Repeat("[[rule]]\naction = \"deny\"\ntool = ["+strings.Repeat("\"*a*\", ", 1000)+"]\n", 11), 422, "more than 10000 patterns"},
		"nested without end":       {form, "30d", "a.toml", "[[rule]]\ntool = " + strings.Repeat("[", 500_000), 422, "nested more than"},
		"a time before all":        {form, "-5d", "a.toml", denyWrites, 422, "is no time"},
		"a hostile name":           {form, "30d", "<script>\u202e.toml", "x", 422, "&lt;script&gt;"},
		"a bundle that is cut":     {form, "30d", "a.bundle", w.signedBundle(2, denyWrites)[:90], 422, "a.bundle"},
	} {
		status, body := w.simulatePage(c.form, c.since, c.file, c.text)
		if status != c.status || !strings.Contains(body, c.says) || strings.Contains(body, "would be denied") {
			t.Errorf("%s: %d, want %d and %q\n%s", name, status, c.status, c.says, body)
		}
		checkHarmless(t, name, body)
	}
	r := w.candidateForm(form, "30d", "a.toml", denyWrites)
	r.Header.Set("Origin", "https://elsewhere.example")
	if status, _, _ := w.do(w.browser, r); status != 403 {
		t.Errorf("a form of another site: %d", status)
	}
	r = w.candidateForm(form, "30d", "a.toml", denyWrites)
	r.URL.Path = "/revoke"
	if status, _, _ := w.do(w.browser, r); status != 415 {
		t.Errorf("a file for another page: %d", status)
	}
	// One runs at a time.
	if !w.site.beginWork(simulatePath, 1) {
		t.Fatal("a simulation still runs")
	}
	if status, body := w.simulatePage(form, "30d", "a.toml", denyWrites); status != 429 {
		t.Errorf("the second one: %d\n%s", status, body)
	}
	w.site.endWork(simulatePath)
	for range maxUploads {
		w.site.beginWork("upload", maxUploads)
	}
	if status, body := w.simulatePage(form, "30d", "a.toml", denyWrites); status != 429 || !strings.Contains(body, "Other files are being sent") {
		t.Errorf("one upload too many: %d\n%s", status, body)
	}
	for range maxUploads {
		w.site.endWork("upload")
	}
	if status, _ := w.simulatePage(form, "30d", "a.toml", denyWrites); status != 200 {
		t.Errorf("after all of them: %d", status)
	}
}

// Whoever may not simulate is refused before their form is read, so that they can make the centre hold none.
func TestWhoMaySendACandidate(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	for _, role := range []string{principal.Enroll, principal.Auditor, "oncall", "none"} {
		form := w.signInAs("p", role)
		r := w.candidateForm(form, "30d", "a.toml", denyWrites)
		r.Body, r.ContentLength = io.NopCloser(endless{}), -1
		status, body, _ := w.do(w.browser, r)
		if status != 403 || !strings.Contains(body, "This needs the role") {
			t.Errorf("%s: %d\n%s", role, status, body)
		}
	}
	w.browser = w.newBrowser()
	r := w.candidateForm("", "30d", "a.toml", denyWrites)
	r.Body, r.ContentLength = io.NopCloser(endless{}), -1
	if status, _, _ := w.do(w.browser, r); status != 401 {
		t.Errorf("nobody: %d", status)
	}
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '#'
	}
	return len(p), nil
}

// heldStore keeps whoever reads a segment until they are cancelled, and says why they were.
type heldStore struct {
	store.Store
	reads chan struct{}
	ends  chan error
}

func (s *heldStore) ReadSegment(ctx context.Context, _, _ string, _ int64, _ int) ([]byte, error) {
	s.reads <- struct{}{}
	<-ctx.Done()
	s.ends <- ctx.Err()
	return nil, ctx.Err()
}

// A simulation that its client gives up ends, and the next one can run.
func TestASimulationThatIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	grant := w.enrol("one")
	form := w.signIn()
	for name, segment := range recordSegments(t, audit.Options{}, recordedCall("allow", "write_file", "{}")) {
		w.ship(grant.Token, name, 0, segment, true)
	}
	whole := w.centre.Store
	held := &heldStore{whole, make(chan struct{}, 1), make(chan error, 1)}
	w.centre.Store = held
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if resp, err := w.browser.Do(w.candidateForm(form, "30d", "a.toml", denyWrites).WithContext(ctx)); err == nil {
			_ = resp.Body.Close()
		}
	}()
	<-held.reads
	cancel()
	<-gone
	if err := <-held.ends; !errors.Is(err, context.Canceled) { // or it ends by its own time, long after
		t.Errorf("it ends by: %v", err)
	}
	for !w.site.beginWork(simulatePath, 1) {
		time.Sleep(time.Millisecond)
	}
	w.site.endWork(simulatePath)
	w.centre.Store = whole
	if status, body := w.simulatePage(form, "30d", "a.toml", denyWrites); status != 200 || !strings.Contains(body, "1 would be denied") {
		t.Errorf("the next one: %d\n%s", status, body)
	}
}

// Texts of laptops and of the candidate are harmless on the page.
func TestHostileTextsInASimulation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var hostile = []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "a\u202eb", "\x1b[31mred\x07", "bad\xffutf8", "{{.Who}}", "javascript:alert(1)"}
	for i, text := range hostile {
		grant := w.enrolAt(text, fmt.Sprint("address", i))
		call := recordedCall("allow", text, "{}")
		call.Server = text
		call.Args = fmt.Appendf(nil, `{"path":%s}`, quoteJSON(text))
		for name, segment := range recordSegments(t, audit.Options{}, call) {
			w.ship(grant.Token, name, 0, segment, true)
		}
	}
	form := w.signIn()
	status, body := w.simulatePage(form, "1d", `"><b>.toml`, "[[rule]]\naction = \"deny\"\ntool = \"**\"\ndescription = \"<script>\\u202e\"\n")
	if status != 200 || strings.Count(body, "onerror") < 2 || !strings.Contains(body, fmt.Sprint(len(hostile), " would be denied")) {
		t.Errorf("%d\n%s", status, body)
	}
	checkHarmless(t, simulatePath, body)
}
