package queue_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

// acts are what a process does when it is killed, on a queue it has open. Each
// begins with a session of its own, "crash", in which one request waits.
var acts = map[string]func(q *queue.Queue, p *queue.Proxy, mine *queue.Ticket, theirs string) error{
	"put": func(_ *queue.Queue, p *queue.Proxy, _ *queue.Ticket, _ string) error {
		_, err := p.Put(ctx, write(`{"path":"b"}`))
		return err
	},
	"decide": func(q *queue.Queue, _ *queue.Proxy, _ *queue.Ticket, theirs string) error {
		_, err := q.Decide(ctx, theirs, answer(gate.AllowOnce, "the child"))
		return err
	},
	"settle": func(_ *queue.Queue, _ *queue.Proxy, mine *queue.Ticket, _ string) error {
		_, _, err := mine.Resolve(ctx, queue.Approved, answer(gate.AllowOnce, "the child"), "went on")
		return err
	},
	"grant": func(_ *queue.Queue, p *queue.Proxy, _ *queue.Ticket, _ string) error {
		return p.SetGrants(ctx, []queue.Grant{{ID: "g1", Calls: write(`{}`).Calls}, {ID: "g2"}})
	},
	"revoke": func(q *queue.Queue, _ *queue.Proxy, _ *queue.Ticket, _ string) error {
		return q.Revoke(ctx, "theirs")
	},
	"close": func(_ *queue.Queue, p *queue.Proxy, _ *queue.Ticket, _ string) error { return p.Close() },
	"look": func(q *queue.Queue, _ *queue.Proxy, _ *queue.Ticket, _ string) error {
		_, err := q.Pending(ctx)
		return err
	},
	"tidy": func(q *queue.Queue, _ *queue.Proxy, mine *queue.Ticket, _ string) error {
		if _, _, err := mine.Resolve(ctx, queue.Expired, queue.Answer{}, ""); err != nil {
			return err
		}
		q.TidyUp()
		return nil
	},
}

func init() {
	// crash ACT STEP THEIRS: does it and dies at that step; "done" when there are
	// fewer steps.
	roles["crash"] = func(dir string, args []string) error {
		fatal, _ := strconv.Atoi(args[1])
		var begun atomic.Bool
		var steps atomic.Int64
		o := queue.Options{Check: time.Hour, Keep: 1}.Step(func(string) {
			if begun.Load() && int(steps.Add(1)) == fatal {
				die()
			}
		})
		begun.Store(args[0] == "open")
		return asProxy(dir, "crash", o, func(q *queue.Queue, p *queue.Proxy) error {
			mine, err := p.Put(ctx, write(`{"path":"a"}`))
			if err != nil {
				return err
			}
			begun.Store(true)
			if act := acts[args[0]]; act != nil {
				if err := act(q, p, mine, args[2]); err != nil {
					return err
				}
			}
			fmt.Println("done")
			die()
			return nil
		})
	}
	// work: everything at once until it is killed.
	roles["work"] = func(dir string, args []string) error {
		return asProxy(dir, args[0], queue.Options{Keep: 20}, func(q *queue.Queue, p *queue.Proxy) error {
			for i := 0; ; i++ {
				ticket, err := p.Put(ctx, write(`{"path":"a"}`))
				if err != nil {
					return err
				}
				if _, err := q.Decide(ctx, ticket.ID(), answer(gate.Reply(i%4), "me")); err != nil {
					return err
				}
				if err := ticket.Outcome(ctx, "went on"); err != nil {
					return err
				}
				if err := p.SetGrants(ctx, []queue.Grant{{ID: "g" + strconv.Itoa(i%3)}}); err != nil {
					return err
				}
				if i == 0 {
					fmt.Println("ready")
				}
			}
		})
	}
}

// sound says that the database is whole.
func sound(t *testing.T, dir string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "queue.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var said string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&said); err != nil || said != "ok" {
		t.Fatal(said, err)
	}
}

// Killed at any step of anything, a process leaves a queue in which that thing
// has happened or has not, in which nothing of it waits, and in which everybody
// else goes on.
func TestCrashes(t *testing.T) {
	slow.Test(t)
	for _, act := range []string{"open", "put", "decide", "settle", "grant", "revoke", "close", "look", "tidy"} {
		t.Run(act, func(t *testing.T) {
			t.Parallel()
			for step := 1; ; step++ {
				if crash(t, act, step) {
					t.Logf("%d steps", step-1)
					return
				}
			}
		})
	}
}

func crash(t *testing.T, act string, step int) (done bool) {
	dir := filepath.Join(t.TempDir(), "queue")
	theirs := "none"
	var ticket *queue.Ticket
	var p *queue.Proxy
	if act != "open" {
		q := open(t, dir, queue.Options{Check: 50 * time.Millisecond})
		p = attach(t, q, "s1")
		ticket = put(t, p, `{"path":"theirs"}`)
		theirs = ticket.ID()
		if err := p.SetGrants(ctx, []queue.Grant{{ID: "theirs", Rule: policy.Rule{Description: "x"}}}); err != nil {
			t.Fatal(err)
		}
	}
	if act == "look" {
		c := start(t, "proxy", dir, "dead", "3")
		c.expect("ready")
		c.kill()
	}
	said := start(t, "crash", dir, act, strconv.Itoa(step), theirs).rest()
	if said != "" && said != "done" {
		t.Fatalf("step %d: %s", step, said)
	}
	sound(t, dir)
	q := open(t, dir, queue.Options{Check: time.Hour})
	all, err := q.Pending(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if r.ID != theirs {
			t.Errorf("step %d: a ghost: %+v", step, r)
		}
	}
	history(t, q, act, step)
	if act == "open" {
		put(t, attach(t, q, "crash"), `{}`)
		return said == "done"
	}
	theirsGoesOn(t, q, ticket, act == "decide")
	revokedOnce(t, q, p)
	return said == "done"
}

// history: what the dead process asked is expired, or as it resolved it.
func history(t *testing.T, q *queue.Queue, act string, step int) {
	t.Helper()
	past, err := q.History(ctx, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range past {
		if r.Session != "crash" {
			continue
		}
		ended := r.Status == queue.Expired && r.Outcome == "its proxy ended"
		settled := act == "settle" && r.Status == queue.Approved && r.Outcome == "went on" && r.Answer.By == "the child"
		tidied := act == "tidy" && r.Status == queue.Expired && r.Outcome == "nobody answered in time"
		if !ended && !settled && !tidied {
			t.Errorf("step %d: %+v", step, r)
		}
	}
}

// theirsGoesOn: the request of a proxy that lives has one answer, the dead one's
// or the next.
func theirsGoesOn(t *testing.T, q *queue.Queue, ticket *queue.Ticket, mayHave bool) {
	t.Helper()
	_, err := q.Decide(ctx, ticket.ID(), answer(gate.DenyOnce, "the test"))
	by := "the test"
	if settled := (*queue.ResolvedError)(nil); errors.As(err, &settled) && mayHave {
		by, err = settled.Request.Answer.By, nil
		if by != "the child" {
			t.Errorf("answered by %q", by)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	a, err := ticket.Wait(soon(t))
	if err != nil || a.By != by || a.Reply.Allows() != (by == "the child") {
		t.Errorf("%+v %v, want the answer of %s", a, err, by)
	}
}

// revokedOnce: a grant is revoked when the dead process did it, or now.
func revokedOnce(t *testing.T, q *queue.Queue, p *queue.Proxy) {
	t.Helper()
	if err := q.Revoke(ctx, "theirs"); err != nil && !errors.Is(err, queue.ErrUnknown) {
		t.Fatal(err)
	}
	if grants, err := q.Grants(ctx); err != nil || len(grants) != 0 {
		t.Error(grants, err)
	}
	select {
	case id := <-p.Revoked():
		if id != "theirs" {
			t.Error(id)
		}
	case <-soon(t).Done():
		t.Error("the proxy has not heard of it")
	}
}

// Killed at any moment: QUEUE_CRASHES=1000 does it so often.
func TestKilledAtRandom(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	n := 5
	if s := os.Getenv("QUEUE_CRASHES"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	dir := filepath.Join(t.TempDir(), "queue")
	q := open(t, dir, queue.Options{Check: time.Hour})
	for i := range n {
		a, b := start(t, "work", dir, fmt.Sprintf("a%d", i)), start(t, "work", dir, fmt.Sprintf("b%d", i))
		a.expect("ready")
		b.expect("ready")
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
		a.kill()
		b.kill()
		sound(t, dir)
		if all, err := q.Pending(ctx); err != nil || len(all) != 0 {
			t.Fatal(i, all, err)
		}
		if grants, err := q.Grants(ctx); err != nil || len(grants) != 0 {
			t.Fatal(i, grants, err)
		}
		past, err := q.History(ctx, 1000)
		if err != nil || len(past) == 0 {
			t.Fatal(i, len(past), err)
		}
		for _, r := range past {
			if r.Outcome == "" {
				t.Errorf("%d: %+v", i, r)
			}
		}
	}
}
