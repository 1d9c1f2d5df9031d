package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/remember"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/term"
)

const terminal = "terminal"

// defaultGrace is the time after a question appears in which no key counts as an answer.
const defaultGrace = 300 * time.Millisecond

// Options configure a Terminal.
type Options struct {
	RuleWriter *remember.Writer // writes the rules of "always" answers; nil: "always" is not offered
	Stderr     *StderrRelay     // holds back the server's stderr during a question; nil if clawai does not relay it
	Lock       string           // path of a lock file that all proxies of this user share; required
	By         string           // account of the person at the terminal, for the record
	View       view.Options     // only Project, Home and ReadFile are used; the question gives the rest
	TTY        string           // path of the terminal; "" means /dev/tty
	Grace      time.Duration    // how long no key counts as an answer after a question appears; 0 means 300 ms
	Plain      bool             // print plain text instead of a form; TERM=dumb and CLAWAI_ACCESSIBLE also choose this
}

// Terminal asks on the controlling terminal, if this process may use the terminal.
type Terminal struct {
	o     Options
	color bool          // colours may be used: NO_COLOR is not set
	turn  chan struct{} // holds one element while a question is open
}

// NewTerminal returns an approver. It opens the terminal anew for each question.
func NewTerminal(o Options) *Terminal {
	o.TTY = cmp.Or(o.TTY, "/dev/tty")
	o.Grace = cmp.Or(o.Grace, defaultGrace)
	switch os.Getenv("TERM") {
	case "", "dumb", "unknown":
		o.Plain = true
	}
	o.Plain = o.Plain || !term.Screens || os.Getenv("CLAWAI_ACCESSIBLE") != ""
	return &Terminal{o: o, color: os.Getenv("NO_COLOR") == "", turn: make(chan struct{}, 1)}
}

// Name returns "terminal", the channel's name in records.
func (t *Terminal) Name() string { return terminal }

// Available returns nil if we may ask on the terminal. It also returns nil if another clawai asks
// there now, because Ask then waits.
func (t *Terminal) Available(context.Context, gate.Question) error {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	tty, err := term.OpenTerminal(now, t.o.TTY, t.o.Lock)
	if not, ok := errors.AsType[*term.NotOwned](err); ok && not.Reason == term.Busy {
		return nil
	}
	if err != nil {
		return err
	}
	return tty.Close()
}

// Ask shows the question and waits until the person answers, the deadline passes or ctx ends. If
// there is no answer, it returns an error that tells how to allow such a call. While a question is
// open, SIGINT, SIGTERM, SIGHUP and SIGQUIT deny it and restore the terminal. At other times the
// caller must handle these signals.
func (t *Terminal) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	ctx, stop := withDeadline(ctx, q.Deadline)
	defer stop()
	answer, err := t.withTerminal(ctx, func(ctx context.Context, tty *term.Tty) (gate.Answer, error) {
		return t.askQuestion(ctx, tty, q)
	})
	answer.Digest = q.Digest
	if err != nil {
		return denyWithNote(answer, err)
	}
	return answer, nil
}

// denyWithNote returns a deny for a question that no person answered. The note is for the agent, so
// it contains no path. The error is for the owner's record and suggests what to do.
func denyWithNote(a gate.Answer, err error) (gate.Answer, error) {
	a.Reply = gate.DenyOnce
	if not, ok := errors.AsType[*term.NotOwned](err); ok {
		a.Note = not.Reason.String()
		return a, fmt.Errorf("nobody could be asked; to allow such a call, add a rule for it above the rule that asks, "+
			"or run the client where its terminal is free: %w", err)
	}
	for _, known := range []error{errUnanswered, errTooSmall, view.ErrTooMany, view.ErrUnreadable, term.ErrHungUp} {
		if errors.Is(err, known) {
			a.Note = known.Error()
		}
	}
	return a, err
}

// withTerminal calls the function in the parameter ask while this process alone uses the terminal.
func (t *Terminal) withTerminal(ctx context.Context, ask func(context.Context, *term.Tty) (gate.Answer, error)) (answer gate.Answer, err error) {
	answer = gate.Answer{Channel: terminal, By: t.o.By}
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return answer, context.Cause(ctx)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer stop()
	release, err := t.o.Stderr.holdTerminal(ctx)
	if err != nil {
		return answer, err
	}
	defer release()
	tty, err := term.OpenTerminal(ctx, t.o.TTY, t.o.Lock)
	if err != nil {
		return answer, err
	}
	said, err := catchPanic(func() (gate.Answer, error) { return ask(ctx, tty) })
	answer.Reply, answer.Scope, answer.Note = said.Reply, said.Scope, said.Note
	return answer, errors.Join(err, tty.Close())
}

// openQuestion is an open question, with the rules that its answer can write.
type openQuestion struct {
	question gate.Question
	page     dialog.Page
	offers   []view.Offer
}

// askQuestion shows the page of one question and reads the answer.
func (t *Terminal) askQuestion(ctx context.Context, tty *term.Tty, q gate.Question) (answer gate.Answer, err error) {
	v, err := t.viewQuestion(q)
	if err != nil {
		return answer, err
	}
	offers, whyNot := t.o.RuleWriter.Offers(q)
	h := &openQuestion{question: q, page: questionPage(q, v, offers, whyNot), offers: offers}
	for {
		answer.Scope = ""
		word, err := t.showPage(ctx, tty, h.page)
		if err != nil {
			return answer, err
		}
		if word == dialog.Always || word == dialog.Never {
			return t.askAlways(ctx, tty, h, dialog.ReplyForWord(word))
		}
		answer.Reply = dialog.ReplyForWord(word)
		if far := view.ForSession(offers); answer.Reply == gate.AllowSession && len(far) > 1 {
			if word, err = t.showPage(ctx, tty, reachPage(far, h.page.Hints)); err != nil || word == dialog.Deny {
				return gate.Answer{}, err
			}
			answer.Scope = word
		}
		if !answer.Reply.Allows() || len(v.Dangers) == 0 {
			return answer, nil
		}
		what := dialog.SureOnce
		if answer.Reply == gate.AllowSession {
			what = dialog.SureSession
		}
		sure := dialog.DangerPage(v.Headline(0), v.Dangers, what)
		sure.Hints = h.page.Hints
		switch word, err = t.showPage(ctx, tty, sure); {
		case err != nil:
			return gate.Answer{}, err
		case word == dialog.Yes:
			return answer, nil
		}
	}
}

func (t *Terminal) viewQuestion(q gate.Question) (view.Question, error) {
	o := t.o.View
	o.Server, o.Rule, o.Why, o.Reply, o.Preview = q.Server, q.Rule, q.Why, q.Reply, q.Preview
	return view.NewQuestion(q.Calls, o)
}

func (t *Terminal) showPage(ctx context.Context, tty *term.Tty, p dialog.Page) (string, error) {
	if t.o.Plain {
		return askPlain(ctx, tty, p, t.o.Grace)
	}
	return askForm(ctx, tty, p, t.o.Grace, t.color)
}
