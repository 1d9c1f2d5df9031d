package proxy_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy"
	"go.uber.org/goleak"
)

const rules = `
[[rule]]
action = "allow"
tool = "ok*"

[[rule]]
action = "prompt"
tool = "ask*"
description = "a person looks"

[[rule]]
action = "deny"
tool = "no"
description = "never"

[[rule]]
action = "allow"
sampling = "fine"

[[rule]]
action = "prompt"
sampling = "maybe"

[[rule]]
action = "allow"
elicitation = "fine?"
`

// patience is how long a test waits for what must come; nothing sleeps.
const patience = time.Minute

// harness is a client and a server, played by the test, with the pump between.
type harness struct {
	t        *testing.T
	client   end // what the test does as the client
	server   end // and as the server
	upstream *upstream
	record   *record
	person   *person
	gate     *gate.Session
	told     *os.File // what the client is told is written here
	cancel   context.CancelFunc
	ended    chan error
}

type setting func(*proxy.Options, *gate.Options)

func newHarness(t *testing.T, settings ...setting) *harness {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	w := &harness{t: t, record: &record{}, person: &person{answers: make(chan gate.Reply), asked: make(chan gate.Question, 100)}, ended: make(chan error, 1)}
	clientIn, toProxy := pipe(t)
	fromProxy, clientOut := pipe(t)
	serverIn, toServer := pipe(t)
	fromServer, serverOut := pipe(t)
	w.told = clientOut
	w.client = end{t: t, name: "client", out: toProxy, in: fromProxy, lines: bufio.NewReaderSize(fromProxy, 1<<20)}
	w.server = end{t: t, name: "server", out: serverOut, in: serverIn, lines: bufio.NewReaderSize(serverIn, 1<<20)}
	w.upstream = &upstream{in: toServer, out: fromServer, server: serverOut, done: make(chan struct{}), status: "exit code 3"}

	p, err := policy.Parse("test.toml", []byte(rules), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := gate.Options{
		Policy: p, Recorder: w.record, Approver: w.person, WaitEvery: time.Millisecond,
		Concluder: gate.None{}, Inspector: gate.None{}, Labels: gate.None{}, Releases: gate.None{},
	}
	o := proxy.Options{
		ClientIn: clientIn, ClientOut: clientOut, Server: w.upstream, Name: "fs",
		Limits: frame.Limits{MaxBytes: 1 << 20, MaxDepth: 64},
	}
	for _, set := range settings {
		set(&o, &g)
	}
	if o.Gate, err = gate.New(g); err != nil {
		t.Fatal(err)
	}
	w.gate = o.Gate
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(t.Context())
	go func() { w.ended <- proxy.Run(ctx, o) }()
	t.Cleanup(func() {
		w.cancel()
		_ = toProxy.Close()
		select {
		case <-w.ended:
		case <-time.After(patience):
			t.Error("Run did not return")
		}
		goleak.VerifyNone(t, leaks)
	})
	return w
}

// end waits for Run and returns what it returned.
func (w *harness) end() error {
	w.t.Helper()
	select {
	case err := <-w.ended:
		w.ended <- err
		return err
	case <-time.After(patience):
		w.t.Fatal("Run did not return")
		return nil
	}
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// end is one side's two streams.
type end struct {
	t     *testing.T
	name  string
	out   *os.File
	in    *os.File
	lines *bufio.Reader
}

// send writes lines in one write.
func (e *end) send(lines ...string) {
	e.t.Helper()
	if _, err := e.out.WriteString(strings.Join(lines, "\n") + "\n"); err != nil {
		e.t.Errorf("%s: %v", e.name, err)
	}
}

// next reads the next line.
func (e *end) next() string {
	e.t.Helper()
	_ = e.in.SetReadDeadline(time.Now().Add(patience))
	line, err := e.lines.ReadString('\n')
	if err != nil {
		e.t.Fatalf("%s waits for a line: %v", e.name, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// wants reads lines and demands exactly these, byte for byte.
func (e *end) wants(lines ...string) {
	e.t.Helper()
	for _, want := range lines {
		if got := e.next(); got != want {
			e.t.Fatalf("%s got  %s\n        want %s", e.name, got, want)
		}
	}
}

// wantsLike reads one line that has all the parts.
func (e *end) wantsLike(parts ...string) string {
	e.t.Helper()
	got := e.next()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			e.t.Fatalf("%s got %s\n        without %s", e.name, got, part)
		}
	}
	return got
}

// upstream is the pump's side of the played server.
type upstream struct {
	in, out, server *os.File
	once            sync.Once
	done            chan struct{}
	status          string
}

func (u *upstream) Read(p []byte) (int, error)  { return u.out.Read(p) }
func (u *upstream) Write(p []byte) (int, error) { return u.in.Write(p) }
func (u *upstream) Done() <-chan struct{}       { return u.done }
func (u *upstream) Status() string              { return u.status }
func (u *upstream) Close(context.Context) error {
	u.once.Do(func() { _, _ = u.in.Close(), u.server.Close() })
	return nil
}

// record keeps events in memory.
type record struct {
	mu     sync.Mutex
	events []event.Event
	broken bool
	disk   chan struct{} // nil, or closed when a slow disk is done
}

func (r *record) Record(events ...*event.Event) error {
	r.mu.Lock()
	disk := r.disk
	r.mu.Unlock()
	if disk != nil {
		<-disk
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken {
		return errors.New("disk full")
	}
	for _, ev := range events {
		ev.Record = "r-" + string(rune('a'+len(r.events)%26))
		r.events = append(r.events, *ev)
	}
	return nil
}

func (r *record) breakDown() {
	r.mu.Lock()
	r.broken = true
	r.mu.Unlock()
}

// slowDown lets each write wait until the disk is done.
func (r *record) slowDown() (done chan struct{}) {
	done = make(chan struct{})
	r.mu.Lock()
	r.disk = done
	r.mu.Unlock()
	return done
}

// about is the first event about a method.
func (r *record) about(t *testing.T, method string) event.Event {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ev := range r.events {
		if ev.Method == method && ev.Kind != event.Outcome && ev.Code != gate.CodeMalformed {
			return ev
		}
	}
	t.Fatalf("nothing about %s", method)
	return event.Event{}
}

// has waits for an event of this kind and code.
func (r *record) has(t *testing.T, kind event.Kind, code string) event.Event {
	t.Helper()
	for late := time.After(patience); ; {
		r.mu.Lock()
		for _, ev := range r.events {
			if ev.Kind == kind && ev.Code == code {
				r.mu.Unlock()
				return ev
			}
		}
		r.mu.Unlock()
		select {
		case <-late:
			t.Fatalf("no record of kind %s, code %q", kind, code)
		case <-time.After(time.Millisecond):
		}
	}
}

// person answers questions as the test says.
type person struct {
	asked   chan gate.Question
	answers chan gate.Reply
}

func (p *person) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	p.asked <- q
	select {
	case a := <-p.answers:
		return gate.Answer{Reply: a, Digest: q.Digest, Channel: "test"}, nil
	case <-ctx.Done():
		return gate.Answer{}, ctx.Err()
	}
}

func tool(id, name string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `","arguments":{}}}`
}

func answer(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[]}}`
}

func cancel(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
}
