package queue_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"

	"github.com/clawai/clawai/internal/testing/slow"
)

// The folder vanishes under everybody: nobody waits for ever, and the next
// question finds a new one.
func TestFolderVanishes(t *testing.T) {
	slow.Test(t)
	dir := filepath.Join(t.TempDir(), "queue")
	o := queue.Options{Check: 50 * time.Millisecond}
	p, answerer := attach(t, open(t, dir, o), "s1"), open(t, dir, o)
	lost := put(t, p, `{}`)
	if all, err := answerer.Pending(ctx); err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	for range 2 {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := lost.Wait(soon(t)); !errors.Is(err, queue.ErrUnknown) {
			t.Error(err)
		}
		lost = put(t, p, `{}`)
		said := answer(gate.AllowOnce, "me")
		if _, err := answerer.Decide(ctx, lost.ID(), said); err != nil {
			t.Fatal(err)
		}
		if a, err := lost.Wait(soon(t)); a != said || err != nil {
			t.Error(a, err)
		}
		if err := lost.Outcome(ctx, "went on"); err != nil {
			t.Error(err)
		}
		lost = put(t, p, `{}`)
		sound(t, dir)
	}
}

// A new database is noticed as well as the one that was there before.
func TestHeardInANewDatabase(t *testing.T) {
	slow.Test(t)
	p, other, dir := newQueue(t) // their check is an hour away
	for range 5 {
		if _, _, err := put(t, p, `{}`).Resolve(ctx, queue.Expired, queue.Answer{}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	ticket := put(t, p, `{}`)
	if _, err := other.Decide(ctx, ticket.ID(), answer(gate.AllowOnce, "me")); err != nil {
		t.Fatal(err)
	}
	if a, err := ticket.Wait(soon(t)); err != nil || a.Reply != gate.AllowOnce {
		t.Error(a, err)
	}
}

// Who still has the old database open lets go of it without a trace in the new.
func TestOldDatabaseIsLetGo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "queue")
	before := open(t, dir, queue.Options{Check: time.Hour})
	put(t, attach(t, before, "s1"), `{}`)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	ticket := put(t, attach(t, open(t, dir, queue.Options{Check: time.Hour}), "s2"), `{}`)
	for _, q := range []*queue.Queue{before, open(t, dir, queue.Options{})} {
		if all, err := q.Pending(ctx); err != nil || len(all) != 1 || all[0].ID != ticket.ID() {
			t.Error(all, err)
		}
	}
	sound(t, dir)
}

// Somebody removes the file that says that the proxy lives: its requests are
// expired, it hears of it, and its next one is as good as any.
func TestSessionFileIsRemoved(t *testing.T) {
	p, other, dir := newQueue(t)
	heard, unheard := put(t, p, `{}`), put(t, p, `{}`)
	if err := os.Remove(filepath.Join(dir, "proxies", "s1")); err != nil {
		t.Fatal(err)
	}
	if all, err := other.Pending(ctx); err != nil || len(all) != 0 {
		t.Fatal(all, err)
	}
	var settled *queue.ResolvedError
	if _, won, err := unheard.Resolve(ctx, queue.Approved, answer(gate.AllowOnce, "me"), ""); won || !errors.As(err, &settled) {
		t.Error(won, err)
	}
	ticket := put(t, p, `{}`)
	if _, err := other.Decide(ctx, ticket.ID(), answer(gate.AllowOnce, "me")); err != nil {
		t.Error(err)
	}
	for _, k := range []*queue.Ticket{heard, unheard} {
		if a, err := k.Wait(soon(t)); a != (queue.Answer{}) || !errors.As(err, &settled) || settled.Request.Outcome != "its proxy ended" {
			t.Error(a, err)
		}
	}
	if a, err := ticket.Wait(soon(t)); err != nil || a.Reply != gate.AllowOnce {
		t.Error(a, err)
	}
}

// Somebody removes the bell: the next who changes anything makes it again, and
// those who listen find it.
func TestBellIsRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "queue")
	p, other := attach(t, open(t, dir, queue.Options{}), "s1"), open(t, dir, queue.Options{Check: 50 * time.Millisecond})
	watched, stop := contextWithCancel(t)
	defer stop()
	ticks := other.Watch(watched)
	<-ticks
	if err := os.Remove(filepath.Join(dir, "bell")); err != nil {
		t.Fatal(err)
	}
	put(t, p, `{}`)
	for all := []queue.Request(nil); len(all) == 0; {
		select {
		case <-ticks:
		case <-soon(t).Done():
			t.Fatal("nobody heard of it")
		}
		var err error
		if all, err = other.Pending(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "bell")); err != nil {
		t.Error(err)
	}
}
