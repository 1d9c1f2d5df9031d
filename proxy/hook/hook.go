package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/hook/client"
)

// Options of Run. All are required but those that say otherwise.
type Options struct {
	Client  string // as wrap's catalogue names it
	Event   string // that the command line names; "" when it names none
	Program string // what writes the record: "clawai VERSION"
	Getenv  func(string) string

	// Open gives what the call is judged by and recorded with, once the payload is read;
	// project is the folder that the client works in. Its gate asks by the dialog first.
	Open func(project string, req *client.Request, ask Dialog) (*Door, error)
	// Proxied reports whether a proxy of ours stands before a server of the client's, so
	// that the call will come to its gate; nil where that is not known: then Elsewhere
	// sees to calls of servers.
	Proxied func(r *client.Row, server, project string) bool
	// Servers are those that the client's files name, for tools whose name does not say where
	// the server's ends: owners are those of the owner's own files and of his doing, others
	// stand where an agent can write. nil where that is not known.
	Servers func(r *client.Row, project string) (owners, others []string)
	// Heard takes what the user says to the client's session, where flow is looked at; nil
	// where this program cannot keep it: then Elsewhere sees to it.
	Heard func(session, said string) error
	// Elsewhere has another program judge the payload anew, which can do what this one
	// cannot; nil where there is none.
	Elsewhere func() client.Answer
}

// Door is the gate of one call, with its policy and with whoever looks into the call before it.
type Door struct {
	Gate   *gate.Session
	Policy gate.Policy
	Flow   bool // what came before a call is weighed by the level
	Before bool // what came before a call is looked at, by that or by rules
	// Labels are what the session has seen, for those rules; Called joins what answers to
	// calls bring along, before they go. nil where nobody remembers.
	Labels interface {
		Seen(cs []policy.Call) policy.Seen
		Called(cs []policy.Call) error
	}
	// Carries finds keys and other kinds in the arguments of a call, for rules that ask; nil where nobody
	// looks, and Elsewhere sees to such a call.
	Carries func(c *policy.Call, p gate.Policy) ([]gate.Found, error)
	Note    string // what came of it that the client was cleared, for the record
	Close   func() // may be called more than once
}

// Run answers a payload. It never panics.
func Run(ctx context.Context, payload []byte, o Options) (a client.Answer) {
	row := client.FindRow(o.Client)
	if row == nil {
		return client.Answer{Code: 2, Stderr: fmt.Appendf(nil, "clawai knows no client %q; the clients are %s\n", o.Client, strings.Join(client.IDs(), ", "))}
	}
	before := client.Event{Name: row.BeforeEventName()}
	defer func() {
		if cause := recover(); cause != nil {
			a = row.AnswerDeny(before, fmt.Sprintf("Refused: judging it failed inside clawai; tell the owner (%v).", cause))
		}
	}()
	req, err := row.Read(payload, o.Event)
	h := &held{Options: o, req: req, payload: payload}
	if err != nil {
		if req.Newer != "" {
			err = fmt.Errorf("%w (%s)", err, req.Newer)
		}
		h.recordUnreadable(err)
		return req.Row.AnswerDeny(before, "Refused: clawai cannot read the client's request: "+err.Error()+".")
	}
	if req.Event.Kind != client.Before {
		h.recordClientEvent()
		return req.Row.AnswerAllow(req.Event)
	}
	return h.judgeCall(ctx)
}

// held is one request on its way.
type held struct {
	Options
	req     client.Request
	payload []byte
	answer  *client.Answer // nil before there is one
}

func (h *held) refuseCall(why string) client.Answer {
	return h.req.Row.AnswerDeny(h.req.Event, why)
}

// judgeCall has the gate decide.
func (h *held) judgeCall(ctx context.Context) client.Answer {
	project := h.projectFolder()
	unproxied := h.req.MCP && h.Proxied == nil && h.Elsewhere != nil // this program does not know the client's files
	if unproxied && !h.req.IsCertain() {
		return h.Elsewhere()
	}
	if h.req.HasSpelledServer() && h.Servers != nil {
		h.req.NarrowServers(h.Servers(h.req.Row, project))
	}
	door, err := h.Open(project, &h.req, h.answerByDialog)
	switch {
	case err != nil && h.Elsewhere != nil:
		return h.Elsewhere() // it may know more (of time zones), or says why
	case err != nil:
		return h.refuseCall("Refused: clawai cannot judge it: " + err.Error() + ". Tell the owner.")
	}
	defer door.Close()
	elsewhere := func() client.Answer {
		door.Close() // the other program writes to the same record
		return h.Elsewhere()
	}
	_, looks := door.Policy.Screens(policy.OnCall)
	looks = looks && door.Carries == nil || slices.ContainsFunc(h.req.Calls, func(c policy.Call) bool { return door.Policy.Pin(c.Server) > policy.PinRecord })
	if (looks || door.Before) && h.Elsewhere != nil {
		return elsewhere() // what finds things in arguments, what was approved and what came before is linked there
	}
	switch d := door.Policy.DecideAll(h.stampCalls(door)); {
	case len(d.Rates) > 0 && h.Elsewhere != nil:
		return elsewhere() // which counts
	case d.Action != policy.Deny && unproxied:
		return elsewhere() // which knows whether a proxy decides it
	case d.Action != policy.Deny && h.req.MCP && h.Proxied != nil && h.isProxied(project):
		return h.req.Row.AnswerAllow(h.req.Event) // its proxy decides, asks and records
	case d.Action == policy.Prompt && h.Elsewhere != nil && !h.canAskClient(d.Rule):
		return elsewhere()
	}
	out := &outlet{held: h, door: door, done: make(chan struct{})}
	door.Gate.Do(ctx, &gate.Exchange{Raw: h.payload, Calls: h.req.Calls, Event: h.newCallEvent(), Out: out})
	<-out.done
	return h.finalAnswer()
}

// finalAnswer gives the answer. Without one it is a denial: silence would let the tool run.
func (h *held) finalAnswer() client.Answer {
	if h.answer == nil {
		return h.refuseCall("Refused: judging it did not end.")
	}
	return *h.answer
}

// stampCalls gives the calls at this time, with what they carry. What could not be looked into may
// carry all that a rule asks about.
func (h *held) stampCalls(door *Door) []policy.Call {
	now := time.Now()
	for i := range h.req.Calls {
		c := &h.req.Calls[i]
		c.At, c.Screened, c.Session = now, true, h.req.Session
		if _, asks := door.Policy.Screens(policy.OnCall); !asks || door.Carries == nil {
			continue
		}
		found, err := door.Carries(c, door.Policy)
		c.Screened, c.Finds = err == nil, nil
		for _, f := range found {
			c.Finds = append(c.Finds, f.Kind)
		}
	}
	if door.Labels != nil && door.Before {
		seen := door.Labels.Seen(h.req.Calls)
		for i := range h.req.Calls {
			h.req.Calls[i].Seen = seen
		}
	}
	return h.req.Calls
}

// isProxied reports whether each server that the call may be for has our proxy before it.
func (h *held) isProxied(project string) bool {
	for i := range h.req.Calls {
		if s := h.req.Calls[i].Server; s == "" || !h.Proxied(h.req.Row, s, project) {
			return false
		}
	}
	return true
}

// projectFolder gives the folder that the client was started in, or else the one it is in.
func (h *held) projectFolder() string {
	for _, name := range h.req.Row.Project {
		if dir := h.Getenv(name); filepath.IsAbs(dir) {
			return dir
		}
	}
	if h.req.Cwd != "" {
		return h.req.Cwd
	}
	dir, _ := os.Getwd() // without one there is no project
	return dir
}

// newCallEvent gives the exchange as the record has it.
func (h *held) newCallEvent() event.Event {
	c := &h.req.Calls[0]
	ev := event.Event{
		Kind: event.Decision, Server: c.Server, Direction: "client", Method: c.Method, Subject: c.Subject.RuleKey(), Names: c.Names, Args: c.Args, Facts: c.Facts,
		Bytes: len(h.payload), Detail: h.renderOrigin(),
	}
	if h.req.Call != "" {
		ev.ID = quoteJSON(h.req.Call)
	}
	return ev
}

// renderOrigin names the client, the event and the session by which the call came.
func (h *held) renderOrigin() string {
	s := "hook " + h.req.Row.ID + " " + h.req.Event.Name
	if h.req.Row.ID != h.Client {
		s += " at " + h.Client
	}
	if h.req.Session != "" {
		s += ", session " + h.req.Session
	}
	return s
}

// recordClientEvent records that a client's session has begun, or that its user said something, but
// never what. That it could not be is no reason to stop the client: the next call is denied.
func (h *held) recordClientEvent() {
	ev := event.Event{Server: h.req.Row.ID, Detail: h.renderOrigin()}
	switch h.req.Event.Kind {
	case client.Session:
		ev.Kind = event.Start
	case client.Prompt:
		ev.Kind, ev.Direction, ev.Method = event.Passed, "client", client.PromptMethod
	default:
		return
	}
	door, err := h.Open(h.projectFolder(), &h.req, h.answerByDialog)
	if err != nil {
		return
	}
	defer door.Close()
	if ev.Kind == event.Start {
		ev.Detail = h.Program + "; " + ev.Detail + "; policy revision " + door.Policy.Revision()
		for _, note := range []string{door.Note, h.req.Newer} {
			if note != "" {
				ev.Detail += "; " + note
			}
		}
	}
	if ev.Kind == event.Start && door.Before && h.Elsewhere != nil {
		door.Close()
		h.Elsewhere() // it joins the client's session to that of its proxies, and notes the event, too
		return
	}
	if says := door.Flow && h.req.Said != "" && h.req.Session != ""; says && h.Heard != nil {
		if err := h.Heard(h.req.Session, h.req.Said); err != nil {
			ev.Reason = "the user's words could not be kept, and endorse nothing: " + err.Error()
		}
	} else if says && h.Elsewhere != nil {
		door.Close()
		h.Elsewhere() // it notes the event, too
		return
	}
	_ = door.Gate.NoteEvents(&ev)
}

// recordUnreadable records that a payload was not read, for doctor to tell of: nothing of what is in it.
func (h *held) recordUnreadable(err error) {
	door, failed := h.Open(h.projectFolder(), &h.req, h.answerByDialog)
	if failed != nil {
		return // it is denied, whether or not that is on record
	}
	defer door.Close()
	_ = door.Gate.NoteEvents(&event.Event{Kind: event.Dropped, Server: h.Client, Direction: "client", Method: client.UnreadMethod, Detail: h.renderOrigin(), Reason: err.Error(), Bytes: len(h.payload)})
}

// outlet writes the answer.
type outlet struct {
	*held
	door *Door
	done chan struct{}
}

func (o *outlet) setRefusal(why string) {
	answer := o.held.refuseCall(why)
	o.answer = &answer
}

// Forward lets the client go on, or ask.
func (o *outlet) Forward(x *gate.Exchange) error {
	defer close(o.done)
	if o.door != nil && o.door.Labels != nil {
		if err := o.door.Labels.Called(o.req.Calls); err != nil {
			o.setRefusal("Refused: what the session has seen with it could not be kept; tell the owner.")
			return err
		}
	}
	answer := o.req.Row.AnswerAllow(o.req.Event)
	if x.Event.Code == gate.CodeHandedOver {
		var can bool
		if answer, can = o.req.Row.AnswerAsk(o.req.Event, o.renderQuestion(x)); !can {
			o.setRefusal("Refused: the client cannot ask.")
			return errors.New("the client cannot ask")
		}
	}
	o.answer = &answer
	return nil
}

// renderQuestion writes the line that the client's dialog shows beside the call.
func (o *outlet) renderQuestion(x *gate.Exchange) string {
	s := "The owner's policy asks"
	if x.Event.RuleText != "" {
		s += " (" + x.Event.RuleText + ")"
	}
	return s + "."
}

// Refuse says no, in the proxy's words.
func (o *outlet) Refuse(_ *gate.Exchange, v gate.Verdict) {
	defer close(o.done)
	d := mcp.Denial{What: o.req.Calls[0], Stage: string(v.Stage), Code: v.Code, Reason: v.Reason, Hint: v.Hint, Record: v.Record}
	if v.Rule != nil {
		d.Description = v.Rule.Description
	}
	switch v.Code {
	case gate.CodeDeniedByRule:
		d.Reason = "" // the rule's own words say it
	case gate.CodeNotAnswered, gate.CodeNobodyToAsk, gate.CodeTooMany, gate.CodeMuted:
		d.Unanswered = true
	}
	o.setRefusal(d.DescribeDenial())
}

// Waiting has nobody to tell: a hook that writes something has answered.
func (o *outlet) Waiting(*gate.Exchange, time.Duration) {}
