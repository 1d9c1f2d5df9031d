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
	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/hook/client"
)

// Options are the parameters of Run. Every field is required unless its comment says otherwise.
type Options struct {
	Client  string // the client's name in wrap's catalogue
	Event   string // name of the event in the command line; "" if it has none
	Program string // name and version of this program for the record, such as "clawai VERSION"
	Getenv  func(string) string

	// Open returns the Door for the call. It is called after the payload is parsed. project is the
	// folder in which the client works. ask is the client's dialog, which the gate must try first.
	Open func(project string, req *client.Request, ask Dialog) (*Door, error)
	// Proxied reports whether the client uses this server through a clawai proxy. Then the gate of
	// the proxy will judge the call. A nil Proxied means that this program does not know the
	// client's files. Then Elsewhere judges the calls to servers.
	Proxied func(r *client.Row, server, project string) bool
	// Servers returns the servers in the client's files. They are needed for tool names in which
	// the end of the server's name is not visible. owners are the servers in the owner's own files,
	// and others are the servers in files that an agent can write. A nil Servers means that this
	// program does not know them.
	Servers func(r *client.Row, project string) (owners, others []string)
	// Heard stores the user's words in the client's session, for policies that check information
	// flow. nil means that this program cannot store them; then Elsewhere does it.
	Heard func(session, said string) error
	// Elsewhere passes the payload to another program that can do more than this one. It returns
	// the answer of that program. nil means that there is no other program.
	Elsewhere func() client.Answer
	// Preview returns the effects that the command of a question would have, as one line. nil means
	// that this program cannot find them out. Then Elsewhere judges a call if a rule with preview
	// asks about it.
	Preview func(q gate.Question) string
}

// Door holds the gate and the policy for one call, and functions for checks before the gate.
type Door struct {
	Gate   *gate.Session
	Policy gate.Policy
	Flow   bool // the policy checks information flow, so the session's earlier events matter
	Before bool // the session's earlier events matter, for information flow or for rules with labels
	// Labels holds the labels of the data that the session has seen, for rules with labels. Before
	// calls run, Called adds the labels of their answers. nil means that no labels are kept.
	Labels interface {
		Seen(cs []policy.Call) policy.Seen
		Called(cs []policy.Call) error
	}
	// Carries finds secrets and other kinds of data in the arguments of a call, for rules about
	// them. nil means that this program cannot search. Then Elsewhere judges such a call.
	Carries func(c *policy.Call, p gate.Policy) ([]gate.Found, error)
	// Identify sets the facts about the caller (see gate.Options.Identify). nil means that only the
	// gate sets them.
	Identify func(*policy.Facts)
	Note     string // result of clearing the client's session, for the record
	Close    func() // may be called several times
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
	h := &hookRun{Options: o, req: req, payload: payload}
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

// hookRun is one run of a hook, with its request and its answer.
type hookRun struct {
	Options
	req     client.Request
	payload []byte
	answer  *client.Answer // nil until the answer is known
	preview string         // the effects that the command would have; "" if no preview was made
}

func (h *hookRun) refuseCall(why string) client.Answer {
	return h.req.Row.AnswerDeny(h.req.Event, why)
}

// judgeCall passes the call to the gate and returns the answer.
func (h *hookRun) judgeCall(ctx context.Context) client.Answer {
	project := h.projectFolder()
	unproxied := h.req.MCP && h.Proxied == nil && h.Elsewhere != nil // this program does not know the client's files, but the other program does
	if unproxied && !h.req.IsCertain() {
		return h.Elsewhere()
	}
	if h.req.HasSpelledServer() && h.Servers != nil {
		h.req.NarrowServers(h.Servers(h.req.Row, project))
	}
	door, err := h.Open(project, &h.req, h.answerByDialog)
	switch {
	case err != nil && h.Elsewhere != nil:
		return h.Elsewhere() // the other program may be able to load this policy (it has the time zones), or it explains the error
	case err != nil:
		return h.refuseCall("Refused: clawai cannot judge it: " + err.Error() + ". Tell the owner.")
	}
	defer door.Close()
	elsewhere := func() client.Answer {
		door.Close() // closed first, because the other program writes to the same record
		return h.Elsewhere()
	}
	_, looks := door.Policy.Screens(policy.OnCall)
	looks = looks && door.Carries == nil || slices.ContainsFunc(h.req.Calls, func(c policy.Call) bool { return door.Policy.Pin(c.Server) > policy.PinRecord })
	if (looks || door.Before) && h.Elsewhere != nil {
		return elsewhere() // only the other program can search arguments, compare with approved lists and use earlier events
	}
	switch d := door.Policy.DecideAll(h.stampCalls(door)); {
	case len(d.Rates) > 0 && h.Elsewhere != nil:
		return elsewhere() // only the other program counts calls
	case d.Action != policy.Deny && unproxied:
		return elsewhere() // the other program knows whether a proxy will judge the call
	case d.Action != policy.Deny && h.req.MCP && h.Proxied != nil && h.isProxied(project):
		return h.req.Row.AnswerAllow(h.req.Event) // the server's proxy judges and records the call, and asks a person if necessary
	case d.Action == policy.Prompt && h.Elsewhere != nil && (!h.canAskClient(d.Rule) || d.Rule.Preview):
		return elsewhere()
	}
	out := &outlet{hookRun: h, door: door, done: make(chan struct{})}
	door.Gate.Do(ctx, &gate.Exchange{Raw: h.payload, Calls: h.req.Calls, Event: h.newCallEvent(), Out: out})
	<-out.done
	return h.finalAnswer()
}

// finalAnswer returns the answer. If there is none, it returns a denial, because most clients run
// the tool if a hook writes nothing.
func (h *hookRun) finalAnswer() client.Answer {
	if h.answer == nil {
		return h.refuseCall("Refused: judging it did not end.")
	}
	return *h.answer
}

// stampCalls sets the time of the calls, the kinds of data in their arguments, and the labels of
// the session. If the arguments of a call could not be searched, the call is judged as if they
// contained every kind of data that a rule asks about.
func (h *hookRun) stampCalls(door *Door) []policy.Call {
	now := time.Now()
	for i := range h.req.Calls {
		c := &h.req.Calls[i]
		c.At, c.Screened, c.Session, c.Agent = now, true, h.req.Session, h.req.Agent
		if door.Identify != nil {
			door.Identify(&c.Facts)
		}
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

// isProxied reports whether the client uses a clawai proxy for every server that the call may be
// for.
func (h *hookRun) isProxied(project string) bool {
	for i := range h.req.Calls {
		if s := h.req.Calls[i].Server; s == "" || !h.Proxied(h.req.Row, s, project) {
			return false
		}
	}
	return true
}

// projectFolder returns the folder in which the client was started. If that is unknown, it returns
// the client's current folder.
func (h *hookRun) projectFolder() string {
	for _, name := range h.req.Row.Project {
		if dir := h.Getenv(name); filepath.IsAbs(dir) {
			return dir
		}
	}
	if h.req.Cwd != "" {
		return h.req.Cwd
	}
	dir, _ := os.Getwd() // "" after an error, which means that there is no project
	return dir
}

// newCallEvent returns the event for the exchange.
func (h *hookRun) newCallEvent() event.Event {
	c := &h.req.Calls[0]
	ev := event.Event{
		Kind: event.Decision, Server: c.Server, Direction: "client", Method: c.Method, Subject: c.Subject.RuleKey(), Names: c.Names, Args: c.Args, Facts: c.Facts,
		Bytes: len(h.payload), Detail: h.renderOrigin(),
	}
	if h.req.Call != "" {
		ev.ID = escape.QuoteText(h.req.Call)
	}
	return ev
}

// renderOrigin returns a text with the client, the event and the session of the call.
func (h *hookRun) renderOrigin() string {
	s := event.HookDetail + h.req.Row.ID + " " + h.req.Event.Name
	if h.req.Row.ID != h.Client {
		s += " at " + h.Client
	}
	if h.req.Session != "" {
		s += ", session " + h.req.Session
	}
	return s
}

// recordClientEvent records that a session of the client has begun or that its user said something.
// It never records the words. After an error the client still continues, and its next call is
// denied.
func (h *hookRun) recordClientEvent() {
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
		h.Elsewhere() // the other program joins the client's session with the sessions of its proxies and records the event
		return
	}
	if says := door.Flow && h.req.Said != "" && h.req.Session != ""; says && h.Heard != nil {
		if err := h.Heard(h.req.Session, h.req.Said); err != nil {
			ev.Reason = "the user's words could not be kept, and endorse nothing: " + err.Error()
		}
	} else if says && h.Elsewhere != nil {
		door.Close()
		h.Elsewhere() // the other program records the event too
		return
	}
	_ = door.Gate.NoteEvents(&ev)
}

// recordUnreadable records that a payload could not be parsed, so that doctor can show it. It
// records no text of the payload.
func (h *hookRun) recordUnreadable(err error) {
	door, failed := h.Open(h.projectFolder(), &h.req, h.answerByDialog)
	if failed != nil {
		return // ignored, because the call is denied even without this record
	}
	defer door.Close()
	_ = door.Gate.NoteEvents(&event.Event{Kind: event.Dropped, Server: h.Client, Direction: "client", Method: client.UnreadMethod, Detail: h.renderOrigin(), Reason: err.Error(), Bytes: len(h.payload)})
}

// outlet is the gate's Outlet for the call. It sets the hook's answer from the gate's decision.
type outlet struct {
	*hookRun
	door *Door
	done chan struct{}
}

func (o *outlet) setRefusal(why string) {
	answer := o.hookRun.refuseCall(why)
	o.answer = &answer
}

// Forward sets an answer that lets the client run the call or makes the client ask the person.
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

// renderQuestion returns the line that the client shows in its dialog about the call.
func (o *outlet) renderQuestion(x *gate.Exchange) string {
	s := "The owner's policy asks"
	if x.Event.RuleText != "" {
		s += " (" + x.Event.RuleText + ")"
	}
	if o.preview != "" {
		s += ". Preview: " + o.preview
	}
	return s + "."
}

// Refuse denies the call with the text that the proxy would use.
func (o *outlet) Refuse(_ *gate.Exchange, v gate.Verdict) {
	defer close(o.done)
	d := v.NewDenial(o.req.Calls[0])
	o.setRefusal(d.DescribeDenial())
}

// Waiting does nothing, because the answer is the only output of a hook.
func (o *outlet) Waiting(*gate.Exchange, time.Duration) {}
