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
	Call    *Call  // for a session of only one call; nil for any other session

	Folders config.Folders
	Files   base.Files // where the policy and its layers are, and in which project the client works
	Redact  redact.Mode
	Sync    audit.Sync

	// Policy, Recorder and State, where not nil, replace the policy, the record and the shared state
	// of the folders. The caller that sets Recorder closes it after Close. If Policy is set, no file
	// is watched for changes.
	Policy   *config.Loaded
	Recorder gate.Recorder
	State    *State

	// Ask returns the value of a command-line option about asking a person, and whether the option
	// was given. The option's name comes without its dashes. If Ask is nil, the session asks nobody
	// and reads no settings.
	Ask    func(option string) (value string, given bool)
	NoForm bool // do not ask in the client's own form (MCP elicitation)
	// Parent means that the clients are our child processes, not the program that has started us. Then
	// our process identifies the agent's session, and questions do not use the terminal, because the
	// clients use it.
	Parent bool

	// View describes this machine to the code that shows questions. View.Project is the folder in
	// which we were started. Without it, every write counts as outside the project.
	View view.Options
	By   string // the account that answers at our terminal

	// Stderr is the standard error of a server that we start. It is nil if we start none. The
	// server's output and our questions may share one terminal.
	Stderr *os.File

	Facts policy.Facts // as in gate.Options

	ObserveOnly bool // as in gate.Options

	// Before can answer a question before a person is asked. It returns false if a person must be
	// asked. nil: every question goes to a person.
	Before func(gate.Question) (gate.Answer, bool)

	// Prepare is called after the policy was read and before anything is opened; it may be nil. It
	// returns the values that the record must not show. Open returns an error of Prepare unchanged.
	Prepare func() (*redact.Known, error)
	// Through returns a recorder that wraps the record; it may be nil.
	Through func(gate.Recorder) gate.Recorder
}

// Call describes a session for only one call of the client's own tool. The record has no start and
// no end of such a session.
type Call struct {
	Session string // id of the client's session; "" for none
	Labels  bool   // whether a rule asks what the client's session has seen
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

	ctx, working  context.Context    // ctx is for messages, working for tasks; working ends first
	stop, endWork context.CancelFunc // stop ends a ctx that listens to signals, endWork ends working
	tasks         sync.WaitGroup     // what Go has started

	caller *base.Caller // who makes the calls

	hidden atomic.Pointer[redact.Known] // secret values that must be stored nowhere; nil for none

	mu     sync.Mutex     // guards the fields below
	policy *config.Loaded // the policy in force; o.Policy is nil, so that the first policy can be freed
	open   map[*Session]struct{}
}

// Open opens a session and records its start. An error means that no message may be carried. End
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

// Listen opens what many sessions share, for a process that opens a session for each client that
// connects. The caller must call Close after all sessions are closed.
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
			s.callCentre() // if the team's rules do not load, the centre may send rules that do
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

// catchSignals makes the signals that stop a process end a context, if catch is true. It does so beside its
// caller: to begin with the first signal takes the runtime a thread and several switches, as long as opening
// the record takes. The result waits until the signals are caught.
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

// readSettings reads how a person is asked. The order of precedence is option, environment, file,
// default.
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

// openShared opens the shared state, and the relay for the server's stderr if sharesTerminal.
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

// watchAfter is the delay before the policy files are watched. Without it, the start of the server,
// for which the client waits, would take longer.
const watchAfter = 50 * time.Millisecond

// watchPolicy passes every change of the policy's files to open and future sessions.
func (s *Sessions) watchPolicy(ctx context.Context) {
	select { // the server starts first; nothing is missed, because Watch begins by reading the files
	case <-ctx.Done():
	case <-time.After(watchAfter):
		config.Watch(ctx, s.inForce(), s.edits, s.reloadSessions)
	}
}

// wantEvery is how often a process with sessions makes sure that a process speaks with the centre. On a
// laptop that is not enrolled, this only checks one file.
const wantEvery = 30 * time.Second

// wantCentre makes sure that a process speaks with the team's centre while sessions run. It is always
// another process, so that the centre never delays a call.
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

// callCentre starts the process that speaks with the centre, if the laptop is enrolled and none runs.
func (s *Sessions) callCentre() {
	if enrolment.WantSync(s.o.Folders.State, time.Now()) {
		_ = enrolment.StartSync(s.o.Folders.State) // after an error, clawai status shows since when the centre was not reached
	}
}

// Context returns the context in which messages are carried. If clawai keeps the record itself, a
// signal to stop the process ends this context, so that the end of the session can be recorded.
func (s *Sessions) Context() context.Context { return s.ctx }

// Go runs work in its own goroutine. The context of work ends before a session that the function
// Open has returned records its end.
func (s *Sessions) Go(work func(context.Context)) { s.tasks.Go(func() { work(s.working) }) }

// stopTasks ends what Go has started, and waits for it.
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

// HideValues hides values in everything that is recorded or kept from now on.
func (s *Sessions) HideValues(k *redact.Known) {
	s.hidden.Store(k)
	s.record.HideValues(k)
}

// Stderr returns the standard error for a server that we start. If the server's output goes to the
// terminal, it is kept back while a question is open there. Call CloseServerEnd after the server
// was started, and also if it is not started.
func (s *Sessions) Stderr() *os.File {
	if s.relay != nil {
		return s.relay.Stderr()
	}
	return s.o.Stderr
}

// CloseServerEnd closes the file that Stderr returned, unless that file is Spec.Stderr. The server
// has its own copy.
func (s *Sessions) CloseServerEnd() { s.relay.CloseServerEnd() }

// Close releases the terminal, closes the journals of what the agent's session has seen, and then
// closes the record. The error says that the record could not be closed.
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
