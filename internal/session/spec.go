package session

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/clawai/clawai/internal/ask"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/session/packs"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/state/memory"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"
)

// Spec describes the sessions that Open and Listen build.
type Spec struct {
	Program string // the program that writes the record: "clawai VERSION"
	Peer    Peer   // the server; Listen does not use it, because Sessions.Open gets a Peer
	Call    *Call  // set for a session of only one call; nil for any other session

	Folders config.Folders
	Files   base.Files // the paths of the policy and its layers, and the project in which the client works
	Redact  redact.Mode
	Sync    audit.Sync

	// If Policy is not nil, it replaces the policy of the folders, and no file is watched for
	// changes. If Recorder is not nil, it replaces the record; the caller closes Recorder after
	// Close. If State is not nil, it replaces the shared state.
	Policy   *config.Loaded
	Recorder gate.Recorder
	State    *State

	// Ask returns the value of a command-line option about asking a person, and whether the option
	// was given. The argument option is the name without dashes. If Ask is nil, the session asks no
	// person and reads no settings.
	Ask    func(option string) (value string, given bool)
	NoForm bool // do not ask in the client's own form (MCP elicitation)
	// Parent means that the clients are child processes of this process. In the other case the
	// client has started this process. With Parent, this process identifies the agent's session,
	// and questions do not use the terminal, because the clients use the terminal.
	Parent bool

	// View describes this machine to the code that shows questions. View.Project is the folder in
	// which this process was started. If View.Project is empty, every write counts as outside the
	// project.
	View view.Options
	By   string // the account of the person at our terminal

	// Stderr is the standard error for a server that we start; nil if we start no server. The
	// server's output and our questions may share one terminal.
	Stderr *os.File

	Facts policy.Facts // see gate.Options.Facts

	ObserveOnly bool // see gate.Options.ObserveOnly

	// Before can answer a question before a person is asked. It returns false if a person must be
	// asked. nil: every question goes to a person.
	Before func(gate.Question) (gate.Answer, bool)

	// Prepare is called when the policy has been read and nothing is open yet. It returns the
	// values that the record must not show. Open returns an error of Prepare unchanged. Prepare may
	// be nil.
	Prepare func() (*redact.Known, error)
	// Through returns a recorder that wraps the record; it may be nil.
	Through func(gate.Recorder) gate.Recorder
}

// Call describes a session for only one call of the client's own tool. The start and the end of
// this session are not recorded.
type Call struct {
	Session string // id of the client's session; "" for none
	Labels  bool   // true if a rule asks what the client's session has seen
}

// OptionError is a mistake in the value of an option that Spec.Ask returned.
type OptionError struct{ error }

// Sessions holds the sessions of one process. Its methods are safe for concurrent use.
type Sessions struct {
	o        Spec
	settings config.Ask
	record   *audit.Log    // nil if Spec.Recorder is set
	edits    *config.Edits // edits of the policy file by a person's answers
	relay    *ask.StderrRelay

	ctx, working  context.Context    // ctx is for messages and working is for tasks; working is cancelled first
	stop, endWork context.CancelFunc // stop ends the wait for signals, which cancel ctx; endWork cancels the context working
	tasks         sync.WaitGroup     // the goroutines that Go has started

	caller *base.Caller // finds the account that makes the calls

	hidden atomic.Pointer[redact.Known] // secret values that must not be stored; nil for none

	mu     sync.Mutex     // guards the fields below
	policy *config.Loaded // the policy in force; o.Policy is nil, so that the first policy can be freed
	open   map[*Session]struct{}
}

// Open opens a session and records its start. After an error the caller must carry no message. End
// and then Close end the session.
func Open(ctx context.Context, o Spec) (*Session, error) {
	all, err := Listen(ctx, o)
	if err != nil {
		return nil, err
	}
	var one *Session
	if o.Call != nil {
		one, err = all.buildSession(o.Peer, all.inForce(), all.o.State)
	} else if one, err = all.Open(o.Peer); err != nil {
		err = fmt.Errorf("cannot keep a record: %w", err)
	}
	if err != nil {
		_ = all.Close()
		return nil, err
	}
	one.alone = true
	return one, nil
}

// Listen opens the parts that many sessions share. It is for a process that opens a session for
// each client that connects. The caller must call Close after all sessions are closed.
func Listen(ctx context.Context, o Spec) (*Sessions, error) {
	s := &Sessions{o: o, edits: &config.Edits{}, policy: o.Policy, open: map[*Session]struct{}{}}
	var signals func() (context.Context, context.CancelFunc)
	beginRecord := func() error {
		signals = catchSignals(ctx, o.Recorder == nil)
		return s.openRecord()
	}
	for _, step := range []func() error{s.readSettings, s.readPolicy, beginRecord} {
		if err := step(); err != nil {
			if signals != nil {
				_, stop := signals()
				stop()
			}
			s.callCentre() // perhaps the centre has newer rules that can be loaded
			return nil, err
		}
	}
	s.caller = base.NewCaller(s.o.Folders.State, s.policy.Policy)
	err := s.openShared()
	s.ctx, s.stop = signals()
	s.working, s.endWork = context.WithCancel(s.ctx)
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	s.o.Policy, s.o.Ask, s.o.Prepare = nil, nil, nil
	if o.Policy == nil {
		s.Go(s.watchPolicy)
	}
	if s.record != nil && o.Call == nil {
		s.Go(s.wantCentre)
	}
	return s, nil
}

// catchSignals returns a function that returns a context. If catch is true, the signals that stop a process
// end this context. The first registration of a signal takes as long as opening the record, because the
// runtime must start a thread. So a goroutine registers the signals, and the returned function waits until
// this is done.
func catchSignals(ctx context.Context, catch bool) func() (context.Context, context.CancelFunc) {
	if !catch {
		return func() (context.Context, context.CancelFunc) { return ctx, func() {} }
	}
	caught, stop := ctx, context.CancelFunc(nil)
	ready := make(chan struct{})
	go func() {
		defer close(ready)
		caught, stop = signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	}()
	return func() (context.Context, context.CancelFunc) {
		<-ready
		return caught, stop
	}
}

// askOptions lists the command-line options about asking a person, with their keys in config.toml.
var askOptions = []struct{ key, option string }{{"order", "ask"}, {"timeout", "ask-timeout"}}

// readSettings reads the settings for asking a person. The order of precedence is option,
// environment, file, default.
func (s *Sessions) readSettings() (err error) {
	if s.o.Ask == nil {
		return nil
	}
	if s.settings, err = LoadAsk(s.o.Folders); err != nil {
		return err
	}
	for _, one := range askOptions {
		if value, given := s.o.Ask(one.option); given {
			if err := s.settings.Set(one.key, value, "--"+one.option); err != nil {
				return &OptionError{fmt.Errorf("--%s: %w", one.option, err)}
			}
		}
	}
	s.settings.Order.Is = slices.DeleteFunc(s.settings.Order.Is, func(way string) bool {
		return way == "elicitation" && (s.o.NoForm || s.o.Parent) || way == "terminal" && s.o.Parent
	})
	return nil
}

func (s *Sessions) readPolicy() (err error) {
	if s.policy != nil {
		return nil
	}
	files := s.o.Files
	files.Packs = packs.Read
	if files.Hide, err = config.LoadHideDenied(s.o.Folders); err != nil {
		return err
	}
	s.policy, err = files.Load(s.o.Folders)
	return err
}

func (s *Sessions) openRecord() (err error) {
	var hidden *redact.Known
	if s.o.Prepare != nil {
		if hidden, err = s.o.Prepare(); err != nil {
			return err
		}
	}
	s.hidden.Store(hidden)
	if s.o.Recorder == nil {
		if s.record, err = base.OpenRecord(s.o.Folders.State, s.o.Redact, s.o.Sync); err != nil {
			return err
		}
		s.record.HideValues(hidden)
		memory.SettleSoon()
		s.o.Recorder = s.record
	}
	if s.o.Through != nil {
		s.o.Recorder = s.o.Through(s.o.Recorder)
	}
	s.o.Recorder = newFolding(s.o.Recorder)
	return nil
}

// openShared opens the shared state. It also opens the relay for the server's stderr if
// sharesTerminal returns true.
func (s *Sessions) openShared() (err error) {
	if s.o.State == nil {
		if err := s.shareState(); err != nil {
			return err
		}
	}
	if s.sharesTerminal() {
		s.relay, err = ask.NewStderrRelay(s.o.Stderr, terminalLock(s.o.Folders))
	}
	return err
}

// sharesTerminal reports whether a server that we start may write to the terminal while a question
// is open.
func (s *Sessions) sharesTerminal() bool {
	return s.o.Stderr != nil && !s.o.ObserveOnly && slices.Contains(s.settings.Order.Is, "terminal")
}

// watchAfter is the delay before the policy files are watched. An earlier watch would delay the
// start of the server, and the client waits for that start.
const watchAfter = 50 * time.Millisecond

// watchPolicy passes every change of the policy's files to open and future sessions.
func (s *Sessions) watchPolicy(ctx context.Context) {
	select { // let the server start first; Watch misses no change, because it begins by reading the files
	case <-ctx.Done():
	case <-time.After(watchAfter):
		config.Watch(ctx, s.inForce(), s.edits, s.reloadSessions)
	}
}

// wantEvery is the interval at which wantCentre checks that a process speaks with the centre. On a
// laptop that is not enrolled, the check reads only one file.
const wantEvery = 30 * time.Second

// wantCentre makes sure that some process speaks with the team's centre while sessions run. This
// process never speaks with the centre itself, so that the centre cannot delay a call.
func (s *Sessions) wantCentre(ctx context.Context) {
	for wait := watchAfter; ; wait = wantEvery {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		s.caller.Wake()
		s.callCentre()
	}
}

// callCentre starts the process that speaks with the centre. It starts no process if the laptop is
// not enrolled or if such a process already runs.
func (s *Sessions) callCentre() {
	if enrolment.WantSync(s.o.Folders.State, time.Now()) {
		_ = enrolment.StartSync(s.o.Folders.State) // an error is ignored: clawai status shows how long the centre was not reached
	}
}

// Context returns the context in which messages are carried. If clawai keeps the record itself, a
// signal to stop the process cancels this context. So clawai can still record the end of the
// session.
func (s *Sessions) Context() context.Context { return s.ctx }

// Go runs work in its own goroutine. For a session from the function Open, the context of work is
// cancelled before the end of the session is recorded.
func (s *Sessions) Go(work func(context.Context)) { s.tasks.Go(func() { work(s.working) }) }

// stopTasks cancels the goroutines that Go has started, and waits for them.
func (s *Sessions) stopTasks() {
	s.endWork()
	s.tasks.Wait()
}

// CountOpen returns the number of open sessions and of their questions that wait for a person.
func (s *Sessions) CountOpen() (sessions, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range s.open {
		waiting += one.CountWaiting()
	}
	return len(s.open), waiting
}

// Identify sets the caller in the facts of a call, as the gate does.
func (s *Sessions) Identify(f *policy.Facts) { s.caller.Identify(f) }

// HideValues hides these secret values in everything that is recorded or kept from now on.
func (s *Sessions) HideValues(k *redact.Known) {
	s.hidden.Store(k)
	s.record.HideValues(k)
}

// Stderr returns the standard error for a server that we start. If the server's output goes to the
// terminal, the output waits while a question is open there. Call CloseServerEnd after the start of
// the server, and also if the server does not start.
func (s *Sessions) Stderr() *os.File {
	if s.relay != nil {
		return s.relay.Stderr()
	}
	return s.o.Stderr
}

// CloseServerEnd closes the file that Stderr returned, unless that file is Spec.Stderr. The server
// has its own copy.
func (s *Sessions) CloseServerEnd() { s.relay.CloseServerEnd() }

// Close releases the terminal, closes the journals of the agent's session, and then closes the
// record. An error means that the record could not be closed.
func (s *Sessions) Close() error {
	s.stopTasks()
	s.stop()
	s.relay.Close()
	if s.o.State != nil && s.o.State.Flow != nil {
		s.o.State.Flow.Close()
	}
	if s.record == nil {
		return nil
	}
	if err := s.record.Close(); err != nil {
		return fmt.Errorf("close the record: %w", err)
	}
	return nil
}
