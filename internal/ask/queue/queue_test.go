package queue_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
)

// A question goes to whoever looks, the answer comes back, and what became of
// the call is told: each by a notification, for the check is an hour away.
func TestQuestionAndAnswer(t *testing.T) {
	p, other, _ := newQueue(t)
	ticket := put(t, p, `{"path":"a"}`)
	all, err := other.Pending(ctx)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	want := write(`{"path":"a"}`)
	want.ID, want.Session, want.Status = ticket.ID(), "s1", queue.Pending
	want.Server, want.Client, want.Project = "files", "editor 1.2", "/home/me/work"
	want.Created, want.Deadline = all[0].Created, all[0].Deadline
	if d := cmp.Diff(want, all[0]); d != "" {
		t.Error(d)
	}
	said := answer(gate.AllowAlways, "me")
	said.Scope = "exact"
	r, err := other.Decide(ctx, ticket.ID()[:8], said)
	if err != nil || r.Status != queue.Approved || r.Answer != said {
		t.Fatal(r, err)
	}
	got, err := ticket.Wait(soon(t))
	if err != nil || got != said {
		t.Fatal(got, err)
	}
	known := make(chan queue.Request, 1)
	go func() {
		r, err := other.Await(soon(t), ticket.ID())
		if err != nil {
			t.Error(err)
		}
		known <- r
	}()
	if err := ticket.Outcome(ctx, "went on"); err != nil {
		t.Fatal(err)
	}
	if r := <-known; r.Outcome != "went on" || r.Status != queue.Approved {
		t.Errorf("%+v", r)
	}
	if all, err := other.Pending(ctx); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
	if all, err := other.History(ctx, 10); err != nil || len(all) != 1 || all[0].ID != ticket.ID() || all[0].Answer != said {
		t.Error(all, err)
	}
}

// Every reply comes back as it was given, and no other.
func TestEveryReply(t *testing.T) {
	p, other, _ := newQueue(t)
	for r := gate.DenyOnce; r <= gate.DenyAlways; r++ {
		ticket := put(t, p, `{}`)
		if _, err := other.Decide(ctx, ticket.ID(), answer(r, "me")); err != nil {
			t.Fatal(err)
		}
		if got, err := ticket.Wait(soon(t)); err != nil || got.Reply != r {
			t.Errorf("%v: %v %v", r, got, err)
		}
	}
	ticket := put(t, p, `{}`)
	if _, err := other.Decide(ctx, ticket.ID(), answer(gate.DenyAlways+1, "me")); err == nil {
		t.Error("a reply that does not exist was taken")
	}
}

// Whoever comes second is told who was first, or that it was too late.
func TestSecondIsTold(t *testing.T) {
	p, other, _ := newQueue(t)
	for _, tt := range []struct {
		end  func(*queue.Ticket) error
		want string
	}{
		{func(k *queue.Ticket) error {
			_, err := other.Decide(ctx, k.ID(), answer(gate.DenyOnce, "an\x1b[2Jna"))
			return err
		}, `already denied by "an\x1b[2Jna" (console) at `},
		{func(k *queue.Ticket) error {
			_, won, err := k.Resolve(ctx, queue.Approved, queue.Answer{Reply: gate.AllowOnce, Channel: "terminal"}, "went on")
			if !won {
				t.Error("nobody was first, and yet it lost")
			}
			return err
		}, `already approved by somebody (terminal) at `},
		{func(k *queue.Ticket) error {
			_, _, err := k.Resolve(ctx, queue.Expired, queue.Answer{}, "")
			return err
		}, `too late: it expired at `},
		{func(k *queue.Ticket) error {
			_, _, err := k.Resolve(ctx, queue.Expired, queue.Answer{}, "the caller withdrew it")
			return err
		}, ` (the caller withdrew it); nothing was executed`},
	} {
		ticket := put(t, p, `{}`)
		if err := tt.end(ticket); err != nil {
			t.Fatal(err)
		}
		r, err := other.Decide(ctx, ticket.ID(), answer(gate.AllowOnce, "me"))
		var settled *queue.ResolvedError
		if !errors.As(err, &settled) || settled.Request.ID != r.ID || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v\nwant %s", err, tt.want)
		}
	}
}

// The proxy that ends a request which was answered before gets that answer.
func TestSettleAfterAnswer(t *testing.T) {
	p, other, _ := newQueue(t)
	ticket := put(t, p, `{}`)
	said := answer(gate.AllowOnce, "me")
	if _, err := other.Decide(ctx, ticket.ID(), said); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for range 2 {
		if got, won, err := ticket.Resolve(ended, queue.Expired, queue.Answer{}, "nobody answered"); got != said || won || err != nil {
			t.Errorf("%v %v %v", got, won, err)
		}
	}
	if got, err := ticket.Wait(soon(t)); got != said || err != nil {
		t.Errorf("%v %v", got, err)
	}
	if _, _, err := ticket.Resolve(ctx, queue.Approved, answer(gate.DenyOnce, ""), ""); err == nil {
		t.Error("an approval that denies was taken")
	}
}

// The end of a context ends the waiting and nothing else.
func TestWaitEnds(t *testing.T) {
	p, other, _ := newQueue(t)
	ticket := put(t, p, `{}`)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := ticket.Wait(ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if all, _ := other.Pending(ctx); len(all) != 1 {
		t.Error("the request is gone")
	}
	if _, err := other.Await(ended, ticket.ID()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := p.Put(ended, write(`{}`)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ticket.Wait(ctx); !errors.Is(err, queue.ErrClosed) {
		t.Error(err)
	}
	if _, err := p.Put(ctx, write(`{}`)); !errors.Is(err, queue.ErrClosed) {
		t.Error(err)
	}
	r, err := other.Get(ctx, ticket.ID())
	if err != nil || r.Status != queue.Expired || r.Outcome != "its proxy ended" {
		t.Error(r, err)
	}
}

func TestIDs(t *testing.T) {
	p, other, _ := newQueue(t)
	ticket := put(t, p, `{}`)
	id := ticket.ID()
	for _, tt := range []struct {
		id   string
		want error
	}{
		{id, nil}, {id[:8], nil}, {id[:12], nil}, {strings.ToUpper(id), nil},
		{id[:7], nil}, {id[:1], nil}, {"", queue.ErrAmbiguous},
		{id + "0", queue.ErrUnknown}, {"ffffffff-ffff", queue.ErrUnknown},
		{"%%%%%%%%", queue.ErrUnknown}, {"' OR 1=1 --", queue.ErrUnknown}, {"\x00\xff\x1b[2J____", queue.ErrUnknown},
	} {
		r, err := other.Get(ctx, tt.id)
		if !errors.Is(err, tt.want) || err == nil && r.ID != id {
			t.Errorf("%q: %v %v", tt.id, r.ID, err)
		}
		if tt.want != nil {
			if _, err := other.Decide(ctx, tt.id, answer(gate.AllowOnce, "me")); !errors.Is(err, tt.want) {
				t.Errorf("%q: %v", tt.id, err)
			}
			if _, err := other.Await(ctx, tt.id); !errors.Is(err, tt.want) {
				t.Errorf("%q: %v", tt.id, err)
			}
		}
	}
}

// Ids are drawn so that no two begin alike; if two do, neither is taken for the
// other.
func TestAmbiguousID(t *testing.T) {
	p, other, dir := newQueue(t)
	first, second := put(t, p, `{}`), put(t, p, `{}`)
	like := first.ID()[:35] + string('0'+'1'-min(first.ID()[35], '1'))
	db, err := sql.Open("sqlite", filepath.Join(dir, "queue.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE requests SET id = ? WHERE id = ?", like, second.ID()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{like[:1], like[:8], like[:35]} {
		if _, err := other.Decide(ctx, id, answer(gate.AllowOnce, "me")); !errors.Is(err, queue.ErrAmbiguous) {
			t.Error(err)
		}
	}
	if r, err := other.Get(ctx, like); err != nil || r.ID != like {
		t.Error(r.ID, err)
	}
}

// Await ends with its context while nobody has answered.
func TestAwaitEnds(t *testing.T) {
	p, other, _ := newQueue(t)
	ticket := put(t, p, `{}`)
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if _, err := other.Await(short, ticket.ID()); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestPutRefuses(t *testing.T) {
	slow.Test(t)
	p, _, _ := newQueue(t)
	if _, err := p.Put(ctx, queue.Request{}); err == nil {
		t.Error("a request without a call was taken")
	}
	if _, err := p.Put(ctx, write(strings.Repeat("x", 16<<20+1))); !errors.Is(err, queue.ErrTooLarge) {
		t.Error(err)
	}
	for _, id := range []string{"", "../x", "a/b", "a b", strings.Repeat("a", 65), "ä"} {
		q := open(t, t.TempDir()+"/queue", queue.Options{})
		if _, err := q.Attach(queue.Session{ID: id}); err == nil {
			t.Errorf("session %q was taken", id)
		}
	}
}

// Times are for people. Whatever the clocks of proxy and answerer say, only the
// proxy ends a request.
func TestClocksJump(t *testing.T) {
	slow.Test(t)
	dir := t.TempDir() + "/queue"
	now := time.Now()
	jump := func(d time.Duration) queue.Options {
		return queue.Options{Check: time.Hour, Clock: func() time.Time { return now.Add(d) }}
	}
	const decade = 10 * 365 * 24 * time.Hour
	for _, proxy := range []time.Duration{-decade, 0, decade} {
		p := attach(t, open(t, dir, jump(proxy)), "s"+strings.Trim(proxy.String(), "-.hms"))
		for _, answerer := range []time.Duration{-decade, 0, decade} {
			q := open(t, dir, jump(answerer))
			first, second := put(t, p, `{}`), put(t, p, `{}`)
			all, err := q.Pending(ctx)
			if err != nil || len(all) != 2 || all[0].ID != first.ID() || all[1].ID != second.ID() {
				t.Fatal(all, err)
			}
			if _, err := q.Decide(ctx, second.ID(), answer(gate.AllowOnce, "me")); err != nil {
				t.Error(err)
			}
			if a, err := second.Wait(soon(t)); err != nil || a.Reply != gate.AllowOnce {
				t.Error(a, err)
			}
			if _, won, err := first.Resolve(ctx, queue.Expired, queue.Answer{}, ""); !won || err != nil {
				t.Error(won, err)
			}
			if r, err := q.Get(ctx, second.ID()); err != nil || r.Status != queue.Approved {
				t.Error("what was answered is gone", err)
			}
		}
		_ = p.Close()
	}
}

// A thousand wait at once; one goroutine notices for all.
func TestThousand(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	p, other, _ := newQueue(t)
	const n = 1000 / scale
	tickets := make([]*queue.Ticket, n)
	for i := range tickets {
		tickets[i] = put(t, p, `{"path":"a"}`)
	}
	all, err := other.Pending(ctx)
	if err != nil || len(all) != n {
		t.Fatal(len(all), err)
	}
	go func() {
		for i, r := range all {
			a := answer(gate.AllowOnce, r.ID)
			if i%2 == 0 {
				a.Reply = gate.DenyOnce
			}
			if _, err := other.Decide(ctx, r.ID, a); err != nil {
				t.Error(err)
			}
		}
	}()
	for i, ticket := range tickets {
		a, err := ticket.Wait(soon(t))
		if err != nil || a.By != ticket.ID() || a.Reply.Allows() != (i%2 == 1) {
			t.Fatal(i, a, err)
		}
	}
}
