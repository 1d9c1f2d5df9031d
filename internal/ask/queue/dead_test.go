package queue_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
)

func init() {
	// proxy SESSION N: puts N requests, and says what comes of each.
	roles["proxy"] = func(dir string, args []string) error {
		return asProxy(dir, args[0], queue.Options{Check: time.Hour}, func(_ *queue.Queue, p *queue.Proxy) error {
			n, _ := strconv.Atoi(args[1])
			var wg sync.WaitGroup
			var mu sync.Mutex
			for range n {
				ticket, err := p.Put(ctx, write(`{}`))
				if err != nil {
					return err
				}
				wg.Go(func() {
					a, err := ticket.Wait(ctx)
					mu.Lock()
					defer mu.Unlock()
					fmt.Println(ticket.ID(), a.Reply, err)
				})
			}
			mu.Lock()
			fmt.Println("ready")
			mu.Unlock()
			wg.Wait()
			return nil
		})
	}
	// attend KIND: is there until it is told to go.
	roles["attend"] = func(dir string, args []string) error {
		q, err := queue.Open(dir, queue.Options{})
		if err != nil {
			return err
		}
		defer q.Close()
		a, err := q.AddAnswerer(args[0])
		if err != nil {
			return err
		}
		fmt.Println("ready")
		untilTold()
		return a.Close()
	}
}

// What a killed proxy asked is expired by whoever looks next, in whatever way.
func TestKilledProxy(t *testing.T) {
	slow.Test(t)
	for name, look := range map[string]func(*queue.Queue, queue.Request) error{
		"pending": func(q *queue.Queue, _ queue.Request) error {
			all, err := q.Pending(ctx)
			if len(all) > 0 {
				err = fmt.Errorf("%d ghosts", len(all))
			}
			return err
		},
		"decide": func(q *queue.Queue, r queue.Request) error {
			_, err := q.Decide(ctx, r.ID, answer(gate.AllowOnce, "me"))
			if settled := (*queue.ResolvedError)(nil); !errors.As(err, &settled) || !strings.Contains(err.Error(), "(its proxy ended); nothing was executed") {
				return fmt.Errorf("not told: %w", err)
			}
			return nil
		},
		"get":     func(q *queue.Queue, r queue.Request) error { _, err := q.Get(ctx, r.ID); return err },
		"history": func(q *queue.Queue, _ queue.Request) error { _, err := q.History(ctx, 1); return err },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "queue")
			q := open(t, dir, queue.Options{Check: time.Hour})
			c := start(t, "proxy", dir, "dead", "3")
			c.expect("ready")
			all, err := q.Pending(ctx)
			if err != nil || len(all) != 3 {
				t.Fatal(all, err)
			}
			c.kill()
			if err := look(q, all[1]); err != nil {
				t.Error(err)
			}
			for _, r := range all {
				if r, err = q.Get(ctx, r.ID); err != nil || r.Status != queue.Expired || r.Outcome != "its proxy ended" {
					t.Error(r, err)
				}
			}
			if left, _ := os.ReadDir(filepath.Join(dir, "proxies")); len(left) != 0 {
				t.Error("its file is left:", left)
			}
		})
	}
}

// An answer that a killed proxy did not tell the outcome of does not keep
// anybody waiting.
func TestKilledAfterAnswer(t *testing.T) {
	slow.Test(t)
	dir := filepath.Join(t.TempDir(), "queue")
	q := open(t, dir, queue.Options{Check: 50 * time.Millisecond})
	c := start(t, "proxy", dir, "dead", "2")
	c.expect("ready")
	all, err := q.Pending(ctx)
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	if _, err := q.Decide(ctx, all[0].ID, answer(gate.AllowOnce, "me")); err != nil {
		t.Fatal(err)
	}
	c.expect(all[0].ID + " once <nil>")
	c.kill()
	r, err := q.Await(soon(t), all[0].ID)
	if err != nil || r.Status != queue.Approved || r.Outcome != "its proxy ended before it said what became of the call" {
		t.Error(r, err)
	}
}

// The requests of proxies that live are nobody's to expire, in this process or
// in others.
func TestLivingProxies(t *testing.T) {
	slow.Test(t)
	p, other, dir := newQueue(t)
	put(t, p, `{}`)
	c := start(t, "proxy", dir, "alive", "1")
	c.expect("ready")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if all, err := other.Pending(ctx); err != nil || len(all) != 2 {
					t.Error(len(all), err)
				}
			}
		})
	}
	wg.Wait()
}

// A session has one proxy; when that is gone another one may take it.
func TestOneProxyASession(t *testing.T) {
	p, other, dir := newQueue(t)
	if _, err := other.Attach(queue.Session{ID: "s1"}); err == nil {
		t.Error("two proxies of one session")
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	attach(t, other, "s1")
	c := start(t, "proxy", dir, "s2", "1")
	c.expect("ready")
	c.kill()
	ticket := put(t, attach(t, other, "s2"), `{}`)
	all, err := other.Pending(ctx)
	if err != nil || len(all) == 0 || all[len(all)-1].ID != ticket.ID() {
		t.Error(all, err)
	}
}

func TestAttendance(t *testing.T) {
	_, q, dir := newQueue(t)
	attended := func(want string) {
		t.Helper()
		kinds, err := q.Answerers()
		if got := strings.Join(kinds, " "); got != want || err != nil {
			t.Errorf("attended %q (%v), want %q", got, err, want)
		}
	}
	attended("")
	first, err := q.AddAnswerer("console")
	if err != nil {
		t.Fatal(err)
	}
	second := start(t, "attend", dir, "console")
	web := start(t, "attend", dir, "web")
	second.expect("ready")
	web.expect("ready")
	attended("console web")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	attended("console web")
	second.kill()
	attended("web")
	fmt.Fprintln(web.in)
	web.rest()
	attended("")
	if left, _ := os.ReadDir(filepath.Join(dir, "attending")); len(left) != 0 {
		t.Error(left)
	}
	if _, err := os.Stat(filepath.Join(dir, "queue.db")); !errors.Is(err, os.ErrNotExist) {
		t.Error("the database was opened for it", err)
	}
	for _, kind := range []string{"", "../x", "Web", "a.b"} {
		if _, err := q.AddAnswerer(kind); err == nil {
			t.Errorf("%q is a kind", kind)
		}
	}
}

// Watch ticks at once, for a question, for an answer, for one who comes and goes
// in another process, and ends with its context.
func TestWatch(t *testing.T) {
	p, other, dir := newQueue(t)
	watched, stop := contextWithCancel(t)
	ticks := other.Watch(watched)
	hear := func(what string) {
		t.Helper()
		select {
		case <-ticks:
		case <-soon(t).Done():
			t.Fatal("no tick for", what)
		}
	}
	hear("the start")
	ticket := put(t, p, `{}`)
	hear("a question")
	if _, err := other.Decide(ctx, ticket.ID(), answer(gate.AllowOnce, "me")); err != nil {
		t.Fatal(err)
	}
	hear("an answer")
	c := start(t, "attend", dir, "web")
	c.expect("ready")
	hear("somebody who came")
	fmt.Fprintln(c.in)
	c.rest()
	hear("somebody who went")
	stop()
	for range ticks {
	}
	if other.Listening() {
		t.Error("the system's watcher is kept for nothing")
	}
}

// A watcher is held only while there is something to wait for.
func TestNothingHeldWhileIdle(t *testing.T) {
	dir := t.TempDir() + "/queue"
	q := open(t, dir, queue.Options{Check: time.Hour})
	p := attach(t, q, "s1")
	if q.Listening() {
		t.Error("before the first question")
	}
	ticket := put(t, p, `{}`)
	if !q.Listening() {
		t.Error("nobody listens for the answer")
	}
	if _, err := q.Decide(ctx, ticket.ID(), answer(gate.AllowOnce, "me")); err != nil {
		t.Fatal(err)
	}
	if _, err := ticket.Wait(soon(t)); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); q.Listening(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("still listening")
		}
	}
}

// Whoever has come is there, however many others come, go, and look meanwhile.
func TestPresenceHolds(t *testing.T) {
	slow.Test(t)
	_, q, _ := newQueue(t)
	var wg sync.WaitGroup
	for i := range 8 {
		kind := "k" + strings.Repeat("x", i)
		wg.Go(func() {
			for range 200 {
				a, err := q.AddAnswerer(kind)
				if err != nil {
					t.Error(err)
					return
				}
				for range 3 {
					if kinds, err := q.Answerers(); err != nil || !slices.Contains(kinds, kind) {
						t.Error(kind, "is not in", kinds, err)
					}
				}
				if err := a.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if kinds, err := q.Answerers(); err != nil || len(kinds) != 0 {
		t.Error(kinds, err)
	}
}
