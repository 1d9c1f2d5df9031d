package ask

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/gatetest"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
)

var numbers atomic.Uint64

func aQuestion() gate.Question {
	n := numbers.Add(1)
	return gate.Question{
		Number: n, Digest: [32]byte{byte(n), byte(n >> 8), 1}, Deadline: time.Now().Add(time.Minute), Session: true, Server: "files", ClientName: "claude-ai 0.1.0",
		Calls: []policy.Call{{Server: "files", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"read_file"}}},
	}
}

// asking is a question that is open.
type asking struct {
	q      gate.Question
	cancel context.CancelCauseFunc
	result chan answered
}

func askOn(a gate.Approver) *asking {
	k := &asking{q: aQuestion(), result: make(chan answered, 1)}
	var ctx context.Context
	ctx, k.cancel = context.WithCancelCause(context.Background())
	go func() {
		answer, err := a.Ask(ctx, k.q)
		k.result <- answered{answer, err}
	}()
	return k
}

func (k *asking) end(t testing.TB) answered {
	t.Helper()
	select {
	case r := <-k.result:
		return r
	case <-time.After(time.Minute):
		t.Fatal("no answer in time")
	}
	return answered{}
}

func (k *asking) wants(t testing.TB, reply gate.Reply, channel string) gate.Answer {
	t.Helper()
	r := k.end(t)
	if r.err != nil || r.Reply != reply || r.Channel != channel || r.Digest != k.q.Digest || r.By == "" {
		t.Fatalf("got %s from %q by %q, %v; want %s from %q", r.Reply, r.Channel, r.By, r.err, reply, channel)
	}
	return r.Answer
}

func TestLadderKeepsTheContract(t *testing.T) {
	slow.Test(t)
	for name, o := range map[string]func(ChainOptions) ChainOptions{
		"with a queue":      func(o ChainOptions) ChainOptions { o.Queue = newMemQueue().line(); return o },
		"without a queue":   func(o ChainOptions) ChainOptions { return o },
		"with a dead queue": func(o ChainOptions) ChainOptions { o.Queue = (&memQueue{refuse: errors.New("full")}).line(); return o },
		"behind an empty channel": func(o ChainOptions) ChainOptions {
			o.Channels = append([]Channel{&fakeChannel{absent: errLeft}}, o.Channels...)
			return o
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gatetest.Run(t, gatetest.Approver{
				New: func(t testing.TB) (gate.Approver, gatetest.Person) {
					s := newFakeChannel("terminal")
					l := NewChain(o(ChainOptions{Channels: []Channel{s}}))
					t.Cleanup(l.Close)
					return l, s
				},
				Replies: []gate.Reply{gate.DenyOnce, gate.AllowOnce, gate.AllowSession, gate.AllowAlways, gate.DenyAlways},
			})
		})
	}
}

// attendant answers in the queue.
type attendant struct {
	memQueue *memQueue
	here     *atomic.Bool
}

// Say answers the next that still waits; one that was told to stop does not.
func (a attendant) Say(r gate.Reply) {
	for !(<-a.memQueue.came).say(r) {
	}
}

func (a attendant) Leave() { <-a.memQueue.came; a.here.Store(false) }

func TestTheQueueKeepsTheContract(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	gatetest.Run(t, gatetest.Approver{
		New: func(t testing.TB) (gate.Approver, gatetest.Person) {
			p := attendant{newMemQueue(), new(atomic.Bool)}
			p.here.Store(true)
			l := NewChain(ChainOptions{
				Queue: p.memQueue.line(), RuleWriter: &fakeKeeper{},
				Channels: []Channel{attended(p.here)},
			})
			t.Cleanup(l.Close)
			return l, p
		},
		Replies: []gate.Reply{gate.DenyOnce, gate.AllowOnce, gate.AllowSession, gate.AllowAlways, gate.DenyAlways},
	})
}

func attended(here *atomic.Bool) *QueueChannel {
	a := NewQueueChannel("console", func() ([]string, error) {
		if here.Load() {
			return []string{"web", "console"}, nil
		}
		return nil, nil
	})
	a.Every = 10 * time.Millisecond
	return a
}

func TestTheFirstAnswerWins(t *testing.T) {
	s, channel := newMemQueue(), newFakeChannel("terminal")
	l := NewChain(ChainOptions{Channels: []Channel{channel}, Queue: s.line(), Wait: true})
	defer l.Close()

	k := askOn(l)
	ticket := <-s.came
	if q := <-channel.asked; q.Ticket != ticket.id {
		t.Errorf("the channel is asked for %q, in the queue it is %q", q.Ticket, ticket.id)
	}
	channel.Say(gate.AllowOnce)
	k.wants(t, gate.AllowOnce, "terminal")
	if st, _ := ticket.fate(); st != queue.Approved || ticket.say(gate.DenyOnce) || ticket.answer.Channel != "terminal" || ticket.answer.By != "somebody" {
		t.Errorf("the queue holds %s by %+v", st, ticket.answer)
	}
	l.Concluded(k.q, gate.Verdict{Action: policy.Allow})
	within(t, func() bool { _, o := ticket.fate(); return o == "went on to the server" })

	k = askOn(l)
	ticket = <-s.came
	<-channel.asked
	ticket.say(gate.AllowSession)
	k.wants(t, gate.AllowSession, "console")
	if cause := <-channel.ended; !errors.Is(cause, errElsewhere) {
		t.Errorf("the terminal ends by %v", cause)
	}
	l.Concluded(k.q, gate.Verdict{Action: policy.Deny, Reason: "the rules changed"})
	within(t, func() bool {
		_, o := ticket.fate()
		return o == "denied: the rules changed; nothing was executed"
	})
	if len(l.entries) != 0 {
		t.Error("concluded questions are kept")
	}
}

// Both answer at the same moment: one of them is what the gate gets and what
// the queue holds, whichever it is.
func TestARaceHasOneWinner(t *testing.T) {
	s, channel := newMemQueue(), newFakeChannel("terminal")
	l := NewChain(ChainOptions{Channels: []Channel{channel}, Queue: s.line(), Wait: true})
	defer l.Close()
	won := map[string]int{}
	for range 300 {
		k := askOn(l)
		ticket := <-s.came
		<-channel.asked
		var both sync.WaitGroup
		both.Go(func() { channel.Say(gate.AllowOnce) })
		both.Go(func() { ticket.say(gate.DenyOnce) })
		r := k.end(t)
		both.Wait()
		if r.err != nil || r.Reply.Allows() != (r.Channel == "terminal") || ticket.answer.Channel != r.Channel {
			t.Fatalf("got %s from %s, %v; the queue holds %+v", r.Reply, r.Channel, r.err, ticket.answer)
		}
		won[r.Channel]++
		for len(channel.says) > 0 {
			<-channel.says
		}
		for len(channel.ended) > 0 {
			<-channel.ended
		}
	}
	t.Log(won)
}

func TestEveryRungFailsInTurn(t *testing.T) {
	first, second, third, last := newFakeChannel("terminal"), newFakeChannel("console"), newFakeChannel("elicitation"), newFakeChannel("web")
	second.absent = errors.New("none is open")
	first.Leave()
	s := newMemQueue()
	l := NewChain(ChainOptions{Channels: []Channel{first, second, third, falling{}, last}, Queue: s.line()})
	defer l.Close()
	k := askOn(l)
	<-third.asked
	third.Leave()
	<-last.asked
	last.Say(gate.DenyOnce)
	k.wants(t, gate.DenyOnce, "web")
	if len(second.asked) != 0 {
		t.Error("asked where it was not available")
	}
}

// A deny is an answer: nobody else is asked.
func TestADenyEndsIt(t *testing.T) {
	first, second := newFakeChannel("terminal"), newFakeChannel("web")
	l := NewChain(ChainOptions{Channels: []Channel{first, second}})
	defer l.Close()
	k := askOn(l)
	first.Say(gate.DenyOnce)
	k.wants(t, gate.DenyOnce, "terminal")
	if len(second.asked) != 0 {
		t.Error("asked again after a deny")
	}
}

type falling struct{}

func (falling) Name() string                                   { return "falling" }
func (falling) Available(context.Context, gate.Question) error { return nil }
func (falling) Ask(context.Context, gate.Question) (gate.Answer, error) {
	panic("over")
}

func TestNobodyDeniesAtOnceAndSaysHowNextTime(t *testing.T) {
	s, channel := newMemQueue(), newFakeChannel("terminal")
	channel.absent = errors.New("there is no terminal")
	l := NewChain(ChainOptions{Channels: []Channel{channel, falling{}, attended(new(atomic.Bool))}, Queue: s.line(), Notify: func(gate.Question) { t.Error("pointed to what is denied") }})
	defer l.Close()
	r := askOn(l).end(t)
	if r.err == nil || !strings.Contains(r.Note, "run") || !strings.Contains(r.Note, "clawai approve") {
		t.Errorf("%q, %v", r.Note, r.err)
	}
	for _, want := range []string{"terminal: there is no terminal", "falling: asking failed: over", "clawai approve"} {
		if r.err != nil && !strings.Contains(r.err.Error(), want) {
			t.Errorf("%v lacks %q", r.err, want)
		}
	}
	if st, o := (<-s.came).fate(); st != queue.Expired || o != "denied: nobody was there to be asked; nothing was executed" {
		t.Errorf("in the queue: %s, %q", st, o)
	}
}

// Why the terminal cannot be asked names it once.
func TestATerminalThatIsNotOursIsNamedOnce(t *testing.T) {
	channel := newFakeChannel("terminal")
	channel.absent = errors.Join(&term.NotOwned{Reason: term.Background})
	l := NewChain(ChainOptions{Channels: []Channel{channel}})
	defer l.Close()
	if r := askOn(l).end(t); r.err == nil || r.err.Error() != "nobody could be asked: another program is in front on the terminal" {
		t.Errorf("%v", r.err)
	}
}

// Where no answer of clawai approve would count, nobody is sent there.
func TestWithoutAQueueNobodyIsSentToIt(t *testing.T) {
	l := NewChain(ChainOptions{Channels: []Channel{falling{}}})
	defer l.Close()
	if r := askOn(l).end(t); r.err == nil || r.Note != "" || strings.Contains(r.err.Error(), "clawai approve") {
		t.Errorf("%q, %v", r.Note, r.err)
	}
}

func TestNobodyWaitsInTheQueue(t *testing.T) {
	s, pointed := newMemQueue(), make(chan string, 1)
	l := NewChain(ChainOptions{Queue: s.line(), Wait: true, Notify: func(q gate.Question) { pointed <- q.Ticket }})
	defer l.Close()
	k := askOn(l)
	ticket := <-s.came
	if got := <-pointed; got != ticket.id {
		t.Errorf("pointed to %q", got)
	}
	ticket.say(gate.AllowOnce)
	k.wants(t, gate.AllowOnce, "console")
}

// How a question ends without an answer is told to those who would have
// answered, in words.
func TestEndingsInWords(t *testing.T) {
	tests := []struct {
		cause error
		want  string
	}{
		{gate.ErrWithdrawn, "withdrawn by the client; nothing was executed"},
		{gate.ErrClosed, "the session is over; nothing was executed"},
		{fmt.Errorf("%w: the new rules allow it", gate.ErrResolved), "settled: the new rules allow it"},
		{context.DeadlineExceeded, "expired at " + time.Now().Format("15:04")},
		{context.Canceled, "the connection is gone; nothing was executed"},
	}
	for _, tt := range tests {
		s, channel := newMemQueue(), newFakeChannel("terminal")
		l := NewChain(ChainOptions{Channels: []Channel{channel}, Queue: s.line(), Wait: true})
		k := askOn(l)
		ticket := <-s.came
		<-channel.asked
		k.cancel(tt.cause)
		if r := k.end(t); !errors.Is(r.err, tt.cause) {
			t.Errorf("%v: ended by %v", tt.cause, r.err)
		}
		if st, o := ticket.fate(); st != queue.Expired || !strings.HasPrefix(o, tt.want) {
			t.Errorf("%v: in the queue: %s, %q", tt.cause, st, o)
		}
		if ticket.say(gate.AllowOnce) {
			t.Error("an answer after the end is taken")
		}
		l.Close()
	}
}

// The deadline ends it even where the caller's context has none, and the words
// say when.
func TestTheDeadlineEndsIt(t *testing.T) {
	s := newMemQueue()
	l := NewChain(ChainOptions{Queue: s.line(), Wait: true})
	defer l.Close()
	q := aQuestion()
	q.Deadline = time.Now().Add(30 * time.Millisecond)
	if _, err := l.Ask(t.Context(), q); err == nil {
		t.Error("answered after the deadline")
	}
	ticket := <-s.came
	if st, o := ticket.fate(); st != queue.Expired || !strings.HasPrefix(o, "expired at ") || !strings.HasSuffix(o, "; nothing was executed") {
		t.Errorf("in the queue: %s, %q", st, o)
	}
}

// Where the caller's context ends at the deadline by itself, it is what ends: the
// call was not answered, and not one that nobody could be asked about.
func TestTheCallersOwnDeadlineEndsIt(t *testing.T) {
	for range 20 {
		s := newMemQueue()
		l := NewChain(ChainOptions{Queue: s.line(), Wait: true})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		q := aQuestion()
		q.Deadline, _ = ctx.Deadline()
		if _, err := l.Ask(ctx, q); !errors.Is(err, context.DeadlineExceeded) || ctx.Err() == nil {
			t.Errorf("%v before the caller's time was up", err)
		}
		cancel()
		l.Close()
	}
}

// An answer that was in the queue before the end, and was not seen in time: the
// call is denied, and its giver reads that it was too late.
func TestAnAnswerInTheLastMomentIsTooLate(t *testing.T) {
	s := newMemQueue()
	l := NewChain(ChainOptions{Queue: s.line(), Wait: true})
	defer l.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	q := aQuestion()
	p := l.enqueueQuestion(ctx, q)
	ticket := <-s.came
	ticket.say(gate.AllowOnce)
	cancel(context.DeadlineExceeded)
	if a, err := l.endQuestion(ctx, q, p); err == nil || a.Reply.Allows() {
		t.Errorf("%s, %v", a.Reply, err)
	}
	within(t, func() bool { _, o := ticket.fate(); return strings.HasPrefix(o, "too late: expired at ") })
}

// However broken the queue is, the terminal asks as if there were none, and the
// trouble is told.
func TestADeadQueueChangesNothingForTheRest(t *testing.T) {
	slow.Test(t)
	full := errors.New("database or disk is full")
	stuck := make(chan struct{})
	lines := map[string]*QueueClient{
		"cannot be opened": NewQueueClient(func() (Enqueuer, error) { return nil, full }),
		"refuses":          (&memQueue{refuse: full}).line(),
		"cannot settle":    (&memQueue{broken: full, came: make(chan *memTicket, 9)}).line(),
		"falls over":       NewQueueClient(func() (Enqueuer, error) { panic("malformed") }),
		"is locked":        NewQueueClient(func() (Enqueuer, error) { <-stuck; return nil, full }),
	}
	for name, line := range lines {
		t.Run(name, func(t *testing.T) {
			trouble := make(chan error, 9)
			channel := newFakeChannel("terminal")
			l := NewChain(ChainOptions{Channels: []Channel{channel}, Queue: line, Wait: true, OnError: func(err error) { trouble <- err }})
			began := time.Now()
			k := askOn(l)
			<-channel.asked
			channel.Say(gate.AllowOnce)
			k.wants(t, gate.AllowOnce, "terminal")
			if took := time.Since(began); took > 4*time.Second {
				t.Errorf("took %s", took)
			}
			if name == "is locked" {
				close(stuck)
				l.Close()
				return
			}
			select {
			case err := <-trouble:
				if !strings.Contains(err.Error(), "the queue ") {
					t.Error(err)
				}
			case <-time.After(time.Minute):
				t.Error("the trouble is not told")
			}
			l.Close()
		})
	}
}

// With nobody else to ask, a dead queue denies and says why.
func TestADeadQueueAloneDenies(t *testing.T) {
	l := NewChain(ChainOptions{Queue: (&memQueue{refuse: errors.New("disk is full")}).line(), Wait: true})
	defer l.Close()
	r := askOn(l).end(t)
	if r.err == nil || !strings.Contains(r.err.Error(), "queue: disk is full; to answer") || r.Note == "" {
		t.Errorf("%q, %v", r.Note, r.err)
	}
}

func TestAQueueThatFailedIsTriedAgain(t *testing.T) {
	s, tries := newMemQueue(), 0
	line := NewQueueClient(func() (Enqueuer, error) {
		if tries++; tries == 1 {
			return nil, errors.New("locked")
		}
		return s, nil
	})
	for range 3 {
		if _, err := line.openEnqueuer(); err == nil || tries != 1 {
			t.Fatalf("after a failure: %v, %d tries", err, tries)
		}
	}
	line.again = time.Now()
	for range 3 {
		if _, err := line.openEnqueuer(); err != nil || tries != 2 {
			t.Fatalf("later: %v, %d tries", err, tries)
		}
	}
}

// "Always" from the queue is written here, and when it cannot be, the call is
// answered once and the giver reads why.
func TestAlwaysFromTheQueue(t *testing.T) {
	full := errors.New("the policy file has changed")
	tests := []struct {
		said  gate.Reply
		fails error
		want  gate.Reply
		note  string
	}{
		{gate.AllowAlways, nil, gate.AllowAlways, "wrote a rule"},
		{gate.DenyAlways, nil, gate.DenyAlways, "wrote a rule"},
		{gate.AllowAlways, full, gate.AllowOnce, "nothing was written: the policy file has changed"},
		{gate.DenyAlways, full, gate.DenyOnce, "nothing was written: the policy file has changed"},
	}
	for _, tt := range tests {
		s, keeper := newMemQueue(), &fakeKeeper{fails: tt.fails}
		l := NewChain(ChainOptions{Queue: s.line(), Wait: true, RuleWriter: keeper})
		k := askOn(l)
		ticket := <-s.came
		if len(ticket.request.Offers) != 1 {
			t.Errorf("offers: %+v", ticket.request.Offers)
		}
		ticket.say(tt.said)
		if a := k.wants(t, tt.want, "console"); a.Note != tt.note {
			t.Errorf("%s: note %q", tt.said, a.Note)
		}
		if (tt.fails == nil) != (len(keeper.wrote) == 1) {
			t.Errorf("%s: wrote %q", tt.said, keeper.wrote)
		}
		l.Concluded(k.q, gate.Verdict{Action: policy.Allow})
		within(t, func() bool { _, o := ticket.fate(); return o == "went on to the server; "+tt.note })
		l.Close()
	}
}

// What the answerers see of a question is the question.
func TestTheRequestIsTheQuestion(t *testing.T) {
	s := newMemQueue()
	l := NewChain(ChainOptions{Queue: s.line(), Wait: true, Project: "/work", Risk: func(gate.Question) bool { return false }})
	defer l.Close()
	k := askOn(l)
	r := (<-s.came).request
	if r.Digest != k.q.Digest || r.Server != "files" || r.Client != "claude-ai 0.1.0" || r.Project != "/work" || !r.Lasting || r.Risk != "routine" ||
		!r.Deadline.Equal(k.q.Deadline) || len(r.Calls) != 1 || len(r.Offers) != 0 {
		t.Errorf("%+v", r)
	}
	k.cancel(gate.ErrClosed)
	k.end(t)
}

// How far an answer for the session goes is made here, whoever gave it; when it cannot
// be, the call is answered once and the giver reads why.
func TestAnAnswerForTheSessionReaches(t *testing.T) {
	gone := errors.New("the policy file has changed")
	tests := []struct {
		scope string
		fails error
		want  gate.Reply
		note  string
	}{
		{"folder", nil, gate.AllowSession, "for this session: folder"},
		{"exact", nil, gate.AllowSession, ""},
		{"", gone, gate.AllowSession, ""},
		{"folder", gone, gate.AllowOnce, "allowed once, and not for the session: the policy file has changed"},
	}
	for _, tt := range tests {
		s := newMemQueue()
		l := NewChain(ChainOptions{Queue: s.line(), Wait: true, RuleWriter: &fakeKeeper{fails: tt.fails}})
		k := askOn(l)
		ticket := <-s.came
		ticket.end(queue.Approved, queue.Answer{Reply: gate.AllowSession, Scope: tt.scope, Channel: "console", By: "me"})
		a := k.wants(t, tt.want, "console")
		if a.Note != tt.note || (a.Bound != nil) != (tt.note == "for this session: folder") {
			t.Errorf("%q: %+v", tt.scope, a)
		}
		l.Concluded(k.q, gate.Verdict{Action: policy.Allow})
		l.Close()
	}
	s := newMemQueue()
	l := NewChain(ChainOptions{Channels: []Channel{scoped{newFakeChannel("elicitation")}}, Queue: s.line(), RuleWriter: &fakeKeeper{}})
	defer l.Close()
	k := askOn(l)
	ticket := <-s.came
	if a := k.wants(t, gate.AllowSession, "elicitation"); a.Bound == nil || a.Bound.Title() != "edit files below file" {
		t.Errorf("from a channel: %+v", a)
	}
	within(t, func() bool { status, _ := ticket.fate(); return status == queue.Approved })
	l.Concluded(k.q, gate.Verdict{Action: policy.Allow})
}

// scoped is a channel whose answer for the session is about the file.
type scoped struct{ *fakeChannel }

func (s scoped) Ask(_ context.Context, q gate.Question) (gate.Answer, error) {
	return gate.Answer{Reply: gate.AllowSession, Scope: "file", Digest: q.Digest, Channel: s.name, By: "me"}, nil
}
