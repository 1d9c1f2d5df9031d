package score

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy"
)

// played has the counts of one replayed trace.
type played struct {
	asked  int // number of questions to a person
	tools  int // number of tools in the questions and in the lifted calls
	lifted int // number of calls that needed no question, because a person had allowed the same call before
	denied int // number of calls that did not pass
}

// person answers all questions in the same way. It denies the calls if the field no is true, and
// otherwise allows them.
type person struct {
	no    atomic.Bool
	asked atomic.Int64
}

func (p *person) answer(q gate.Question) (gate.Answer, bool) {
	p.asked.Add(1)
	reply := gate.AllowOnce
	if p.no.Load() {
		reply = gate.DenyOnce
	}
	return gate.Answer{Reply: reply, Digest: q.Digest, Channel: "test"}, true
}

// record is a recorder that counts the calls that needed no question, because a person had allowed
// the same call before.
type record struct{ lifted atomic.Int64 }

func (r *record) Record(events ...*event.Event) error {
	for _, ev := range events {
		if strings.Contains(ev.Reason, "a person let the same go") && ev.Decision == policy.Allow.String() {
			r.lifted.Add(1)
		}
	}
	return nil
}

// player is a server that has the tools of a trace. The tools return the results of the trace in
// order.
type player struct {
	*io.PipeReader
	in      *io.PipeWriter
	results chan string
	over    chan struct{}
	answers sync.WaitGroup
}

func newPlayer() *player {
	r, w := io.Pipe()
	return &player{PipeReader: r, in: w, results: make(chan string, 1), over: make(chan struct{})}
}

func (p *player) Write(line []byte) (int, error) {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(line, &m); err != nil || m.ID == nil {
		return len(line), err
	}
	text, err := json.Marshal(<-p.results)
	p.answers.Go(func() { // in a goroutine, because the writer may also be the reader
		_, _ = fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}`+"\n", m.ID, text)
	})
	return len(line), err
}

func (p *player) Done() <-chan struct{} { return p.over }

func (p *player) Close(context.Context) error {
	err := p.in.Close()
	p.answers.Wait()
	return err
}

func (p *player) Status() string { return "played" }

// play replays a user's task, and then an attack if there is one. The person allows no call of the
// attack. It returns the counts for the task and the counts for the attack.
func (w *Way) play(dir string, p *config.Loaded, server string, user task, attack *task) (of, after played, err error) {
	state, err := os.MkdirTemp(dir, "")
	if err != nil {
		return of, after, err
	}
	defer func() { _ = os.RemoveAll(state) }()
	key := "session:" + filepath.Base(state)
	if err := flow.HearUser(state, []string{key}, user.Said); err != nil {
		return of, after, err
	}
	who, kept := &person{}, &record{}
	name := server
	if w.Model {
		name = "claude-code"
	}
	one, err := session.Open(context.Background(), session.Spec{
		Program: "test", Peer: session.Peer{Name: name}, Policy: p, Recorder: kept, Folders: config.Folders{Home: state, Config: state, State: state},
		State: &session.State{Limits: &gate.Meter{}, Flow: flow.New(state, []string{key})}, Before: who.answer,
	})
	if err != nil {
		return of, after, err
	}
	defer func() { _ = one.Close() }()
	by, err := w.newCaller(server, one)
	if err != nil {
		return of, after, err
	}
	defer func() { err = errors.Join(err, by.end()) }()
	t := &agent{caller: by}
	if attack != nil {
		t.text = attack.Said
	}
	if of, err = t.calls(user.Calls, injected(user.Calls, attack), who, kept); err != nil || attack == nil {
		return of, after, err
	}
	who.no.Store(true)
	after, err = t.calls(attack.Calls, -1, who, kept)
	return of, after, err
}

// injected returns the index of the first result that the attacker could have written to. It
// returns -1 if there is no such result or no attack.
func injected(calls []call, attack *task) int {
	for i, c := range calls {
		if c.Hole && attack != nil {
			return i
		}
	}
	return -1
}

// Way names the proxy of clawai through which the calls of a trace pass. The zero value is the
// proxy in front of a server.
type Way struct{ Model bool } // the calls pass through the proxy for the model's API

// caller makes the calls of a trace through one of the two proxies.
type caller interface {
	call(c call, result string) (went bool, err error)
	end() error
}

func (w *Way) newCaller(server string, one *session.Session) (caller, error) {
	if w.Model {
		return newModelTalk(server, one)
	}
	return newTalk(server, one), nil
}

// agent makes the calls of a trace. text is the text that the attacker puts into one of the
// results.
type agent struct {
	caller
	text string
}

// talk is a client that makes its calls through one proxy.
type talk struct {
	server *player
	in     *io.PipeWriter
	out    *bufio.Reader
	ended  chan error
	n      int
}

func newTalk(server string, one *session.Session) *talk {
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	t := &talk{server: newPlayer(), in: in, out: bufio.NewReader(out), ended: make(chan error, 1)}
	go func() {
		t.ended <- proxy.Run(context.Background(), proxy.Options{ClientIn: fromClient, ClientOut: toClient, Server: t.server, Gate: one.Session, Name: server})
		_ = toClient.Close()
	}()
	return t
}

func (t *talk) end() error {
	_ = t.in.Close()
	return <-t.ended
}

func (t *agent) calls(all []call, hole int, who *person, kept *record) (of played, err error) {
	asked, lifted := who.asked.Load(), kept.lifted.Load()
	tools := map[string]bool{}
	for i, c := range all {
		before := who.asked.Load() + kept.lifted.Load()
		result := c.Result
		if i == hole {
			result += "\n" + t.text
		}
		went, err := t.call(c, result)
		if err != nil {
			return of, fmt.Errorf("%s: %w", c.Tool, err)
		}
		if !went {
			of.denied++
		}
		if who.asked.Load()+kept.lifted.Load() > before {
			tools[c.Tool] = true
		}
	}
	of.tools = len(tools)
	of.asked, of.lifted = int(who.asked.Load()-asked), int(kept.lifted.Load()-lifted)
	return of, nil
}

func (t *talk) call(c call, result string) (went bool, err error) {
	t.n++
	t.server.results <- result
	params, err := json.Marshal(map[string]any{"name": c.Tool, "arguments": c.Args})
	if err != nil {
		return false, err
	}
	if _, err := fmt.Fprintf(t.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", t.n, params); err != nil {
		return false, err
	}
	if _, err = t.out.ReadString('\n'); err != nil {
		return false, err
	}
	select {
	case <-t.server.results: // the result was not used, so the call did not reach the server
		return false, nil
	default:
		return true, nil
	}
}
