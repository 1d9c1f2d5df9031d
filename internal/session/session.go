package session

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/clawai/clawai/internal/ask"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/pinning"
	"github.com/clawai/clawai/internal/session/screening"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/internal/state/memory"
	"github.com/clawai/clawai/policy"
)

// Options of New. Policy, Recorder and State are required.
type Options struct {
	Program  string // what writes the record: "clawai VERSION"
	Policy   *config.Loaded
	Recorder gate.Recorder
	State    State
	Ask      config.Ask
	Folders  config.Folders

	// View is what is known of this machine when a question is shown. Its Project
	// is the folder we were started in; without one, every write is one outside.
	View view.Options
	By   string // who answers at a terminal of ours: an account

	// Stderr is where a server that we start writes beside our questions; nil when
	// there is none.
	Stderr *os.File

	Facts policy.Facts // as gate.Options has them

	ObserveOnly bool // as gate.Options has it

	// Before is tried before the ways to ask: false leaves the question to them.
	Before func(gate.Question) (gate.Answer, bool)
}

// sharesTerminal reports whether a server that we start may write where a question
// is open.
func (o *Options) sharesTerminal() bool {
	return o.Stderr != nil && !o.ObserveOnly && slices.Contains(o.Ask.Order.Is, "terminal")
}

// Sessions are those of one process. Its methods are safe for concurrent use.
type Sessions struct {
	o     Options
	edits *config.Edits // of the policy, by answers of a person
	relay *ask.StderrRelay

	mu     sync.Mutex     // guards what follows
	policy *config.Loaded // in force; o.Policy is nil, or the first would be kept for good
	open   map[*Session]struct{}
}

// New prepares for sessions. Close is called when all of them are closed.
func New(o Options) (*Sessions, error) {
	s := &Sessions{o: o, edits: &config.Edits{}, policy: o.Policy, open: map[*Session]struct{}{}}
	s.o.Policy, s.o.Recorder = nil, newFolding(o.Recorder)
	if !o.sharesTerminal() {
		return s, nil
	}
	aside, err := ask.NewStderrRelay(o.Stderr, terminalLock(o.Folders))
	if err != nil {
		return nil, err
	}
	s.relay = aside
	return s, nil
}

// Close lets go of the terminal: nobody asks any more. It lets go of the journals of what the
// agent's session has seen, too.
func (s *Sessions) Close() {
	s.relay.Close()
	if s.o.State.Flow != nil {
		s.o.State.Flow.Close()
	}
}

// Stderr is what a server that we start gets: what it writes waits while a
// question is open. Started says that the server has it, or will not.
func (s *Sessions) Stderr() *os.File {
	if s.relay != nil {
		return s.relay.Stderr()
	}
	return s.o.Stderr
}

// CloseServerEnd gives up our side of what Stderr gave.
func (s *Sessions) CloseServerEnd() { s.relay.CloseServerEnd() }

// Peer is the server of a session.
type Peer struct {
	Name  string // what rules call it; "" is none
	Guess string // a name guessed from its command: shown and recorded, never judged
	Is    string // where it is, for the record: "command ..." or "server ..."

	Command []string // what starts it; nil of one at an address
	URL     string   // the address

	// URLs are the addresses of the servers of a hub, by what rules call them; nil of a
	// server.
	URLs func(name string) string
}

// serverURL gives the address of the server that rules call so; "" is none.
func (p *Peer) serverURL(name string) string {
	if p.URLs != nil {
		return p.URLs(name)
	}
	return p.URL
}

// upstreamKey tells the server from all others.
func (p *Peer) upstreamKey() string { return fmt.Sprintf("%q %q %q", p.Command, p.URL, p.Is) }

// Session is one connection between a client and a server.
type Session struct {
	*gate.Session
	server  string // what rules call it; "" is none
	all     *Sessions
	asking  *asking
	pins    *pinning.ClientPins // nil where nobody knows what was approved
	release func()              // lets go of what it alone has open
	seen    *flow.ServerLabels  // nil where nobody remembers what the agent's session has seen
}

// Open builds a session and records its start. An error says that the record
// cannot be kept: nothing may be carried. Close ends it, after End.
func (s *Sessions) Open(p Peer) (*Session, error) { return s.startSession(p, s.o.State) }

func (s *Sessions) startSession(p Peer, in State) (*Session, error) {
	under := s.inForce()
	one, err := s.buildSession(p, under, in)
	if err != nil {
		return nil, err
	}
	start := &event.Event{Kind: event.Start, ServerGuess: p.Guess, Detail: fmt.Sprintf("%s; %s; policy %s, revision %s",
		s.o.Program, p.Is, under.Path, under.Policy.Revision())}
	if err := one.noteServerEvents(append([]*event.Event{start}, layerEvents(under)...)...); err != nil {
		one.Close()
		return nil, err
	}
	s.joinSession(one, under)
	return one, nil
}

// OpenSingle builds a session for one call. It has no start and no end in the record, and
// hears of no change. Close ends it.
func (s *Sessions) OpenSingle(p Peer) (*Session, error) {
	return s.buildSession(p, s.inForce(), s.o.State)
}

func (s *Sessions) buildSession(p Peer, under *config.Loaded, in State) (*Session, error) {
	shown := p.Name
	if shown == "" {
		shown = p.Guess
	}
	a := s.newAsking(shown, under)
	approver, concluder := a.makeApprover()
	if s.o.Before != nil {
		b := &before{first: s.o.Before, Approver: approver, Concluder: concluder}
		approver, concluder = b, b
	}
	seen, labels := in.serverLabels(p, shown, under)
	one := &Session{server: p.Name, all: s, asking: a, seen: seen}
	if in.Pins != nil {
		asks := &listed{asking: a, approver: approver, concluder: concluder}
		one.pins = pinning.NewSession(in.Pins, asks.askDifferences, one.recordApproval)
		if s.o.ObserveOnly {
			one.pins = pinning.NewSession(in.Pins, nil, nil)
		}
	}
	asked, granted := makeLedger(in.Asked), makeLedger(in.Granted)
	one.release = func() { closeLedgers(asked, granted) }
	guard, err := gate.New(gate.Options{
		Policy: under.Policy, Recorder: in.makeRecorder(s.o.Recorder), Approver: approver, Concluder: concluder,
		Principals: gate.None{}, Inspector: screening.New(shown, p.serverURL, one.pins), Labels: labels,
		AskTimeout: s.o.Ask.Timeout.Is, AskPerMinute: s.o.Ask.PerMinute.Is, MaxWaiting: s.o.Ask.AtOnce.Is, OnGrants: a.signalGrants, OnMuted: a.notifyMuted,
		ObserveOnly: s.o.ObserveOnly, Limits: in.Limits, Asked: asked, Granted: granted, Upstream: p.upstreamKey(), Facts: s.o.Facts,
	})
	if err != nil {
		one.release()
		return nil, err
	}
	one.Session = guard
	a.guard = one
	return one, nil
}

// serverLabels gives what remembers for a server what the agent's session has seen.
func (s *State) serverLabels(p Peer, shown string, under *config.Loaded) (*flow.ServerLabels, gate.Labels) {
	if s.Flow == nil {
		return nil, gate.None{}
	}
	one := s.Flow.NewServer(p.Name, shown, func() *flow.Known { return flow.RecogniseServer(p.Command, p.URL) }, under.Policy)
	return one, one
}

// Labels are what the agent's session has seen, as this server's rules are told it.
func (s *Session) Labels() *flow.ServerLabels { return s.seen }

func (s *Sessions) inForce() *config.Loaded {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.policy
}

// joinSession has a session, made with the policy under, hear of every change from now
// on, and of one that came while it was made.
func (s *Sessions) joinSession(one *Session, under *config.Loaded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[one] = struct{}{}
	if s.policy != under {
		one.reloadPolicy(s.policy, nil)
	}
}

// noteServerEvents records events of this session's server.
func (s *Session) noteServerEvents(events ...*event.Event) error {
	for _, ev := range events {
		ev.Server = s.server
	}
	return s.NoteEvents(events...)
}

// recordApproval says that a person has approved what a server lists.
func (s *Session) recordApproval() {
	_ = s.noteServerEvents(&event.Event{Kind: event.Policy, Code: "approved", Detail: "what the server lists passes as it is; a client that keeps lists sees it when it lists again"})
	s.Relist()
}

// End records how a session ended, and with which of our exit codes.
func (s *Session) End(how string, code int) {
	s.all.mu.Lock()
	delete(s.all.open, s)
	s.all.mu.Unlock()
	_ = s.noteServerEvents(&event.Event{Kind: event.End, Detail: fmt.Sprintf("server: %s; clawai's exit code %d", how, code)})
}

// Close refuses what still waits and ends what asked.
func (s *Session) Close() {
	s.Session.Close()
	if s.pins != nil {
		s.pins.Close()
	}
	s.asking.close()
	s.release()
}

// Watch gives every change of the policy's files to the sessions that are open
// and to those to come, until ctx ends.
func (s *Sessions) Watch(ctx context.Context) {
	config.Watch(ctx, s.inForce(), s.edits, s.reloadSessions)
}

func (s *Sessions) reloadSessions(next *config.Loaded, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.policy = next
	}
	for one := range s.open {
		one.reloadPolicy(next, err)
	}
}

// reloadPolicy gives the gate a changed policy; a broken one changes nothing but the
// record.
func (s *Session) reloadPolicy(next *config.Loaded, err error) {
	ev := &event.Event{Kind: event.Policy}
	events := []*event.Event{ev}
	if err != nil {
		ev.Code, ev.Reason = "policy_kept", "the policy file cannot be used; the last good one stays in force: "+err.Error()
	} else {
		if s.seen != nil {
			s.seen.SetPolicy(next.Policy)
		}
		s.SetPolicy(next.Policy)
		ev.Code, ev.Detail = "policy_loaded", "revision "+next.Policy.Revision()
		events = append(events, noteEvents(next.News)...)
		memory.ReleaseSoon() // what was in force may be large
	}
	_ = s.noteServerEvents(events...) // a record that fails refuses the next call
}

// layerEvents tells of what stands over the policy, and of what does not.
func layerEvents(l *config.Loaded) (events []*event.Event) {
	for _, layer := range l.Policy.Layers() {
		events = append(events, &event.Event{Kind: event.Policy, Code: "layer",
			Detail: fmt.Sprintf("under the %s's %s, revision %s", layer.LayerName(), layer.FileName(), layer.Revision())})
	}
	return append(events, noteEvents(l.Notes)...)
}

// noteEvents gives notes about layers as the record has them.
func noteEvents(notes []string) (events []*event.Event) {
	for _, note := range notes {
		events = append(events, &event.Event{Kind: event.Policy, Code: "layer_kept", Reason: note})
	}
	return events
}
