package attackcmd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/session/pinning"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy"
)

// exchange holds the messages, questions and events of one attack.
type exchange struct {
	// seen has the frames that the client received. sent has the frames that the server received.
	seen, sent []string
	asked      []gate.Question
	events     []event.Event
}

// patience is the time limit of one attack. An attack normally takes some milliseconds.
const patience = time.Minute

// target has a policy and the name of a server. The attacks test this policy, and come from a
// server with this name.
type target struct {
	own     bool // the policy is the active one of this machine
	policy  *config.Loaded
	server  string
	carrier carrier
}

// playExchange plays one attack in this process, without other programs and without a network. It
// connects a client, the gate of clawai proxy, and our own server. answerQuestion takes the place
// of the person. state is a folder that the caller removes later.
func playExchange(ctx context.Context, t *target, a *attack, state string) (*exchange, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out := &tape{}
	one, err := session.Open(ctx, session.Spec{
		Program: "clawai " + cmdline.Version, Peer: session.Peer{Name: t.server, Is: "scripted server"}, Folders: config.Folders{State: state, Config: state},
		Policy: t.policy, Recorder: out, Before: func(q gate.Question) (gate.Answer, bool) {
			return out.answerQuestion(q, t.carrier.tool, a.Sends == "")
		},
		State: &session.State{Limits: &gate.Meter{}, Pins: pinning.NewStore(state, ""), Flow: flow.New(state, []string{"attack"})},
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = one.Close() }()
	srv := newServer(a, t.carrier)
	fromClient, clientIn := io.Pipe()
	clientOut, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := proxy.Run(ctx, proxy.Options{ClientIn: fromClient, ClientOut: toClient, Server: srv, Gate: one.Session, Name: t.server, Limits: frame.DefaultLimits()})
		_ = toClient.Close()
		ended <- err
	}()
	c := &client{w: clientIn, lines: bufio.NewReader(clientOut)}
	failed := c.playAttack(a, t.carrier)
	_ = clientIn.Close()
	_, _ = io.Copy(io.Discard, clientOut)
	err = <-ended
	if errors.Is(err, proxy.ErrServerEnded) {
		err = nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	out.mu.Lock()
	defer out.mu.Unlock()
	return &exchange{seen: c.seen, sent: srv.heardMessages(), asked: out.asked, events: out.events}, errors.Join(failed, err)
}

// tape stores the events and questions of one session.
type tape struct {
	mu     sync.Mutex
	events []event.Event
	asked  []gate.Question
	passed bool // the person has already allowed the harmless call once
}

// Record stores events.
func (t *tape) Record(events ...*event.Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, ev := range events {
		ev.Record = "attack-" + strconv.Itoa(len(t.events)+1)
		t.events = append(t.events, event.Event{Kind: ev.Kind, Decision: ev.Decision, Code: ev.Code, RuleText: ev.RuleText, Reason: ev.Reason, Altered: ev.Altered})
	}
	return nil
}

// answerQuestion takes the place of the person. It allows the harmless call once, and denies
// everything else.
func (t *tape) answerQuestion(q gate.Question, tool string, harmless bool) (gate.Answer, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	answer := gate.Answer{Reply: gate.DenyOnce, Digest: q.Digest, Channel: "attack"}
	if harmless && !t.passed && !q.Reply && len(q.Calls) == 1 && q.Calls[0].Names[0] == tool {
		t.passed, answer.Reply = true, gate.AllowOnce
		return answer, true
	}
	t.asked = append(t.asked, q)
	return answer, true
}

// client is a client whose model believes everything that it reads.
type client struct {
	w     io.Writer
	lines *bufio.Reader
	seen  []string
	id    int
}

const protocol = "2025-06-18"

func (c *client) playAttack(a *attack, harmless carrier) error {
	if _, err := c.requestAnswer("initialize", marshalJSON(map[string]any{
		"protocolVersion": protocol, "capabilities": map[string]any{"sampling": map[string]any{}, "elicitation": map[string]any{}},
		"clientInfo": map[string]any{"name": "attack", "version": "1"},
	})); err != nil {
		return err
	}
	if err := c.writeMessage(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}); err != nil {
		return err
	}
	for range max(1, len(a.Lists)) {
		if _, err := c.requestAnswer("tools/list", json.RawMessage(`{}`)); err != nil {
			return err
		}
	}
	came, err := c.requestAnswer("tools/call", harmless.callParams(a.Sends))
	if err != nil {
		return err
	}
	switch {
	case a.Back:
		_, err = c.requestAnswer("tools/call", harmless.callParams(textOf(came)))
	case a.Call != "":
		_, err = c.requestAnswer("tools/call", json.RawMessage(a.Call))
	}
	return err
}

// requestAnswer sends a request and reads messages until the answer arrives. Meanwhile, it answers
// the server's requests.
func (c *client) requestAnswer(method string, params json.RawMessage) (line []byte, err error) {
	c.id++
	if err := c.writeMessage(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params}); err != nil {
		return nil, err
	}
	for {
		line, err := c.lines.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		c.seen = append(c.seen, string(line))
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, err
		}
		switch {
		case m.Method == "" && string(m.ID) == strconv.Itoa(c.id):
			return line, nil
		case m.Method != "" && m.ID != nil:
			if err := c.writeMessage(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": obligingResult(m.Method)}); err != nil {
				return nil, err
			}
		}
	}
}

// obligingResult returns the client's answer to a request of the server. The client accepts every
// request.
func obligingResult(method string) any {
	switch method {
	case "roots/list":
		return map[string]any{"roots": []any{map[string]any{"uri": "file:///home/user/projects/unannounced"}}}
	case "elicitation/create":
		return map[string]any{"action": "accept", "content": map[string]any{"value": "what the user typed"}}
	}
	return map[string]any{"role": "assistant", "content": map[string]any{"type": "text", "text": "what the model wrote"}, "model": "m"}
}

func (c *client) writeMessage(v any) error {
	_, err := c.w.Write(append(marshalJSON(v), '\n'))
	return err
}

// message has the members of a message that the client and the server read.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// makeStateFolder returns a temporary folder for the state of the sessions, and a function that
// removes it.
func makeStateFolder() (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp("", "clawai-attack-")
	return dir, func() { _ = os.RemoveAll(dir) }, err
}
