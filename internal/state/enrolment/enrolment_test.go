package enrolment

import (
	"errors"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/policy"
)

func newEnrolment(t *testing.T) Enrolment {
	t.Helper()
	return Enrolment{URL: "https://centre.example", Laptop: "lp_1", Token: "secret", BundleKeys: []string{"team.example+1234abcd+AQ=="}, Offline: Offline{Days: 7, Then: Keep}, Since: time.Now().UTC()}
}

func TestEnrolmentIsKeptAndRemoved(t *testing.T) {
	state := t.TempDir()
	if _, err := ReadEnrolment(state); !errors.Is(err, ErrNone) || IsEnrolled(state) {
		t.Fatalf("nothing written yet: %v", err)
	}
	if err := RemoveEnrolment(t.Context(), state); !errors.Is(err, ErrNone) {
		t.Fatalf("removed nothing: %v", err)
	}
	e := newEnrolment(t)
	if err := WriteEnrolment(state, e); err != nil {
		t.Fatal(err)
	}
	got, err := ReadEnrolment(state)
	if err != nil || got.URL != e.URL || got.Token != e.Token || got.BundleKeys[0] != e.BundleKeys[0] || !got.Since.Equal(e.Since) || !IsEnrolled(state) {
		t.Fatalf("read %+v, %v", got, err)
	}
	if info, err := os.Stat(enrolmentFile(state)); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o600) {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	if p, err := ReadProgress(state); err != nil || !p.Reached.Equal(e.Since) {
		t.Fatalf("progress %+v, %v", p, err)
	}
	if err := RemoveEnrolment(t.Context(), state); err != nil || IsEnrolled(state) {
		t.Fatalf("removed: %v", err)
	}
	if left, _ := os.ReadDir(state); len(left) != 0 {
		t.Fatalf("left %v", left)
	}
	if err := ChangeProgress(state, func(*Progress) {}); !errors.Is(err, ErrNone) {
		t.Fatalf("changed the progress of no enrolment: %v", err)
	}
}

func TestEnrolmentThatOthersCanReadIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are of Unix; internal/state/access has the tests of access lists")
	}
	state := t.TempDir()
	if err := WriteEnrolment(state, newEnrolment(t)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(enrolmentFile(state), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadEnrolment(state); err == nil || errors.Is(err, ErrNone) {
		t.Fatalf("read: %v", err)
	}
}

func TestUnusableEnrolmentIsRefused(t *testing.T) {
	for name, change := range map[string]func(*Enrolment){
		"http of another machine": func(e *Enrolment) { e.URL = "http://centre.example" },
		"path":                    func(e *Enrolment) { e.URL = "https://centre.example/a" },
		"user":                    func(e *Enrolment) { e.URL = "https://a:b@centre.example" },
		"other scheme":            func(e *Enrolment) { e.URL = "file:///etc" },
		"laptop with a slash":     func(e *Enrolment) { e.Laptop = "../x" },
		"no token":                func(e *Enrolment) { e.Token = "" },
		"token with a line end":   func(e *Enrolment) { e.Token = "a\r\nb: c" },
		"no key":                  func(e *Enrolment) { e.BundleKeys = nil },
		"no days":                 func(e *Enrolment) { e.Offline.Days = 0 },
		"other rule":              func(e *Enrolment) { e.Offline.Then = "allow" },
	} {
		e := newEnrolment(t)
		change(&e)
		state := t.TempDir()
		if err := WriteEnrolment(state, e); err == nil {
			t.Errorf("%s: kept", name)
		}
		if left, _ := os.ReadDir(state); len(left) != 0 {
			t.Errorf("%s: left %v", name, left)
		}
	}
}

func TestAddressOfACentre(t *testing.T) {
	for text, want := range map[string]string{
		"https://centre.example/": "https://centre.example",
		"http://127.0.0.1:8080":   "http://127.0.0.1:8080",
		"http://[::1]:80":         "http://[::1]:80",
		"http://localhost":        "http://localhost",
	} {
		if u, err := ParseURL(text); err != nil || u.String() != want {
			t.Errorf("%s: %v, %v", text, u, err)
		}
	}
	if _, err := ParseURL("http://127.0.0.1.evil.example"); err == nil || !strings.Contains(err.Error(), "https") {
		t.Errorf("%v", err)
	}
	for _, text := range []string{"https://ann:secret@centre.example", "https://ann:secret/x@centre.example", "http://ann:secret@centre.example/%"} {
		if _, err := ParseURL(text); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestCounterNeverGoesBack(t *testing.T) {
	state := t.TempDir()
	if err := WriteEnrolment(state, newEnrolment(t)); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for n := range uint64(20) {
		all.Go(func() {
			if err := ChangeProgress(state, func(p *Progress) { p.Counter = n + 1; p.Backlog++ }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	p, err := ReadProgress(state)
	if err != nil || p.Counter != 20 || p.Backlog != 20 {
		t.Fatalf("%+v, %v", p, err)
	}
}

func TestLapse(t *testing.T) {
	state := t.TempDir()
	now := time.Now().UTC()
	if l, err := FindLapse(state, now); err != nil || l.Text != nil || l.Watch != "" {
		t.Fatalf("not enrolled: %+v, %v", l, err)
	}
	e := newEnrolment(t)
	for _, c := range []struct {
		then string
		age  time.Duration
		deny bool
	}{{Deny, 0, false}, {Deny, 7*24*time.Hour - time.Second, false}, {Deny, 7 * 24 * time.Hour, true}, {Keep, 8 * 24 * time.Hour, false}, {Deny, -time.Hour, false}} {
		e.Offline.Then, e.Since = c.then, now.Add(-c.age)
		if err := WriteEnrolment(state, e); err != nil {
			t.Fatal(err)
		}
		l, err := FindLapse(state, now)
		if err != nil || (l.Text != nil) != c.deny {
			t.Errorf("%s after %s: %q, %v", c.then, c.age, l.Text, err)
		}
	}
	e.Offline.Then, e.Since = Deny, now.Add(-8*24*time.Hour)
	if err := WriteEnrolment(state, e); err != nil {
		t.Fatal(err)
	}
	l, err := FindLapse(state, now)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(l.Path, l.Text, policy.Options{Layer: "organisation"})
	if err != nil {
		t.Fatal(err)
	}
	for s, name := range map[policy.Subject]string{policy.ToolSubject: "a/b", policy.ResourceSubject: "file:///x/y", policy.PromptSubject: "p", policy.SamplingSubject: "m", policy.ElicitationSubject: "form"} {
		if d := p.Decide(&policy.Call{Subject: s, Names: []string{name}}); d.Action != policy.Deny || d.Rule == nil {
			t.Errorf("%v %s: %v", s, name, d.Action)
		}
	}
	if err := ChangeProgress(state, func(p *Progress) { p.Reached = now }); err != nil {
		t.Fatal(err)
	}
	if l, err := FindLapse(state, now); err != nil || l.Text != nil {
		t.Errorf("reached again: %q, %v", l.Text, err)
	}
	// Doubt is no permission.
	if err := os.WriteFile(progressFile(state), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := FindLapse(state, now); err == nil {
		t.Error("a damaged progress loads")
	}
	if err := os.Remove(progressFile(state)); err != nil {
		t.Fatal(err)
	}
	if l, err := FindLapse(state, now); err != nil || l.Text == nil {
		t.Errorf("a lost progress: %q, %v", l.Text, err)
	}
}

// An enrolment that cannot be read may have had a rule that denies: it is no reason to allow.
func TestDamagedEnrolmentStopsEverything(t *testing.T) {
	state := t.TempDir()
	if err := WriteEnrolment(state, newEnrolment(t)); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{", "{}", `{"url":"http://elsewhere.example"}`} {
		if err := os.WriteFile(enrolmentFile(state), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := FindLapse(state, time.Now()); err == nil || !strings.Contains(err.Error(), "clawai unenroll") {
			t.Errorf("%q: %v", text, err)
		}
		if s := FindStanding(state, time.Now()); s == nil || !s.Broken {
			t.Errorf("%q: %+v", text, s)
		}
	}
	if err := RemoveEnrolment(t.Context(), state); err != nil {
		t.Errorf("it cannot be removed: %v", err)
	}
}

// FuzzParseURL: what is an address of a centre is an origin and nothing more, reads the same again, and
// sends the token in clear to this machine alone.
func FuzzParseURL(f *testing.F) {
	for _, text := range []string{"https://centre.example", "https://centre.example:8443/", "http://localhost:1", "http://[::1%25lo]/", "https://a@b", "HTTPS://CENTRE", "http://127.1", "https://centre.example/?", "https://centre.example#", "//x", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := ParseURL(text)
		if err != nil {
			return
		}
		origin := u.String()
		again, err := ParseURL(origin)
		if err != nil || again.String() != origin || origin != u.Scheme+"://"+strings.TrimPrefix(origin, u.Scheme+"://") || strings.Count(origin, "/") != 2 || strings.ContainsAny(origin, "?#@") {
			t.Fatalf("%q is %q, and %v, %v", text, origin, again, err)
		}
		if ip, err := netip.ParseAddr(u.Hostname()); u.Scheme != "https" && u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback()) {
			t.Fatalf("%q would go in clear", text)
		}
	})
}
