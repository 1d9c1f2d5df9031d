package reverse_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/remote"
	"github.com/clawai/clawai/proxy/remote/reverse"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const rules = `
[[rule]]
action = "deny"
tool = "ok-marked*"
annotations = "open-world"

[[rule]]
action = "allow"
tool = "ok*"

[[rule]]
action = "prompt"
tool = "ask*"

[[rule]]
action = "deny"
tool = "no"
description = "never"

[[rule]]
action = "allow"
sampling = "fine"
`

const secret = "0123456789abcdef0123"

// record keeps what the gate writes.
type record struct {
	mu     sync.Mutex
	n      int
	events []event.Event
}

func (r *record) Record(events ...*event.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ev := range events {
		r.n++
		ev.Record = fmt.Sprintf("r-%d", r.n)
		kept := *ev // what it lies in is used again
		kept.Names, kept.Args, kept.ID = slices.Clone(ev.Names), slices.Clone(ev.Args), slices.Clone(ev.ID)
		r.events = append(r.events, kept)
	}
	return nil
}

func (r *record) has(code string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.events, func(ev event.Event) bool { return ev.Code == code })
}

// hasAbout is has for the message with this id.
func (r *record) hasAbout(id, code string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.events, func(ev event.Event) bool { return ev.Code == code && string(ev.ID) == id })
}

// comes waits for what another goroutine brings about.
func (w *harness) comes(what string, there func() bool) {
	w.t.Helper()
	for end := time.Now().Add(10 * time.Second); !there(); {
		if time.Now().After(end) {
			w.t.Fatalf("%s has not come", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// person answers what it is told to, when it is told to.
type person struct {
	asked   chan gate.Question
	answers chan gate.Reply
}

func (p *person) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	p.asked <- q
	select {
	case r := <-p.answers:
		return gate.Answer{Reply: r, Digest: q.Digest, Channel: "test"}, nil
	case <-ctx.Done():
		return gate.Answer{}, context.Cause(ctx)
	}
}

// harness is a reverse proxy in front of a server that the test plays.
type harness struct {
	t      testing.TB
	record *record
	person *person
	proxy  *reverse.Server
	front  *httptest.Server
	back   *httptest.Server
	url    string

	newGate func() reverse.Gate // as the proxy makes them
}

func newHarness(t testing.TB, handler http.Handler, bend ...func(*reverse.Options)) *harness {
	t.Helper()
	w := &harness{t: t, record: &record{}, person: &person{make(chan gate.Question, 100), make(chan gate.Reply)}}
	w.back = httptest.NewServer(handler)
	to, err := url.Parse(w.back.URL + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse("test.toml", []byte(rules), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.front = httptest.NewUnstartedServer(nil)
	_, port, _ := strings.Cut(strings.TrimPrefix(w.front.Listener.Addr().String(), "["), ":")
	o := reverse.Options{
		Upstreams: map[string]remote.Options{"s": {URL: to, Transport: &http.Transport{DisableCompression: true}}},
		Secret:    secret, Port: port, Hosts: []string{"127.0.0.1", "localhost"},
		Gate: func(server string) (reverse.Gate, error) {
			g, err := gate.New(gate.Options{
				Policy: p, Recorder: w.record, Approver: w.person, WaitEvery: 10 * time.Millisecond,
				Concluder: gate.None{}, Inspector: gate.None{}, Labels: gate.None{}, Releases: gate.None{},
			})
			return reverse.Gate{Session: g, End: g.Close}, err
		},
	}
	for _, b := range bend {
		b(&o)
	}
	w.newGate = func() reverse.Gate {
		g, err := o.Gate("s")
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	if w.proxy, err = reverse.New(o); err != nil {
		t.Fatal(err)
	}
	w.front.Config.Handler, w.front.Config.ConnState = w.proxy, w.proxy.ConnState
	w.front.Start()
	w.url = w.front.URL + w.proxy.ServerPath("s")
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		w.proxy.Close()
		w.front.CloseClientConnections()
		w.front.Close()
		w.back.CloseClientConnections()
		w.back.Close()
	})
	return w
}

// post sends one message with the headers given as pairs.
func (w *harness) post(message string, headers ...string) *http.Response {
	w.t.Helper()
	resp, err := http.DefaultClient.Do(w.request(w.t.Context(), message, headers...))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func (w *harness) request(ctx context.Context, message string, headers ...string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, strings.NewReader(message))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

// says is the status and the body of a response.
func says(resp *http.Response) string {
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	return fmt.Sprintf("%d %s", resp.StatusCode, body)
}

func call(id int, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, id, tool)
}

// server answers every call with its id, and counts them.
type server struct {
	mu    sync.Mutex
	heard []string
	serve func(w http.ResponseWriter, r *http.Request, body string)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.heard = append(s.heard, string(body))
	s.mu.Unlock()
	if s.serve != nil {
		s.serve(w, r, string(body))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, idOf(string(body)))
}

func (s *server) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.heard, "\n")
}

func idOf(body string) string {
	_, rest, _ := strings.Cut(body, `"id":`)
	id, _, _ := strings.Cut(rest, ",")
	return id
}
