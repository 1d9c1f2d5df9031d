package hub_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/screening"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/hub"
	"github.com/tidwall/gjson"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const rules = `
[[rule]]
action = "deny"
server = "a"
tool = "secret"

[[rule]]
action = "prompt"
tool = "ask"

[[rule]]
action = "deny"
tool = "*__*"
description = "rules see no advertised names"

[[rule]]
action = "allow"
tool = "*"

[[rule]]
action = "allow"
resource = "**"

[[rule]]
action = "allow"
prompt = "*"

[[rule]]
action = "allow"
sampling = "**"

[[rule]]
action = "allow"
elicitation = "**"
`

// patience is how long a test waits for what must come.
const patience = time.Minute

// toy is a server that a test plays. Of what is nil it does what servers do.
type toy struct {
	id    string
	tools []string
	// answer is what it says to a request, as the member of the answer; "" is nothing yet.
	answer func(t *running, f *frame.Frame) string
	opened func() error
	starts atomic.Int32
	mute   atomic.Bool // it answers no list

	mu    sync.Mutex
	heard []string
	now   *running
}

// running is a toy that was started.
type running struct {
	*toy
	in     *io.PipeReader
	out    *io.PipeWriter
	toHub  *io.PipeReader
	toToy  *io.PipeWriter
	done   chan struct{}
	ended  sync.Once
	sends  sync.Mutex
	closed atomic.Bool
}

func (y *toy) open() (proxy.Upstream, error) {
	y.starts.Add(1)
	if y.opened != nil {
		if err := y.opened(); err != nil {
			return nil, err
		}
	}
	r := &running{toy: y, done: make(chan struct{})}
	r.in, r.toToy = io.Pipe()
	r.toHub, r.out = io.Pipe()
	y.mu.Lock()
	y.now = r
	y.mu.Unlock()
	go r.serve()
	return r, nil
}

func (r *running) serve() {
	lines := bufio.NewReader(r.in)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			r.die()
			return
		}
		line = strings.TrimSuffix(line, "\n")
		r.mu.Lock()
		r.heard = append(r.heard, line)
		r.mu.Unlock()
		f, err := frame.Parse([]byte(line), frame.DefaultLimits())
		if err != nil {
			panic(err)
		}
		if f.Kind != frame.Request {
			continue
		}
		said := ""
		if r.answer != nil {
			said = r.answer(r, &f)
		}
		if said == "" {
			said = r.usual(&f)
		}
		if said != "-" {
			r.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, f.ID, said))
		}
	}
}

func (r *running) usual(f *frame.Frame) string {
	switch f.Method {
	case "initialize":
		return `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"toy","version":"1"}}`
	case "tools/list":
		var all []string
		for _, name := range r.tools {
			all = append(all, fmt.Sprintf(`{"name":%q,"description":"does it","x":1.50}`, name))
		}
		return `"result":{"tools":[` + strings.Join(all, ",") + `]}`
	case "tools/call":
		return fmt.Sprintf(`"result":{"content":[{"type":"text","text":"%s:%s"}]}`, r.id, gjson.GetBytes(f.Params, "name").String())
	}
	return `"error":{"code":-32601,"message":"no"}`
}

// say sends the hub a line; once it has closed the toy nobody listens.
func (r *running) say(line string) {
	r.sends.Lock()
	defer r.sends.Unlock()
	_, _ = io.WriteString(r.out, line+"\n")
}

func (r *running) die() {
	r.ended.Do(func() {
		close(r.done)
		_ = r.out.Close()
		_ = r.in.Close()
	})
}

func (r *running) Read(p []byte) (int, error)  { return r.toHub.Read(p) }
func (r *running) Write(p []byte) (int, error) { return r.toToy.Write(p) }
func (r *running) Done() <-chan struct{}       { return r.done }
func (r *running) Status() string              { return "exit code 3" }
func (r *running) Close(context.Context) error {
	r.closed.Store(true)
	_ = r.toToy.Close()
	_ = r.toHub.Close()
	r.die()
	return nil
}

func (y *toy) running() *running {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.now
}

// got is how often the toy has heard a line with all these words.
func (y *toy) got(words ...string) (n int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, line := range y.heard {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			n++
		}
	}
	return n
}

// heardOf are the lines with a word that the toy has heard.
func (y *toy) heardOf(word string) (lines []string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, line := range y.heard {
		if strings.Contains(line, word) {
			lines = append(lines, line)
		}
	}
	return lines
}

// record keeps what the gate writes.
type record struct {
	mu     sync.Mutex
	n      int
	writes int
	events []event.Event
	of     []int // the write that each came in
}

func (r *record) Record(events ...*event.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes++
	for _, ev := range events {
		r.n++
		ev.Record = fmt.Sprintf("r-%d", r.n)
		kept := *ev
		kept.Names, kept.ID = slices.Clone(ev.Names), slices.Clone(ev.ID) // which are used again
		r.events, r.of = append(r.events, kept), append(r.of, r.writes)
	}
	return nil
}

// together is how many of a kind and method each write has that has any.
func (r *record) together(kind event.Kind, method string) (all []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := 0
	for i, ev := range r.events {
		if ev.Kind != kind || ev.Method != method {
			continue
		}
		if r.of[i] != last {
			all, last = append(all, 0), r.of[i]
		}
		all[len(all)-1]++
	}
	return all
}

// find is the last event that is so.
func (r *record) find(is func(event.Event) bool) (ev event.Event, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range slices.Backward(r.events) {
		if is(one) {
			return one, true
		}
	}
	return ev, false
}

// person answers when told to.
type person struct {
	asked   chan gate.Question
	answers chan gate.Reply
}

func (p *person) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	p.asked <- q
	select {
	case r := <-p.answers:
		return gate.Answer{Reply: r, Digest: q.Digest}, nil
	case <-ctx.Done():
		return gate.Answer{}, context.Cause(ctx)
	}
}

// harness is a client with a hub before toys.
type harness struct {
	t      *testing.T
	in     *io.PipeWriter
	lines  chan string
	record *record
	person *person
	toys   map[string]*toy
	cancel context.CancelFunc
	ended  chan error
}

func start(t *testing.T, set func(*hub.Options), toys ...*toy) *harness {
	t.Helper()
	w := &harness{
		t: t, lines: make(chan string, 10000), record: &record{}, toys: map[string]*toy{}, ended: make(chan error, 1),
		person: &person{asked: make(chan gate.Question, 100), answers: make(chan gate.Reply)},
	}
	p, err := policy.Parse("test.toml", []byte(rules), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := gate.New(gate.Options{
		Policy: p, Recorder: w.record, Approver: w.person, WaitEvery: time.Millisecond, AskPerMinute: 10000,
		Concluder: gate.None{}, Inspector: screening.New("hub", nil, nil), Labels: gate.None{}, Releases: gate.None{},
	})
	if err != nil {
		t.Fatal(err)
	}
	clientIn, in := io.Pipe()
	out, clientOut := io.Pipe()
	w.in = in
	o := hub.Options{ClientIn: clientIn, ClientOut: clientOut, Gate: guard, PrefixDescriptions: true, Version: "test", ListWait: patience}
	for _, y := range toys {
		w.toys[y.id] = y
		o.Servers = append(o.Servers, hub.Server{ID: y.id, Prefix: y.id, Open: y.open})
	}
	if set != nil {
		set(&o)
	}
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(t.Context())
	go func() { w.ended <- hub.Run(ctx, o); _ = clientOut.Close() }()
	go func() {
		defer close(w.lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			w.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	t.Cleanup(func() {
		w.cancel()
		_ = in.Close()
		w.end()
		for range w.lines { // the reader ends
		}
	})
	return w
}

// under puts other rules in force.
func under(t *testing.T, rules string) func(*hub.Options) {
	p, err := policy.Parse("test.toml", []byte(rules), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return func(o *hub.Options) { o.Gate.SetPolicy(p) }
}

// end waits until the hub has ended.
func (w *harness) end() {
	w.t.Helper()
	select {
	case err := <-w.ended:
		if err != nil {
			w.t.Error(err)
		}
		w.ended <- nil
	case <-time.After(patience):
		w.t.Fatal("the hub does not end")
	}
}

func (w *harness) send(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.t.Error(err)
	}
}

// next is the next line that holds all the words; those before it are dropped.
func (w *harness) next(words ...string) string {
	w.t.Helper()
	late := time.After(patience)
	var others []string
	for {
		select {
		case line, ok := <-w.lines:
			if ok && !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
				return line
			}
			others = append(others, line)
			if ok {
				continue
			}
		case <-late:
		}
		w.t.Fatalf("%q has not come, but %s", words, strings.Join(others, "\n"))
	}
}

// begin introduces the client.
func (w *harness) begin() *harness {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}`)
	w.next(`"id":"i"`, `"protocolVersion":"2025-06-18"`)
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w
}

// ask sends a request and returns its answer.
func (w *harness) ask(id, method, params string) string {
	w.t.Helper()
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	return w.next(`"id":` + id + `,`)
}

func (w *harness) call(id, name string) string {
	w.t.Helper()
	return w.ask(id, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, name))
}

// names are those that a list shows.
func names(list string) (all []string) {
	for _, one := range gjson.Get(list, "result.tools.#.name").Array() {
		all = append(all, one.String())
	}
	return all
}

// comes waits for what another goroutine brings about.
func (w *harness) comes(what string, there func() bool) {
	w.t.Helper()
	for end := time.Now().Add(patience); !there(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("%s has not come", what)
		}
	}
}

var errNotThere = errors.New("it is not there")
