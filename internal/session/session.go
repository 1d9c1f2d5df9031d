package session

import (
	"fmt"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/pinning"
	"github.com/clawai/clawai/internal/session/screening"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/internal/state/memory"
	"github.com/clawai/clawai/internal/state/release"
)

// Peer is the server of a session.
type Peer struct {
	Name  string // the server's name in rules; "" if the server has no such name
	Guess string // a name guessed from the server's command; people see the name, but rules never use it
	Is    string // the server's command or address in the record: "command ..." or "server ..."

	Command []string // the command that starts the server; nil for a server at an address
	URL     string   // the server's address; "" for a server that we start

	// URLs returns the addresses of a hub's servers by their names in rules; nil for a single
	// server.
	URLs func(name string) string
}

// serverURL returns the address of the server with this name in rules; "" if the server has no
// address.
func (p *Peer) serverURL(name string) string {
	if p.URLs != nil {
		return p.URLs(name)
	}
	return p.URL
}

// upstreamKey returns a key that is different for each server.
func (p *Peer) upstreamKey() string { return fmt.Sprintf("%q %q %q", p.Command, p.URL, p.Is) }

// Session is one connection between a client and a server.
type Session struct {
	*gate.Session
	All     *Sessions // the part that this session shares with the other sessions of the process
	alone   bool      // the field All belongs to this session alone, so Close closes All too
	server  string    // the server's name in rules; "" if the server has no such name
	asking  *asking
	pins    *pinning.ClientPins // nil if approvals are not kept
	release func()              // closes everything that only this session uses
	seen    *flow.ServerLabels  // labels of the agent's session for this server; nil if labels are not kept
	flow    *flow.Session       // the agent's session itself
}

// Open builds a session and records its start. After an error the caller must carry no message.
// End and then Close end the session.
func (s *Sessions) Open(p Peer) (*Session, error) { return s.startSession(p, s.o.State) }

func (s *Sessions) startSession(p Peer, in *State) (*Session, error) {
	under := s.inForce()
	one, err := s.buildSession(p, under, in)
	if err != nil {
		return nil, err
	}
	start := &event.Event{Kind: event.Start, ServerGuess: p.Guess, Detail: fmt.Sprintf("%s; %s; policy %s, revision %s",
		s.o.Program, p.Is, under.Path, under.Policy.Revision())}
	if err := one.noteServerEvents(append([]*event.Event{start}, layerEvents(under)...)...); err != nil {
		_ = one.Close()
		return nil, err
	}
	s.joinSession(one, under)
	return one, nil
}

func (s *Sessions) buildSession(p Peer, under *config.Loaded, in *State) (*Session, error) {
	shown := p.Name
	if shown == "" {
		shown = p.Guess
	}
	a := s.newAsking(shown, under)
	approver, concluder := a.makeApprover()
	if s.o.Before != nil {
		b := &quickApprover{first: s.o.Before, Approver: approver, Concluder: concluder}
		approver, concluder = b, b
	}
	seen, labels := in.serverLabels(p, shown, under)
	one := &Session{server: p.Name, All: s, asking: a, seen: seen, flow: in.Flow}
	if in.Pins != nil {
		asks := &listAsker{asking: a, approver: approver, concluder: concluder}
		one.pins = pinning.NewSession(in.Pins, asks.askDifferences, one.recordApproval)
		if s.o.ObserveOnly {
			one.pins = pinning.NewSession(in.Pins, nil, nil)
		}
	}
	asked, granted := openLedger(in.Asked), openLedger(in.Granted)
	one.release = func() { closeLedgers(asked, granted) }
	guard, err := gate.New(gate.Options{
		Policy: under.Policy, Recorder: in.makeRecorder(s.o.Recorder), Approver: approver, Concluder: concluder,
		Inspector: screening.New(shown, p.serverURL, one.pins), Labels: labels, Releases: release.Store{State: s.o.Folders.State},
		AskTimeout: s.settings.Timeout.Is, AskPerMinute: s.settings.PerMinute.Is, MaxWaiting: s.settings.AtOnce.Is, OnGrants: a.signalGrants, OnMuted: a.notifyMuted,
		ObserveOnly: s.o.ObserveOnly, Limits: in.Limits, Asked: asked, Granted: granted, Upstream: p.upstreamKey(), Facts: s.o.Facts, Identify: s.caller.Identify,
		Mask: func(text string) string { return s.hidden.Load().MaskText(text) },
	})
	if err != nil {
		one.release()
		return nil, err
	}
	one.Session = guard
	a.guard = one
	return one, nil
}

// serverLabels returns the labels of the agent's session for one server.
func (s *State) serverLabels(p Peer, shown string, under *config.Loaded) (*flow.ServerLabels, gate.Labels) {
	if s.Flow == nil {
		return nil, gate.None{}
	}
	one := s.Flow.NewServer(p.Name, shown, func() *flow.Known { return flow.RecogniseServer(p.Command, p.URL) }, under.Policy)
	return one, one
}

// Labels returns the labels of the agent's session, in the form for this server's rules.
func (s *Session) Labels() *flow.ServerLabels { return s.seen }

func (s *Sessions) inForce() *config.Loaded {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.policy
}

// joinSession adds a session to the sessions that get policy changes. loaded is the policy with
// which the session was built. If another policy is in force now, joinSession gives this policy to
// the session.
func (s *Sessions) joinSession(one *Session, loaded *config.Loaded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[one] = struct{}{}
	if s.policy != loaded {
		one.reloadPolicy(s.policy, nil)
	}
}

func (s *Session) noteServerEvents(events ...*event.Event) error {
	for _, ev := range events {
		ev.Server = s.server
	}
	return s.NoteEvents(events...)
}

// recordApproval records that a person has approved a server's lists.
func (s *Session) recordApproval() {
	_ = s.noteServerEvents(&event.Event{Kind: event.Policy, Code: "approved", Detail: "what the server lists passes as it is; a client that keeps lists sees it when it lists again"})
	s.Relist()
}

// End writes into the record how a session ended, and the exit code of clawai.
func (s *Session) End(how string, code int) {
	if s.alone {
		s.All.stopTasks() // a change of the policy must not be recorded after the end
	}
	s.All.mu.Lock()
	delete(s.All.open, s)
	s.All.mu.Unlock()
	_ = s.noteServerEvents(&event.Event{Kind: event.End, Detail: fmt.Sprintf("server: %s; clawai's exit code %d", how, code)})
}

// Close refuses waiting calls and closes everything that was opened for the session. An error means
// that the record could not be closed.
func (s *Session) Close() error {
	if s.alone {
		s.All.stop() // from now on a signal ends the process, so a person can end a Close that hangs
	}
	s.Session.Close()
	if s.pins != nil {
		s.pins.Close()
	}
	s.asking.close()
	s.release()
	if s.alone {
		return s.All.Close()
	}
	return nil
}

func (s *Sessions) reloadSessions(next *config.Loaded, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.policy = next
		s.caller.SetPolicy(next.Policy)
	}
	for one := range s.open {
		one.reloadPolicy(next, err)
	}
}

// reloadPolicy passes a changed policy to the gate. A broken policy is only recorded.
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
		memory.ReleaseSoon() // the previous policy may be large
	}
	_ = s.noteServerEvents(events...) // if the record fails, the next call is refused
}

// layerEvents returns an event for each layer above the policy, and for each note about layers.
func layerEvents(l *config.Loaded) (events []*event.Event) {
	for _, layer := range l.Policy.Layers() {
		events = append(events, &event.Event{Kind: event.Policy, Code: "layer",
			Detail: fmt.Sprintf("under the %s's %s, revision %s", layer.LayerName(), layer.FileName(), layer.Revision())})
	}
	return append(events, noteEvents(l.Notes)...)
}

// noteEvents returns events for notes about layers.
func noteEvents(notes []string) (events []*event.Event) {
	for _, note := range notes {
		events = append(events, &event.Event{Kind: event.Policy, Code: "layer_kept", Reason: note})
	}
	return events
}
