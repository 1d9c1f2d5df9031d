package approve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/clawai/clawai/internal/approve/queue"
	"github.com/clawai/clawai/internal/approve/remember"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/term"
)

const rung = "terminal"

// defaultGrace is how long a question must have been in sight before a key is
// an answer.
const defaultGrace = 300 * time.Millisecond

// Options say how a Terminal asks.
type Options struct {
	Always *remember.Keeper // writes "always" rules; nil: not offered
	Lock   string           // a file all proxies of this user share; needed
	TTY    string           // default /dev/tty
	Grace  time.Duration    // default 300 ms
	Plain  bool             // plain text; also chosen by TERM=dumb and CLAWAI_ACCESSIBLE
}

// Terminal asks on the controlling terminal when this process may own it.
type Terminal struct {
	o    Options
	turn chan struct{} // one question at a time
}

var _ gate.Approver = (*Terminal)(nil)

// NewTerminal gives an approver that opens the terminal for each question only.
func NewTerminal(o Options) *Terminal {
	o.TTY = cmp.Or(o.TTY, "/dev/tty")
	o.Grace = cmp.Or(o.Grace, defaultGrace)
	switch os.Getenv("TERM") {
	case "", "dumb", "unknown":
		o.Plain = true
	}
	o.Plain = o.Plain || os.Getenv("CLAWAI_ACCESSIBLE") != ""
	return &Terminal{o: o, turn: make(chan struct{}, 1)}
}

// Ask shows the question and waits for the answer, the deadline, or ctx. An
// error means that nobody decided, and says how to allow such a call. While a
// question is open, SIGINT, SIGTERM, SIGHUP and SIGQUIT end it as a deny with
// the terminal restored; acting on them otherwise is the caller's own business.
func (t *Terminal) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	deny := gate.Answer{Digest: q.Digest, Rung: rung}
	if !q.Deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, q.Deadline, errUnanswered)
		defer cancel()
	}
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return noted(deny, context.Cause(ctx))
	}
	answer, err := t.askNow(ctx, q)
	if err != nil {
		return noted(deny, err)
	}
	answer.Digest, answer.Rung = q.Digest, rung
	return answer, nil
}

// noted is a deny that nobody decided. The note goes to the agent and names no
// path; the error goes to the owner's record and says what would help.
func noted(a gate.Answer, err error) (gate.Answer, error) {
	a.Reply = gate.DenyOnce
	if not, ok := errors.AsType[*term.NotOwned](err); ok {
		a.Note = not.Reason.String()
		return a, fmt.Errorf("nobody could be asked; to allow such a call, add a rule for it above the rule that asks, "+
			"or run the client where its terminal is free: %w", err)
	}
	for _, known := range []error{errUnanswered, errTooSmall, errTooMany, term.ErrHungUp} {
		if errors.Is(err, known) {
			a.Note = known.Error()
		}
	}
	return a, err
}

func (t *Terminal) askNow(ctx context.Context, q gate.Question) (answer gate.Answer, err error) {
	if len(q.Calls) == 0 {
		return answer, errors.New("a question without a call")
	}
	h, err := t.prepare(q)
	if err != nil {
		return answer, err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer stop()
	tty, err := term.Own(ctx, t.o.TTY, t.o.Lock)
	if err != nil {
		return answer, err
	}
	defer func() {
		if r := recover(); r != nil {
			answer, err = gate.Answer{}, fmt.Errorf("asking failed: %v", r)
		}
		err = errors.Join(err, tty.Close())
	}()
	word, err := t.show(ctx, tty, h.page)
	if err != nil {
		return answer, err
	}
	switch word {
	case wordAllow:
		answer.Reply = gate.AllowOnce
	case wordSession:
		answer.Reply = gate.AllowSession
	case wordAlways:
		return t.always(ctx, tty, h, gate.AllowAlways)
	case wordNever:
		return t.always(ctx, tty, h, gate.DenyAlways)
	}
	return answer, nil
}

// asked is a question in hand, with the rules that an answer could write.
type asked struct {
	question gate.Question
	page     page
	offers   []queue.Offer
}

func (t *Terminal) prepare(q gate.Question) (*asked, error) {
	offers, whyNot := t.o.Always.Offers(q)
	p, err := ask(q, offers, whyNot)
	return &asked{question: q, page: p, offers: offers}, err
}

func (t *Terminal) show(ctx context.Context, tty *term.Tty, p page) (string, error) {
	if t.o.Plain {
		return askPlain(ctx, tty, p, t.o.Grace)
	}
	return askForm(ctx, tty, p, t.o.Grace)
}
