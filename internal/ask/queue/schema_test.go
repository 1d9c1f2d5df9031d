package queue_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
)

var (
	old   = queue.Options{Check: 50 * time.Millisecond}.Knows(1)
	now   = queue.Options{Check: 50 * time.Millisecond}
	newer = queue.Options{Check: 50 * time.Millisecond}.Knows(queue.AllSteps, queue.Migration{
		SQL: "ALTER TABLE requests ADD COLUMN urgency TEXT NOT NULL DEFAULT 'none'; CREATE TABLE teams (name TEXT) STRICT;", Oldest: 1})
)

// Versions with more and with fewer steps share one queue, whichever made it and
// whichever asks or answers.
func TestVersionsShare(t *testing.T) {
	slow.Test(t)
	versions := map[string]queue.Options{"old": old, "now": now, "newer": newer}
	for maker, makes := range versions {
		for asker, asks := range versions {
			for answerer, answers := range versions {
				t.Run(maker+"/"+asker+"/"+answerer, func(t *testing.T) {
					t.Parallel()
					dir := filepath.Join(t.TempDir(), "queue")
					first := open(t, dir, makes)
					before := put(t, attach(t, first, "maker"), `{"made":"before"}`)
					p, other := attach(t, open(t, dir, asks), "asker"), open(t, dir, answers)
					ticket := put(t, p, `{"path":"a"}`)
					for _, k := range []*queue.Ticket{ticket, before} {
						if _, err := other.Decide(ctx, k.ID(), answer(gate.AllowOnce, "me")); err != nil {
							t.Fatal(err)
						}
						if a, err := k.Wait(soon(t)); err != nil || a.Reply != gate.AllowOnce {
							t.Error(a, err)
						}
						if err := k.Outcome(ctx, "went on"); err != nil {
							t.Error(err)
						}
					}
					if all, err := first.History(ctx, 10); err != nil || len(all) != 2 {
						t.Error(all, err)
					}
				})
			}
		}
	}
}

// One that a newer version has marked as not for this one is refused, also by
// those who have it open, and stays as it is.
func TestTooNew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "queue")
	before := open(t, dir, now)
	if _, err := before.Pending(ctx); err != nil {
		t.Fatal(err)
	}
	made := open(t, dir, queue.Options{}.Knows(queue.AllSteps, queue.Migration{
		SQL: "CREATE TABLE rules (name TEXT) STRICT;", Oldest: queue.AllSteps + 1}))
	ticket := put(t, attach(t, made, "s1"), `{}`)
	for _, q := range []*queue.Queue{before, open(t, dir, old), open(t, dir, now)} {
		if _, err := q.Pending(ctx); q != before && !errors.Is(err, queue.ErrNewer) {
			t.Error(err)
		}
		if _, err := q.Decide(ctx, ticket.ID(), answer(gate.AllowOnce, "me")); !errors.Is(err, queue.ErrNewer) {
			t.Error(err)
		}
		p := attach(t, q, "s2")
		if _, err := p.Put(ctx, write(`{}`)); !errors.Is(err, queue.ErrNewer) {
			t.Error(err)
		}
		_ = p.Close()
	}
	if all, err := made.Pending(ctx); err != nil || len(all) != 1 {
		t.Error(all, err)
	}
}

func init() {
	// make: opens the queue for the first time, at once with others.
	roles["make"] = func(dir string, args []string) error {
		return asProxy(dir, args[0], queue.Options{}, func(_ *queue.Queue, p *queue.Proxy) error {
			fmt.Println("ready")
			untilTold()
			if _, err := p.Put(ctx, write(`{}`)); err != nil {
				return err
			}
			fmt.Println("made")
			untilTold()
			return nil
		})
	}
}

// Many find no database at the same moment, and make one.
func TestMadeAtOnce(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	const processes, inThis = 8, 8
	for range 3 {
		dir := filepath.Join(t.TempDir(), "queue")
		var children []*child
		for i := range processes {
			c := start(t, "make", dir, fmt.Sprintf("p%d", i))
			c.expect("ready")
			children = append(children, c)
		}
		for _, c := range children {
			fmt.Fprintln(c.in)
		}
		var wg sync.WaitGroup
		for i := range inThis {
			p := attach(t, open(t, dir, queue.Options{}), fmt.Sprintf("g%d", i))
			wg.Go(func() {
				if _, err := p.Put(ctx, write(`{}`)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, c := range children {
			c.expect("made")
		}
		if all, err := open(t, dir, queue.Options{}).Pending(ctx); err != nil || len(all) != processes+inThis {
			t.Error(len(all), err)
		}
		for _, c := range children {
			fmt.Fprintln(c.in)
		}
		for _, c := range children {
			if rest := c.rest(); rest != "" {
				t.Error(rest)
			}
		}
	}
}

func init() {
	// churn SESSION N: opens and closes the queue N times.
	roles["churn"] = func(dir string, args []string) error {
		n, _ := strconv.Atoi(args[1])
		for range n {
			err := asProxy(dir, args[0], queue.Options{Patience: time.Minute}, func(_ *queue.Queue, p *queue.Proxy) error {
				_, err := p.Put(ctx, write(`{}`))
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// Processes come and go; the last one takes the log away, the next one makes it.
func TestOpenedAndClosedAtOnce(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	const processes, each = 6, 15
	dir := filepath.Join(t.TempDir(), "queue")
	var children []*child
	for i := range processes {
		children = append(children, start(t, "churn", dir, fmt.Sprintf("c%d", i), fmt.Sprint(each)))
	}
	for _, c := range children {
		if said := c.rest(); said != "" {
			t.Error(said)
		}
	}
	if all, err := open(t, dir, queue.Options{}).History(ctx, 1000); err != nil || len(all) != processes*each {
		t.Error(len(all), err)
	}
	sound(t, dir)
}
