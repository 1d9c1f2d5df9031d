package model_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/screening"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/proxy/model"
)

// record keeps what is recorded.
type record struct {
	mu     sync.Mutex
	events []event.Event
}

func (r *record) Record(events ...*event.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ev := range events {
		ev.Record = fmt.Sprintf("r-%d", len(r.events)+1)
		one := *ev
		one.Args = bytes.Clone(ev.Args)
		r.events = append(r.events, one)
	}
	return nil
}

// count returns how many events match.
func (r *record) count(match func(*event.Event) bool) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.events {
		if match(&r.events[i]) {
			n++
		}
	}
	return n
}

// list returns the events that match.
func (r *record) list(match func(*event.Event) bool) (all []event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.events {
		if match(&r.events[i]) {
			all = append(all, r.events[i])
		}
	}
	return all
}

func (r *record) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = nil
}

func isDecision(ev *event.Event) bool { return ev.Kind == event.Decision }
func isUnread(ev *event.Event) bool   { return ev.Method == model.UnreadMethod }

type nobody struct{}

func (nobody) Ask(context.Context, gate.Question) (gate.Answer, error) {
	return gate.Answer{}, errors.New("nobody is here")
}

const rules = `
[[rule]]
action = "deny"
tool = "shell"
args.command = "touch denied*"
description = "Not this file"

[[rule]]
action = "prompt"
tool = "shell"
args.command = "touch asked"

[[rule]]
action = "allow"
tool = "shell"
args.command = "touch *"

[[rule]]
action = "allow"
tool = "write"
args.path = "/work/**"
`

// site is a service behind a server of ours.
type site struct {
	t       testing.TB
	record  *record
	kept    *labels
	url     string
	near    *httptest.Server
	far     *httptest.Server
	reply   func(w http.ResponseWriter, r *http.Request)
	mu      sync.Mutex
	heads   []http.Header
	targets []string
	bodies  []string
}

type labels struct {
	mu   sync.Mutex
	kept []string
}

func (l *labels) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.kept)
}

func (l *labels) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = nil
}

func (l *labels) Brought(x *gate.Exchange) (all []gate.Label) {
	for _, c := range x.Answered {
		all = append(all, gate.Label{Kind: "untrusted", Source: c.Server + " " + strings.Join(c.Names, " ")})
	}
	return all
}

func (l *labels) Add(all []gate.Label, _ []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range all {
		l.kept = append(l.kept, one.Source)
	}
	return nil
}

func (l *labels) Called(cs []policy.Call) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range cs {
		l.kept = append(l.kept, "called "+strings.Join(c.Names, " "))
	}
	return nil
}
func (l *labels) Seen([]policy.Call) policy.Seen { return 0 }
func (l *labels) Judge([]policy.Call) (policy.Action, policy.Seen, string) {
	return policy.Allow, 0, ""
}
func (l *labels) PassFiles([]policy.Call) error { return nil }
func (l *labels) Allowed([]policy.Call)         {}

func newSite(t testing.TB, id string, judge bool, change func(*model.Options)) *site {
	t.Helper()
	return makeSite(t, id, judge, nobody{}, change)
}

func newSiteAsking(t testing.TB, id string, person gate.Approver, change func(*model.Options)) *site {
	t.Helper()
	return makeSite(t, id, true, person, change)
}

func makeSite(t testing.TB, id string, judge bool, person gate.Approver, change func(*model.Options)) *site {
	t.Helper()
	return makeSiteWith(t, id, judge, person, change, rules, gate.None{})
}

// makeRuledSite is a site with rules about results, which are looked at.
func makeRuledSite(t testing.TB, id string, judge bool, more string) *site {
	t.Helper()
	return makeSiteWith(t, id, judge, nobody{}, nil, more+rules, screening.New(id, nil, nil))
}

func makeSiteWith(t testing.TB, id string, judge bool, person gate.Approver, change func(*model.Options), text string, looks gate.Inspector) *site {
	t.Helper()
	p, err := policy.Parse("policy.toml", []byte(text), policy.Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	kept := &labels{}
	s := &site{t: t, record: &record{}, kept: kept}
	g, err := gate.New(gate.Options{Policy: p, Recorder: s.record, Approver: person, Concluder: gate.None{}, Releases: gate.None{}, Inspector: looks, Labels: kept, ObserveOnly: !judge})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.mu.Lock()
		if len(s.bodies) > 100 { // a benchmark's
			s.heads, s.targets, s.bodies = nil, nil, nil
		}
		s.heads, s.targets, s.bodies = append(s.heads, r.Header.Clone()), append(s.targets, r.URL.RequestURI()), append(s.bodies, string(body))
		s.mu.Unlock()
		s.reply(w, r)
	}))
	t.Cleanup(far.Close)
	s.far = far
	to, err := url.Parse(far.URL)
	if err != nil {
		t.Fatal(err)
	}
	o := model.Options{
		Client: client.FindRow(id), Cwd: "/work", Upstream: to, Secret: "secret", Gate: g, Labels: kept, Judge: judge,
		Denies: func(calls []policy.Call) bool { // as session.Session.Denies
			calls = slices.Clone(calls)
			for i := range calls {
				calls[i].Screened = true
			}
			d := p.DecideAll(calls)
			return d.Action == policy.Deny && d.Rule != nil
		},
		Transport: &http.Transport{DisableCompression: true},
	}
	if change != nil {
		change(&o)
	}
	s.near = httptest.NewServer(model.NewServer(o))
	t.Cleanup(s.near.Close)
	s.url = s.near.URL + "/secret"
	return s
}

// empty is a request of every service, without a conversation.
const empty = `{"messages":[],"input":[],"contents":[]}`

// plain asks for no encoding by itself.
var plain = &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 4}

// answer is what a client gets.
type answer struct {
	status int
	header http.Header
	body   string
	err    error
}

func (s *site) post(path, body string, header ...string) answer {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := plain.RoundTrip(req)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(text), err}
}

func encode(t testing.TB, coding string, text []byte) []byte {
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	default: // what is in it is not ours to read
		return text
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
