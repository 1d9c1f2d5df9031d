package centre

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/message"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// scripted is a way that keeps what it sent, and fails when it is told to.
type scripted struct {
	mu   sync.Mutex
	sent []string
	fail error
	done int // messages that were tried
}

func (s *scripted) Name() string { return "scripted" }

func (s *scripted) Concerns(approvers []string) bool {
	return slices.Contains(approvers, "role:oncall")
}

func (s *scripted) note(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done++
	if s.fail == nil {
		s.sent = append(s.sent, text)
	}
	return s.fail
}

func (s *scripted) Send(_ context.Context, n *message.Notice) (string, error) {
	return "ref " + n.ID, s.note("send " + n.State)
}

func (s *scripted) Update(_ context.Context, reference string, n *message.Notice) error {
	return s.note("update " + n.State + " " + strings.Join(n.Votes, ",") + " " + strings.TrimPrefix(reference, "ref "+n.ID))
}

// enrolled returns a laptop of a centre.
func enrolled(t *testing.T, c *Centre, who principal.Principal) store.Laptop {
	t.Helper()
	c.Settings.BundleKeys = []string{"x"}
	code, err := c.BeginEnrolment(t.Context(), enrolment.AskEnrolment{Name: "laptop"}, "1.2.3.4")
	if err == nil {
		_, err = c.DecideWish(t.Context(), code.UserCode, true, who)
	}
	if err != nil {
		t.Fatal(err)
	}
	grant, refusal, err := c.PollToken(t.Context(), code.DeviceCode)
	if err != nil || refusal != nil {
		t.Fatal(refusal, err)
	}
	l, err := c.CheckToken(t.Context(), grant.Token)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func asked(n string, approvers ...string) enrolment.AskQuestion {
	return enrolment.AskQuestion{
		Digest: strings.Repeat(n, 64), Server: "files", Wait: 45, Approvers: approvers, Approvals: 1,
		Calls: []enrolment.ShownCall{{Subject: "tool", Server: "files", Method: "tools/call", Names: []string{"write"}}},
	}
}

// TestDelivery: what was sent is sent once, also by a centre that was started again; what was not sent is; what
// becomes of it is told.
func TestDelivery(t *testing.T) {
	t.Parallel()
	c, now := clocked(t)
	owner := ana
	owner.Subject, owner.Groups = "owner", nil
	l := enrolled(t, c, owner)
	way := &scripted{}
	var reports []error
	report := func(err error) { reports = append(reports, err) }
	pass := func(want ...string) {
		t.Helper()
		way.sent = nil
		if err := c.deliverOnce(t.Context(), way, "https://centre.example", report); err != nil && !errors.Is(err, way.fail) {
			t.Fatal(err)
		}
		if !slices.Equal(way.sent, want) {
			t.Fatalf("sent %q, want %q", way.sent, want)
		}
	}
	restart := func() { c = newCentre(c.Store, c.Settings, c.key, c.now) }
	ask := func(n string, approvers ...string) store.Question {
		t.Helper()
		*now = now.Add(time.Millisecond) // messages come in the order of their questions
		q, err := c.Ask(t.Context(), l, asked(n, approvers...), "title")
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	vote := func(q store.Question, allow bool) {
		t.Helper()
		if _, err := c.Vote(t.Context(), Ballot{By: c.withRoles(ana), Way: ByPage, Question: q.ID, Digest: q.Asked.Digest, Allow: allow}); err != nil {
			t.Fatal(err)
		}
	}
	ask("0", "role:dba")
	pass()
	first := ask("1", "role:oncall")
	pass("send pending")
	pass()
	restart()
	pass()

	// A service that fails is asked again, later and later; nobody who answers waits for it.
	way.fail = errors.New("down")
	second := ask("2", "role:oncall")
	pass()
	pass()
	if len(reports) != 1 {
		t.Fatalf("asked again at once: %v", reports)
	}
	*now = now.Add(firstPause)
	pass()
	*now = now.Add(firstPause)
	pass()
	if len(reports) != 2 {
		t.Fatalf("no longer pause: %v", reports)
	}
	vote(first, true)
	way.fail = &message.LaterError{After: time.Minute, Err: errors.New("too many")}
	*now = now.Add(firstPause)
	way.done = 0
	pass()
	if way.done != 1 {
		t.Fatalf("%d messages were tried at a service that wants to be asked later", way.done)
	}
	restart()
	way.fail = nil
	*now = now.Add(time.Minute - time.Second)
	pass("send pending")
	*now = now.Add(time.Second)
	pass("update approved allowed by ana (https://idp.example#7) ")
	pass()
	if _, err := c.UseApproval(t.Context(), l, first.ID); err != nil {
		t.Fatal(err)
	}
	pass("update used allowed by ana (https://idp.example#7) ")
	vote(second, false)
	pass("update denied denied by ana (https://idp.example#7) ")
	restart()
	pass()

	// Of what expires before it could be sent, nobody is told; of what was sent, everybody.
	ask("3", "role:oncall")
	pass("send pending")
	way.fail = errors.New("down")
	late := ask("4", "role:oncall")
	pass()
	way.fail = nil
	*now = now.Add(QuestionLife)
	pass("update expired  ")
	if d, err := c.Store.FindDelivery(t.Context(), late.ID, way.Name()); err != nil || d.Open || d.Told != "" {
		t.Errorf("%+v, %v", d, err)
	}
	pass()
}

// limited is a way whose service takes one message, and then wants to be asked later.
type limited struct {
	scripted
	free bool
}

func (s *limited) Send(_ context.Context, n *message.Notice) (string, error) {
	if !s.free {
		s.done++
		return "", &message.LaterError{After: time.Second, Err: errors.New("too many")}
	}
	s.free = false
	return "", s.note(n.ID)
}

// TestALimitLosesNothing: a service that takes one message at a time gets all of them, each once, in the order
// of their questions, and is asked once more than it takes.
func TestALimitLosesNothing(t *testing.T) {
	t.Parallel()
	c, now := clocked(t)
	owner := ana
	owner.Subject = "owner"
	way := &limited{}
	var want []string
	var l store.Laptop
	for i := range 2 * mostTries {
		if i%maxPending == 0 {
			l = enrolled(t, c, owner)
		}
		*now = now.Add(time.Millisecond)
		a := asked("1", "role:oncall")
		a.Digest = fmt.Sprintf("%064x", i)
		q, err := c.Ask(t.Context(), l, a, "title")
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, q.ID)
	}
	for range 3 * mostTries {
		way.free = true
		*now = now.Add(time.Second)
		if err := c.deliverOnce(t.Context(), way, "https://centre.example", func(error) {}); err != nil {
			if _, ok := errors.AsType[*message.LaterError](err); !ok {
				t.Fatal(err)
			}
		}
	}
	if !slices.Equal(way.sent, want) || way.done >= 2*len(want) {
		t.Errorf("sent %d of %d, tried %d times", len(way.sent), len(want), way.done)
	}
}

// stuck is a way whose service never answers.
type stuck struct {
	scripted
	began chan struct{}
}

func (s *stuck) Send(ctx context.Context, _ *message.Notice) (string, error) {
	close(s.began)
	<-ctx.Done()
	return "", ctx.Err()
}

// TestAStuckWayHoldsNobody: while a service does not answer, questions are asked, answered and used, and
// the centre can end.
func TestAStuckWayHoldsNobody(t *testing.T) {
	t.Parallel()
	c, _ := clocked(t)
	owner := ana
	owner.Subject = "owner"
	l := enrolled(t, c, owner)
	way := &stuck{began: make(chan struct{})}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.Deliver(ctx, way, "https://centre.example", func(err error) { t.Error(err) })
	}()
	var held store.Question
	for i, n := range []string{"1", "2", "3"} {
		q, err := c.Ask(t.Context(), l, asked(n, "role:oncall"), "title")
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			<-way.began
			held = q
		}
	}
	if _, err := c.Vote(t.Context(), Ballot{By: c.withRoles(ana), Way: ByPage, Question: held.ID, Digest: held.Asked.Digest, Allow: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.UseApproval(t.Context(), l, held.ID); err != nil {
		t.Fatal(err)
	}
	stop()
	<-ended
}

// stopped is a way that does something while it sends, such as what others do while the process is stopped.
type stopped struct {
	scripted
	meanwhile func()
	within    time.Duration // that the message may take
}

func (s *stopped) Send(ctx context.Context, n *message.Notice) (string, error) {
	do := s.meanwhile
	s.meanwhile = nil
	if end, ok := ctx.Deadline(); ok {
		s.within = time.Until(end)
	}
	if do != nil {
		do()
	}
	return s.scripted.Send(ctx, n)
}

// A centre that was stopped while it sent, longer than its claim holds, does not write over what another one
// has sent and noted meanwhile: what becomes of the question is told.
func TestDeliveryOfAStoppedCentre(t *testing.T) {
	t.Parallel()
	for _, fault := range []error{nil, errors.New("timeout")} {
		c, now := clocked(t)
		owner := ana
		owner.Subject, owner.Groups = "owner", nil
		l := enrolled(t, c, owner)
		q, err := c.Ask(t.Context(), l, asked("1", "role:oncall"), "title")
		if err != nil {
			t.Fatal(err)
		}
		pass := func(way message.Way) {
			t.Helper()
			if err := c.deliverOnce(t.Context(), way, "https://centre.example", func(error) {}); err != nil {
				t.Fatal(err)
			}
		}
		other := &scripted{}
		way := &stopped{scripted: scripted{fail: fault}, meanwhile: func() {
			pass(other)
			*now = now.Add(claimTime)
			pass(other)
			if _, err := c.Vote(t.Context(), Ballot{By: c.withRoles(ana), Way: ByPage, Question: q.ID, Digest: q.Asked.Digest, Allow: true}); err != nil {
				t.Fatal(err)
			}
			pass(other)
		}}
		pass(way)
		if _, err := c.UseApproval(t.Context(), l, q.ID); err != nil {
			t.Fatal(err)
		}
		pass(other)
		if len(other.sent) != 3 || other.sent[0] != "send pending" || !strings.HasPrefix(other.sent[1], "update approved") || !strings.HasPrefix(other.sent[2], "update used") {
			t.Errorf("with %v the other centre sent %q", fault, other.sent)
		}
	}
}

// A centre that ends while a service takes a message notes that it was sent; one that had not sent it leaves it to others at once.
func TestDeliveryWhileTheCentreEnds(t *testing.T) {
	t.Parallel()
	for _, fault := range []error{nil, context.Canceled} {
		c, _ := clocked(t)
		owner := ana
		owner.Subject, owner.Groups = "owner", nil
		if _, err := c.Ask(t.Context(), enrolled(t, c, owner), asked("1", "role:oncall"), "title"); err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		ending := &stopped{scripted: scripted{fail: fault}, meanwhile: end}
		if err := c.deliverOnce(ctx, ending, "https://centre.example", func(error) {}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		next := &scripted{}
		if err := c.deliverOnce(t.Context(), next, "https://centre.example", func(error) {}); err != nil {
			t.Fatal(err)
		}
		if ending.within <= 0 || ending.within > sendWithin {
			t.Errorf("a message may take %v, also when another centre sends it", ending.within)
		}
		if len(ending.sent)+len(next.sent) != 1 {
			t.Errorf("with %v sent by the one %q, by the next %q", fault, ending.sent, next.sent)
		}
	}
}
