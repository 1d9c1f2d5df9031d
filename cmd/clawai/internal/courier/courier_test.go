package courier

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/testing/centretest"
	"github.com/clawai/clawai/internal/testing/rulemix"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

const (
	denyPush = "[[rule]]\naction = \"deny\"\ntool = \"*push*\"\ndescription = \"A push is a release\"\n"
	denyAll  = "[[rule]]\naction = \"deny\"\ntool = \"*\"\n"
)

// laptop is an enrolled laptop with its centre.
type laptop struct {
	*testing.T
	centre  *centretest.Centre
	folders config.Folders
}

func newFolders(t *testing.T) config.Folders {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := config.Folders{Config: filepath.Join(dir, "config"), State: filepath.Join(dir, "state"), Home: rulemix.Home}
	for _, folder := range []string{f.Config, f.State} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func enrol(t *testing.T, centre *centretest.Centre) *laptop {
	t.Helper()
	l := &laptop{t, centre, newFolders(t)}
	c := NewCentre(l.folders, centre.URL(), "")
	defer c.Close()
	code, err := c.AskCode(t.Context(), enrolment.EnrollPath, enrolment.AskEnrolment{Name: "a", OS: "linux", Version: "1"})
	l.must(err)
	code.Interval = 0
	var g enrolment.Grant
	err = c.AwaitGrant(t.Context(), enrolment.TokenPath, code, &g)
	l.must(err)
	l.must(enrolment.WriteEnrolment(l.folders.State, enrolment.Enrolment{URL: centre.URL(), Laptop: g.Laptop, Token: g.Token, BundleKeys: g.BundleKeys, Offline: g.Offline, Since: time.Now().UTC()}))
	return l
}

func (l *laptop) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// poll polls once, by a new courier.
func (l *laptop) poll() (Active, error) {
	l.Helper()
	c, err := NewCourier(l.folders)
	l.must(err)
	defer c.Close()
	return c.Poll(l.Context())
}

func (l *laptop) progress() enrolment.Progress {
	l.Helper()
	p, err := enrolment.ReadProgress(l.folders.State)
	l.must(err)
	return p
}

// wants polls, and compares what is in force then: the counter, and a part of why the newest bundle is
// not; "" if it is.
func (l *laptop) wants(counter uint64, refused string) {
	l.Helper()
	a, err := l.poll()
	l.must(err)
	p := l.progress()
	if a.Counter != counter || p.Counter != counter || !strings.Contains(p.Refused, refused) || (refused == "") != (p.Refused == "") {
		l.Fatalf("the bundle %d is in force (%+v), want %d and %q", a.Counter, p, counter, refused)
	}
}

// answers returns what the owner's policy, which allows all, and the layers say of a tool.
func (l *laptop) answers(tool string) policy.Action {
	l.Helper()
	l.must(os.WriteFile(l.folders.PolicyFile(), []byte("[[rule]]\naction = \"allow\"\ntool = \"*\"\n"), 0o600))
	loaded, err := base.Files{}.Load(l.folders)
	l.must(err)
	return loaded.Policy.Decide(&policy.Call{Server: "s", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{tool}}).Action
}

func fixture(name, tool, expected string) bundle.File {
	return bundle.File{Name: "fixtures/" + name, Text: []byte(`{"method":"tools/call","params":{"name":"` + tool + `","arguments":{}},"expected":"` + expected + `"}`)}
}

func TestBundleComesIntoForce(t *testing.T) {
	centre := centretest.Start(t)
	l := enrol(t, centre)
	l.wants(0, "")
	if got := l.answers("git_push"); got != policy.Allow {
		t.Fatalf("without a bundle: %v", got)
	}
	centre.Publish(centre.Sign(t, 3, denyPush, fixture("push.json", "git_push", "deny")))
	l.wants(3, "")
	if l.answers("git_push") != policy.Deny || l.answers("git_pull") != policy.Allow {
		t.Error("the bundle is not in force")
	}
	first := l.progress()
	l.wants(3, "")
	if again := l.progress(); !again.Activated.Equal(first.Activated) || again.Revision == "" {
		t.Errorf("activated again: %+v, %+v", first, again)
	}
	unchanged := 0
	for _, r := range centre.Requests() {
		if r == "GET /v1/bundle 304" {
			unchanged++
		}
	}
	if unchanged != 1 {
		t.Errorf("requests %q", centre.Requests())
	}
	reports := centre.Reports()
	if last := reports[len(reports)-1]; last.Counter != 3 || last.Revision != first.Revision || last.Error != "" || last.Version == "" {
		t.Errorf("reported %+v", last)
	}
	centre.Publish(nil) // the centre has lost it: nothing is no bundle
	l.wants(3, "")
	if l.answers("git_push") != policy.Deny {
		t.Error("a centre without a bundle has loosened this laptop")
	}
}

// Whatever is wrong with a bundle, the old one stays in force, byte for byte.
func TestOldBundleIsKept(t *testing.T) {
	centre := centretest.Start(t)
	l := enrol(t, centre)
	good := centre.Sign(t, 5, denyPush)
	centre.Publish(good)
	l.wants(5, "")
	stranger := centretest.Start(t)
	tampered := append([]byte{}, centre.Sign(t, 6, denyAll)...)
	tampered[len(tampered)-3] ^= 1
	unsigned, err := bundle.Write(bundle.Bundle{Counter: 6, Created: time.Now(), Files: []bundle.File{{Name: "policy.toml", Text: []byte(denyAll)}}})
	l.must(err)
	for _, c := range []struct {
		name string
		src  []byte
		want string
	}{
		{"an older one", centre.Sign(t, 4, denyAll), "counter is 4, and 5 was in force"},
		{"other rules under the same counter", centre.Sign(t, 5, denyAll), "its rules are others"},
		{"another key", stranger.Sign(t, 6, denyAll), "none of the keys"},
		{"no signature", unsigned, "not signed"},
		{"a changed byte", tampered, "not the one that was signed"},
		{"half of it", centre.Sign(t, 6, denyAll)[:100], "bundle"},
		{"a page of a proxy", []byte("<html>"), "no bundle"},
		{"a fixture that fails", centre.Sign(t, 6, denyAll, fixture("a.json", "x", "allow")), "fixtures/a.json gets deny, expected allow"},
		{"a fixture that is none", centre.Sign(t, 6, denyAll, bundle.File{Name: "fixtures/a.json", Text: []byte("{")}), "fixtures/a.json cannot be read"},
		{"a policy that does not load", centre.Sign(t, 6, "[[rule]]\naction = \"deny\"\ntoool = \"*\"\n"), "does not load"},
		{"a server to start", centre.Sign(t, 6, denyAll+"[[upstream]]\ncommand = [\"sh\"]\n"), "does not load"},
	} {
		centre.Publish(c.src)
		l.wants(5, c.want)
		if l.answers("git_push") != policy.Deny || l.answers("git_pull") != policy.Allow {
			t.Errorf("%s: the old rules are not in force", c.name)
		}
		if kept, err := os.ReadFile(enrolment.BundleFile(l.folders.State)); err != nil || string(kept) != string(good) {
			t.Errorf("%s: the old bundle is not kept: %v", c.name, err)
		}
		if reports := centre.Reports(); !strings.Contains(reports[len(reports)-1].Error, c.want) {
			t.Errorf("%s: reported %+v", c.name, reports[len(reports)-1])
		}
	}
	centre.Publish(centre.Sign(t, 6, denyAll))
	l.wants(6, "")
	if l.answers("git_pull") != policy.Deny {
		t.Error("the next good bundle is not in force")
	}
}

// A counter that was in force keeps older bundles out, also if somebody removes what is in force.
func TestCounterOutlivesTheBundle(t *testing.T) {
	centre := centretest.Start(t)
	l := enrol(t, centre)
	centre.Publish(centre.Sign(t, 5, denyPush))
	l.wants(5, "")
	l.must(os.Remove(enrolment.BundleFile(l.folders.State)))
	centre.Publish(centre.Sign(t, 4, denyAll))
	if _, err := l.poll(); err != nil || l.progress().Counter != 5 || !strings.Contains(l.progress().Refused, "counter is 4") {
		t.Errorf("%+v, %v", l.progress(), err)
	}
	// And the other way round: a crash before the progress was written.
	l = enrol(t, centre)
	centre.Publish(centre.Sign(t, 5, denyPush))
	l.wants(5, "")
	l.must(os.Remove(filepath.Join(enrolment.Folder(l.folders.State), "progress.json")))
	centre.Publish(centre.Sign(t, 4, denyAll))
	if _, err := l.poll(); err != nil || l.answers("git_pull") != policy.Allow || !strings.Contains(l.progress().Refused, "counter is 4") {
		t.Errorf("%+v, %v", l.progress(), err)
	}
}

func TestChangedRulesAreWrittenAgain(t *testing.T) {
	centre := centretest.Start(t)
	l := enrol(t, centre)
	centre.Publish(centre.Sign(t, 5, "packs = [\"words.toml\"]\n"+denyPush, bundle.File{Name: "words.toml", Text: []byte(pack)}))
	l.wants(5, "")
	file := enrolment.PolicyFile(l.folders.State)
	words := filepath.Join(filepath.Dir(file), "words.toml")
	for name, change := range map[string]func() error{
		"emptied":        func() error { return os.WriteFile(file, nil, 0o600) },
		"removed":        func() error { return os.Remove(file) },
		"a pack changed": func() error { return os.WriteFile(words, []byte("x"), 0o600) },
		"a link":         func() error { return errors.Join(os.Remove(file), os.Symlink(words, file)) },
		"more":           func() error { return os.WriteFile(filepath.Join(filepath.Dir(file), "more.toml"), []byte("x"), 0o600) },
	} {
		l.must(change())
		l.wants(5, "")
		text, err := os.ReadFile(file)
		if fi, lerr := os.Lstat(file); err != nil || lerr != nil || !fi.Mode().IsRegular() || !strings.HasSuffix(string(text), denyPush) {
			t.Errorf("%s: %q, %v, %v", name, text, err, lerr)
		}
		if text, err := os.ReadFile(words); err != nil || string(text) != pack {
			t.Errorf("%s: the pack is %q, %v", name, text, err)
		}
		if list, _ := os.ReadDir(filepath.Dir(file)); len(list) != 2 {
			t.Errorf("%s: %v", name, list)
		}
		if reports := centre.Reports(); name != "more" && !strings.Contains(reports[len(reports)-1].Error, "were changed on the laptop") {
			t.Errorf("%s: reported %+v", name, reports[len(reports)-1])
		}
	}
	centre.Publish(centre.Sign(t, 6, denyPush)) // without the pack
	l.wants(6, "")
	if list, _ := os.ReadDir(filepath.Dir(file)); len(list) != 1 {
		t.Errorf("left %v", list)
	}
}

const pack = `name = "words"
says = "words of a team"

[[pattern]]
says = "a word"
near = ["secret"]
regex = "secret-[0-9]+"
match = ["a secret-1"]
not = ["a secret"]
`

func TestCentreThatFailsChangesNothing(t *testing.T) {
	centre := centretest.Start(t)
	l := enrol(t, centre)
	centre.Publish(centre.Sign(t, 5, denyPush))
	l.wants(5, "")
	reached := l.progress().Reached
	for status, want := range map[int]string{404: "no centre of clawai", 500: "500", 502: "502", 401: "does not know this laptop", 403: "does not know this laptop", 302: "302"} {
		centre.Fail(status)
		_, err := l.poll()
		if err == nil || !strings.Contains(err.Error(), want) || l.progress().Error != err.Error() || !l.progress().Reached.Equal(reached) {
			t.Errorf("%d: %v, %+v", status, err, l.progress())
		}
		if l.answers("git_push") != policy.Deny {
			t.Errorf("%d has loosened this laptop", status)
		}
	}
	centre.Fail(0)
	l.wants(5, "")
	if p := l.progress(); p.Error != "" || !p.Reached.After(reached) {
		t.Errorf("%+v", p)
	}
}

// A centre that names another number of bytes each time does not keep the process busy.
func TestCentreThatMovesWhatItHolds(t *testing.T) {
	l := enrol(t, centretest.Start(t))
	log, err := audit.Open(base.RecordDir(l.folders.State), audit.Options{})
	l.must(err)
	l.must(log.Record(&event.Event{Kind: event.Upkeep}))
	l.must(log.Close())
	var puts atomic.Int64
	mover := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int64(0)
		if r.Method == http.MethodPut {
			n = puts.Add(1)
			w.WriteHeader(http.StatusConflict)
		}
		_, _ = fmt.Fprintf(w, `{"size":%d,"complete":false}`, 10*(n%2))
	}))
	defer mover.Close()
	centre := NewCentre(l.folders, mover.URL, "token")
	defer centre.Close()
	s := newShipper(l.folders.State, time.Now().Add(-time.Hour), centre)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, _, err := s.shipRound(ctx); err == nil || ctx.Err() != nil || puts.Load() > 10 {
		t.Errorf("%d uploads, %v", puts.Load(), err)
	}
}

func TestDamagedProgressIsReplaced(t *testing.T) {
	centre := centretest.Start(t)
	l := enrol(t, centre)
	centre.Publish(centre.Sign(t, 5, denyPush))
	l.wants(5, "")
	l.must(os.WriteFile(filepath.Join(enrolment.Folder(l.folders.State), "progress.json"), []byte("{"), 0o600))
	centre.Publish(centre.Sign(t, 4, denyAll))
	l.wants(5, "4, and 5 was in force already")
	if l.progress().Reached.IsZero() || l.answers("git_push") != policy.Deny || l.answers("x") != policy.Allow {
		t.Errorf("%+v", l.progress())
	}
}

func TestEnrolmentEndsWithoutATrace(t *testing.T) {
	centre := centretest.Start(t)
	l := enrol(t, centre)
	centre.Publish(centre.Sign(t, 5, denyAll))
	l.wants(5, "")
	if l.answers("x") != policy.Deny {
		t.Fatal("not in force")
	}
	l.must(EndEnrolment(t.Context(), l.folders.State))
	if l.answers("x") != policy.Allow || enrolment.IsEnrolled(l.folders.State) {
		t.Error("the rules of the centre still hold")
	}
	if _, err := os.Lstat(enrolment.Folder(l.folders.State)); err == nil {
		t.Error("files are left")
	}
	if err := EndEnrolment(t.Context(), l.folders.State); !errors.Is(err, enrolment.ErrNone) {
		t.Errorf("ended twice: %v", err)
	}
}

func TestDeviceCode(t *testing.T) {
	for code, want := range map[string]string{enrolment.Refused: "denied at the centre", enrolment.Expired: "in time", "other": "400"} {
		centre := centretest.Start(t)
		centre.Answer = code
		c := NewCentre(newFolders(t), centre.URL(), "")
		err := c.AwaitGrant(t.Context(), enrolment.TokenPath, enrolment.DeviceCode{DeviceCode: "device-1", ExpiresIn: 60}, &enrolment.Grant{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", code, err)
		}
		c.Close()
	}
	centre := centretest.Start(t)
	centre.Answer = enrolment.Pending
	c := NewCentre(newFolders(t), centre.URL(), "")
	defer c.Close()
	var g enrolment.Grant
	if err := c.AwaitGrant(t.Context(), enrolment.TokenPath, enrolment.DeviceCode{DeviceCode: "device-1", ExpiresIn: 60}, &g); err != nil || g.Laptop != "lp-1" {
		t.Errorf("%+v, %v", g, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.AwaitGrant(ctx, enrolment.TokenPath, enrolment.DeviceCode{DeviceCode: "device-1", ExpiresIn: 60, Interval: 60}, &g); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// The record at the centre is, byte for byte, that of the laptop: whatever fails on the way.
func TestRecordIsCopied(t *testing.T) {
	slow.Test(t)
	centre := centretest.Start(t)
	l := enrol(t, centre)
	dir := base.RecordDir(l.folders.State)
	c, err := NewCourier(l.folders)
	l.must(err)
	defer c.Close()
	r := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		log, err := audit.Open(dir, audit.Options{MaxBytes: 20 << 10})
		l.must(err)
		for i := range 100 {
			l.must(log.Record(&event.Event{Kind: event.Upkeep, Detail: strings.Repeat("x", 100+r.IntN(900))}))
			switch {
			case i%10 == 3:
				_, _ = c.Ship(t.Context())
			case i%10 == 5:
				centre.CutPuts(1)
				_, _ = c.Ship(t.Context())
			case i%10 == 7:
				centre.Fail(http.StatusServiceUnavailable)
				if _, err := c.Ship(t.Context()); err == nil && i > 10 {
					t.Error("a centre that fails is no error")
				}
				centre.Fail(0)
			case i%30 == 11: // another process goes on
				c.Close()
				c, err = NewCourier(l.folders)
				l.must(err)
			}
			c.shipper.later = map[string]time.Time{}
		}
		l.must(log.Close())
	}
	for more := true; more; {
		more, err = c.Ship(t.Context())
		l.must(err)
	}
	list, err := audit.ListSegments(dir)
	l.must(err)
	texts, complete := centre.Segments()
	if len(list) < 6 || len(texts) != len(list) {
		t.Fatalf("%d segments here, %d there", len(list), len(texts))
	}
	for _, s := range list {
		here, err := os.ReadFile(filepath.Join(dir, s.Name))
		l.must(err)
		name := "lp-1/" + s.Session + "/" + s.Name
		if texts[name] != string(here) || complete[name] != s.Closed {
			t.Errorf("%s: %d bytes here, %d there, complete %v", s.Name, len(here), len(texts[name]), complete[name])
		}
	}
	if p := l.progress(); p.Backlog != 0 || p.ShipError != "" || p.Shipped.IsZero() {
		t.Errorf("%+v", p)
	}
	before := len(centre.Requests())
	_, err = c.Ship(t.Context())
	if l.must(err); len(centre.Requests()) != before {
		t.Error("a record without anything new costs requests")
	}
}

func TestOlderRecordsStayHere(t *testing.T) {
	centre := centretest.Start(t)
	l := enrol(t, centre)
	for _, age := range []time.Duration{time.Hour, 0} {
		log, err := audit.Open(base.RecordDir(l.folders.State), audit.Options{Now: func() time.Time { return time.Now().Add(-age) }})
		l.must(err)
		l.must(log.Record(&event.Event{Kind: event.Upkeep}))
		l.must(log.Close())
	}
	c, err := NewCourier(l.folders)
	l.must(err)
	defer c.Close()
	_, err = c.Ship(t.Context())
	l.must(err)
	if texts, _ := centre.Segments(); len(texts) != 1 {
		t.Errorf("copied %d segments, want the one that began after the enrolment", len(texts))
	}
	since := time.Date(2026, 11, 30, 15, 0, 0, 0, time.UTC)
	for began, want := range map[time.Time]bool{
		since.Truncate(24 * time.Hour):                      true,
		since.Truncate(24 * time.Hour).Add(-24 * time.Hour): false,
		since.Truncate(24 * time.Hour).Add(24 * time.Hour):  true,
	} {
		if got := IsShipped(audit.Segment{Began: began, Shared: true}, since); got != want {
			t.Errorf("calls of the day %v: %v", began, got)
		}
	}
}

// A segment that was cut on the laptop stays whole at the centre, and both know.
func TestCutRecordIsTold(t *testing.T) {
	centre := centretest.Start(t)
	l := enrol(t, centre)
	dir := base.RecordDir(l.folders.State)
	log, err := audit.Open(dir, audit.Options{})
	l.must(err)
	l.must(log.Record(&event.Event{Kind: event.Upkeep}))
	c, err := NewCourier(l.folders)
	l.must(err)
	defer c.Close()
	_, err = c.Ship(t.Context())
	l.must(err)
	l.must(log.Close())
	list, err := audit.ListSegments(dir)
	l.must(err)
	file := filepath.Join(dir, list[0].Name)
	whole, err := os.ReadFile(file)
	l.must(err)
	l.must(os.Chmod(file, 0o600))
	l.must(os.Truncate(file, 100))
	if _, err := c.Ship(t.Context()); err == nil || !strings.Contains(err.Error(), "cut") {
		t.Errorf("%v", err)
	}
	l.must(os.WriteFile(file, whole, 0o600))
	l.must(os.Chmod(file, 0o400))
	c.shipper.later = map[string]time.Time{}
	_, err = c.Ship(t.Context())
	l.must(err)
	if _, complete := centre.Segments(); !complete["lp-1/"+list[0].Session+"/"+list[0].Name] {
		t.Error("not complete")
	}
	l.must(os.Chmod(file, 0o600))
	l.must(os.Truncate(file, 100)) // after all of it was copied, too
	if _, err := c.Ship(t.Context()); err == nil || !strings.Contains(err.Error(), "cut") {
		t.Errorf("%v", err)
	}
	_, err = l.poll()
	l.must(err)
	if reports := centre.Reports(); !strings.Contains(reports[len(reports)-1].Error, "cut") {
		t.Errorf("reported %+v", reports[len(reports)-1])
	}
}

// tables are what policies may hold beside rules about calls of tools.
var tables = []string{
	"[[rule]]\naction = \"allow\"\nresource = \"**\"\n",
	"[[rule]]\naction = \"prompt\"\nresource = \"file:///**\"\n",
	"[[rule]]\naction = \"redact\"\non = \"reply\"\ntool = \"**\"\nfind = [\"secret\"]\n",
	"[[rule]]\naction = \"deny\"\non = \"reply\"\ntool = \"read_*\"\nfind = [\"secret\"]\n",
	"[[rule]]\naction = \"prompt\"\non = \"reply\"\ntool = \"*\"\nfind = [\"secret\"]\n",
	"[[rule]]\naction = \"allow\"\non = \"reply\"\ntool = \"*\"\n",
	"[[limit]]\nrate = \"10/min\"\n",
	"[flow]\nlevel = \"off\"\n",
	"[server.files]\npublic_source = true\npublic_sink = false\n",
	"[server.files.sandbox]\nlevel = \"try\"\nread = [\"~/projects\"]\nnet = [\"*\"]\n",
}

// Whatever a bundle holds, no call that was denied or asked about without it becomes allowed.
func TestNoBundleOpensACall(t *testing.T) {
	slow.Test(t)
	l := enrol(t, centretest.Start(t))
	keys := []string{l.centre.Public}
	calls := rulemix.ListCalls()
	r := rand.New(rand.NewPCG(7, 44))
	for _, uri := range []string{"file:///srv/x", "https://a.example/b"} {
		calls = append(calls, policy.Call{Server: "files", Method: "resources/read", Subject: policy.ResourceSubject, Names: []string{uri}, Screened: true})
	}
	// For each call, the answer to it, and to replies to it in which this or that was found; at the end
	// the levels, turned round, so that a stricter one is smaller.
	answersOf := func() (all []policy.Action) {
		loaded, err := base.Files{}.Load(l.folders)
		l.must(err)
		for i := range calls {
			all = append(all, loaded.Policy.Decide(&calls[i]).Action)
			for _, found := range [][]string{nil, {"secret"}} {
				all = append(all, loaded.Policy.DecideReply(policy.OnReply, calls[i:i+1], found).Action)
			}
		}
		return append(all, policy.Action(policy.Strict-loaded.Policy.FlowLevel()), policy.Action(policy.CageEnforce-loaded.Policy.CageLevel("files")))
	}
	more := func(src string) string {
		for _, part := range tables {
			if r.IntN(4) == 0 {
				src += part
			}
		}
		return src
	}
	tightened, asked := 0, 0
	for counter := uint64(1); counter <= 150; counter++ {
		own, theirs := more(rulemix.WritePolicy(r)), more(rulemix.WritePolicy(r))
		l.must(os.WriteFile(l.folders.PolicyFile(), []byte(own), 0o600))
		l.must(os.RemoveAll(filepath.Dir(enrolment.PolicyFile(l.folders.State))))
		without := answersOf()
		a, err := activate(l.folders, l.centre.Sign(t, counter, theirs), keys)
		if err != nil || a.Counter != counter {
			t.Fatalf("%+v, %v\n%s", a, err, theirs)
		}
		for i, with := range answersOf() {
			if with > without[i] {
				t.Fatalf("answer %d of call %+v becomes %v with a bundle, and was %v\nown:\n%s\nbundle:\n%s", i%3, calls[min(i/3, len(calls)-1)], with, without[i], own, theirs)
			}
			if with < without[i] {
				tightened++
			}
			if with == policy.Prompt {
				asked++
			}
		}
	}
	if tightened < 1000 || asked < 1000 {
		t.Errorf("%d answers were tightened and %d asked: these policies prove nothing", tightened, asked)
	}
}

// The process that stays takes a bundle and copies records, and ends when it is not wanted.
func TestStay(t *testing.T) {
	slow.Test(t)
	centre := centretest.Start(t)
	l := enrol(t, centre)
	if !enrolment.WantSync(l.folders.State, time.Now()) {
		t.Fatal("nobody stays, and no process is wanted")
	}
	done := make(chan error, 1)
	go func() {
		done <- Stay(t.Context(), l.folders, Pace{Poll: 50 * time.Millisecond, Ship: 20 * time.Millisecond})
	}()
	await := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s does not happen: %+v", what, l.progress())
			}
		}
	}
	centre.Publish(centre.Sign(t, 1, denyPush))
	await("the bundle", func() bool { return l.progress().Counter == 1 })
	log, err := audit.Open(base.RecordDir(l.folders.State), audit.Options{})
	l.must(err)
	l.must(log.Record(&event.Event{Kind: event.Upkeep, Detail: "while the session runs"}))
	await("the copy", func() bool {
		texts, _ := centre.Segments()
		for _, text := range texts {
			if strings.Contains(text, "while the session runs") {
				return true
			}
		}
		return false
	})
	l.must(log.Close())
	l.must(os.Chtimes(filepath.Join(enrolment.Folder(l.folders.State), "wanted"), time.Now(), time.Now().Add(-time.Minute)))
	if enrolment.WantSync(l.folders.State, time.Now()) {
		t.Error("a process stays, and another one is to be started")
	}
	await("a second one's end", func() bool { return Stay(t.Context(), l.folders, Pace{}) == nil })
	if !enrolment.IsWanted(l.folders.State, time.Now()) {
		t.Error("a session ran just now")
	}
	l.must(EndEnrolment(t.Context(), l.folders.State))
	if err := <-done; err != nil && !errors.Is(err, enrolment.ErrNone) {
		t.Errorf("%v", err)
	}
}
