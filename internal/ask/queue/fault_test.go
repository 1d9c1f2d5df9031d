package queue_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
)

func init() {
	// lock: holds the write lock until it is told to let go.
	roles["lock"] = func(dir string, _ []string) error {
		db, err := sql.Open("sqlite", filepath.Join(dir, "queue.db"))
		if err != nil {
			return err
		}
		defer db.Close()
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := conn.ExecContext(ctx, "BEGIN EXCLUSIVE"); err != nil {
			return err
		}
		fmt.Println("ready")
		untilTold()
		return nil
	}
}

// While another program holds the lock everybody gets an error in bounded time;
// readers go on; afterwards everything goes on, and what the proxy had ended
// meanwhile is ended.
func TestLocked(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "queue")
	const patience = 500 * time.Millisecond
	o := queue.Options{Check: 200 * time.Millisecond, Patience: patience}
	q := open(t, dir, o)
	p := attach(t, q, "s1")
	ticket := put(t, p, `{}`)
	dead := start(t, "proxy", dir, "dead", "1")
	dead.expect("ready")
	dead.kill()
	c := start(t, "lock", dir)
	c.expect("ready")
	begin := time.Now()
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if _, err := p.Put(ctx, write(`{}`)); !errors.Is(err, queue.ErrLocked) {
				t.Error(err)
			}
			if _, err := q.Decide(ctx, ticket.ID(), answer(gate.AllowOnce, "me")); !errors.Is(err, queue.ErrLocked) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if took := time.Since(begin); took > 100*patience {
		t.Errorf("it took %v", took)
	}
	if all, err := q.Pending(ctx); err != nil || len(all) != 1 || all[0].ID != ticket.ID() {
		t.Error("the dead one's too:", all, err)
	}
	if _, won, err := ticket.Resolve(ctx, queue.Expired, queue.Answer{}, "nobody answered in time"); won || !errors.Is(err, queue.ErrLocked) {
		t.Error(won, err)
	}
	fmt.Fprintln(c.in)
	c.rest()
	r, err := q.Await(soon(t), ticket.ID())
	if err != nil || r.Status != queue.Expired || r.Outcome != "nobody answered in time" {
		t.Errorf("what was owed is not paid: %+v %v", r, err)
	}
	put(t, p, `{}`)
}

// A session ends in bounded time while another program holds the lock, however
// many ends it still has to store.
func TestCloseWhileLocked(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "queue")
	const patience, owing = 500 * time.Millisecond, 100
	q := open(t, dir, queue.Options{Check: 10 * time.Millisecond, Patience: patience})
	p := attach(t, q, "s1")
	var tickets []*queue.Ticket
	for range owing {
		tickets = append(tickets, put(t, p, `{}`))
	}
	c := start(t, "lock", dir)
	c.expect("ready")
	var wg sync.WaitGroup
	for _, ticket := range tickets {
		wg.Go(func() {
			if _, _, err := ticket.Resolve(ctx, queue.Expired, queue.Answer{}, ""); !errors.Is(err, queue.ErrLocked) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	begin := time.Now()
	if err := p.Close(); !errors.Is(err, queue.ErrLocked) {
		t.Error(err)
	}
	if took := time.Since(begin); took > owing*patience/3 {
		t.Errorf("it took %v", took)
	}
	fmt.Fprintln(c.in)
	c.rest()
}

// Somebody answers while the proxy cannot store that it gave up: he is told that
// it was in vain.
func TestAnswerInVain(t *testing.T) {
	slow.Test(t)
	dir := filepath.Join(t.TempDir(), "queue")
	q := open(t, dir, queue.Options{Check: 300 * time.Millisecond, Patience: 100 * time.Millisecond})
	other := open(t, dir, queue.Options{Check: time.Hour})
	p := attach(t, q, "s1")
	ticket := put(t, p, `{}`)
	c := start(t, "lock", dir)
	c.expect("ready")
	if _, _, err := ticket.Resolve(ctx, queue.Expired, queue.Answer{}, "nobody answered in time"); !errors.Is(err, queue.ErrLocked) {
		t.Fatal(err)
	}
	fmt.Fprintln(c.in)
	c.rest()
	_, err := other.Decide(ctx, ticket.ID(), answer(gate.AllowOnce, "me"))
	if settled := (*queue.ResolvedError)(nil); errors.As(err, &settled) {
		return // the proxy was faster
	}
	r, err := other.Await(soon(t), ticket.ID())
	if err != nil || r.Outcome != "the answer came too late: nobody answered in time" {
		t.Error(r.Outcome, err)
	}
}

// A file that is no queue, or not a whole one, is an error that says what to do.
// It is never deleted or emptied.
func TestDamaged(t *testing.T) {
	slow.Test(t)
	for name, damage := range map[string]func(whole []byte) []byte{
		"cut in half":    func(b []byte) []byte { return b[:len(b)/2] },
		"cut mid page":   func(b []byte) []byte { return b[:len(b)-1000] },
		"one page":       func(b []byte) []byte { return b[:4096] },
		"less than that": func(b []byte) []byte { return b[:100] },
		"something else": func([]byte) []byte { return bytes.Repeat([]byte("notes\n"), 2000) },
		"overwritten":    func(b []byte) []byte { return append(bytes.Repeat([]byte{0xa5}, 8192), b[8192:]...) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "queue")
			q, err := queue.Open(dir, queue.Options{})
			if err != nil {
				t.Fatal(err)
			}
			p := attach(t, q, "s1")
			for range 20 {
				put(t, p, `{"path":"a"}`)
			}
			if err := errors.Join(p.Close(), q.Close()); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "queue.db")
			whole, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			broken := damage(bytes.Clone(whole))
			if err := os.WriteFile(file, broken, 0o600); err != nil {
				t.Fatal(err)
			}
			q = open(t, dir, queue.Options{})
			if _, err := q.Pending(ctx); !errors.Is(err, queue.ErrDamaged) {
				t.Error(err)
			}
			if _, err := attach(t, q, "s2").Put(ctx, write(`{}`)); !errors.Is(err, queue.ErrDamaged) {
				t.Error(err)
			}
			if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, broken) {
				t.Error("the file was changed", err)
			}
			if err := os.Rename(file, file+".away"); err != nil {
				t.Fatal(err)
			}
			if all, err := q.Pending(ctx); err != nil || len(all) != 0 {
				t.Error("moved away, and yet:", all, err)
			}
		})
	}
}

// A person with the sqlite3 tool may end a request; what he cannot say properly
// is a deny.
func TestChangedByHand(t *testing.T) {
	slow.Test(t)
	dir := filepath.Join(t.TempDir(), "queue")
	p := attach(t, open(t, dir, queue.Options{Check: 50 * time.Millisecond}), "s1")
	for sets, want := range map[string]gate.Reply{
		"status = 'denied'":                     gate.DenyOnce,
		"status = 'approved'":                   gate.DenyOnce,
		"status = 'approved', reply = 'yes!'":   gate.DenyOnce,
		"status = 'denied', reply = 'always'":   gate.DenyOnce,
		"status = 'maybe', reply = 'once'":      gate.DenyOnce,
		"status = 'approved', reply = 'once'":   gate.AllowOnce,
		"status = 'approved', reply = 'always'": gate.AllowAlways,
	} {
		ticket := put(t, p, `{}`)
		db, err := sql.Open("sqlite", filepath.Join(dir, "queue.db"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("UPDATE requests SET "+sets+" WHERE id = ?", ticket.ID()); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if a, err := ticket.Wait(soon(t)); err != nil || a.Reply != want {
			t.Errorf("%s: %v %v", sets, a.Reply, err)
		}
	}
}

// A request of which a part cannot be read is not shown as if that were all, and
// hides no other. It can only be denied, and ends like every other.
func TestUnreadablePart(t *testing.T) {
	slow.Test(t)
	for _, damage := range []string{
		"more_calls = '[{'", "names = '[{'", "offers = '[{'", "names = '7'", "lasting = 7", "rule_line = 9223372036854775807, names = '{}'",
	} {
		p, other, dir := newQueue(t)
		whole, broken, late := put(t, p, `{"path":"whole"}`), put(t, p, `{"path":"broken"}`), put(t, p, `{"path":"late"}`)
		db, err := sql.Open("sqlite", filepath.Join(dir, "queue.db"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("UPDATE requests SET "+damage+" WHERE id IN (?, ?)", broken.ID(), late.ID()); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		all, err := other.Pending(ctx)
		if err != nil || len(all) != 3 {
			t.Fatalf("%s: %v, %v", damage, all, err)
		}
		for i, id := range []string{whole.ID(), broken.ID(), late.ID()} {
			r := all[i]
			if r.ID != id || (i == 0) != (r.Damage == nil) || (i == 0) != (len(r.Calls) == 1) || i > 0 && (r.Lasting || r.Offers != nil) {
				t.Errorf("%s: %+v", damage, r)
			}
		}
		for _, reply := range []gate.Reply{gate.AllowOnce, gate.AllowSession, gate.AllowAlways, gate.DenyAlways} {
			if _, err := other.Decide(ctx, broken.ID(), queue.Answer{Reply: reply}); !errors.Is(err, queue.ErrBroken) {
				t.Errorf("%s: %s: %v", damage, reply, err)
			}
		}
		if _, err := other.Decide(ctx, broken.ID(), queue.Answer{Reply: gate.DenyOnce}); err != nil {
			t.Errorf("%s: %v", damage, err)
		}
		if a, err := broken.Wait(soon(t)); err != nil || a.Reply != gate.DenyOnce {
			t.Errorf("%s: %v %v", damage, a, err)
		}
		if _, won, err := late.Resolve(ctx, queue.Expired, queue.Answer{}, ""); err != nil || !won {
			t.Errorf("%s: %v %v", damage, won, err)
		}
		past, err := other.History(ctx, 10)
		if err != nil || len(past) != 2 || past[0].Damage != nil || past[1].Damage != nil {
			t.Errorf("%s: %+v, %v", damage, past, err)
		}
		if all, err := other.Pending(ctx); err != nil || len(all) != 1 || all[0].ID != whole.ID() {
			t.Errorf("%s: %v, %v", damage, all, err)
		}
	}
}

// A row that lost its id, whatever else it lost, hides no other. Nobody can name
// it, so its own proxy ends it, and denies.
func TestALostID(t *testing.T) {
	slow.Test(t)
	for _, damage := range []string{"id = ''", "id = '', lasting = 7", "id = '', names = '[{'", "id = char(27) || 'x'", "id = 'no', more_calls = '7'"} {
		asks, looks, dir := newQueue(t) // nobody checks, so what is lost stays
		whole, lost := put(t, asks, `{"path":"whole"}`), put(t, asks, `{"path":"lost"}`)
		byHand(t, dir, "UPDATE requests SET "+damage+" WHERE id = ?", lost.ID())
		all, err := looks.Pending(ctx)
		if err != nil || len(all) != 2 || all[0].Damage != nil || !errors.Is(all[1].Damage, queue.ErrBroken) || all[1].Calls != nil {
			t.Fatalf("%s: %+v, %v", damage, all, err)
		}
		if _, err := looks.Decide(ctx, all[1].ID, queue.Answer{Reply: gate.AllowOnce}); err == nil {
			t.Errorf("%s: it was allowed", damage)
		}
		if _, err := looks.Decide(ctx, whole.ID(), answer(gate.AllowOnce, "me")); err != nil {
			t.Errorf("%s: another cannot be answered: %v", damage, err)
		}
		if a, err := whole.Wait(soon(t)); err != nil || a.Reply != gate.AllowOnce {
			t.Errorf("%s: %v %v", damage, a, err)
		}
	}
}

func TestALostIDIsDenied(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "queue")
	asks, looks := attach(t, open(t, dir, queue.Options{Check: 50 * time.Millisecond}), "s1"), open(t, dir, queue.Options{})
	lost := put(t, asks, `{}`)
	byHand(t, dir, "UPDATE requests SET id = '' WHERE id = ?", lost.ID())
	if a, err := lost.Wait(soon(t)); !errors.Is(err, queue.ErrUnknown) || a.Reply.Allows() {
		t.Errorf("%v %v", a, err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		past, err := looks.History(ctx, 10)
		if err == nil && len(past) == 1 && past[0].Status == queue.Expired {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not ended: %+v, %v", past, err)
		}
	}
}

// byHand changes the database as a person with the sqlite3 tool would.
func byHand(t *testing.T, dir, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "queue.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA busy_timeout = 5000"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(statement, args...); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// A damaged row of a proxy that died ends with the others.
func TestUnreadablePartOfADeadProxy(t *testing.T) {
	p, other, dir := newQueue(t)
	put(t, p, `{}`)
	db, err := sql.Open("sqlite", filepath.Join(dir, "queue.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE requests SET names = '[{', session = 'gone'"); err != nil {
		t.Fatal(err)
	}
	if all, err := other.Pending(ctx); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
	if past, err := other.History(ctx, 1); err != nil || len(past) != 1 || past[0].Status != queue.Expired {
		t.Error(past, err)
	}
}

// Whatever the folder is called.
func TestOddFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a?b=c%20d#e&f 'g\" é", "queue")
	p := attach(t, open(t, dir, queue.Options{}), "s1")
	put(t, p, `{}`)
	if all, err := open(t, dir, queue.Options{}).Pending(ctx); err != nil || len(all) != 1 {
		t.Error(all, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "queue.db-wal")); err != nil {
		t.Error("the database is elsewhere:", err)
	}
}

func TestClosed(t *testing.T) {
	q, err := queue.Open(filepath.Join(t.TempDir(), "queue"), queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	watched := q.Watch(context.Background())
	if err := errors.Join(q.Close(), q.Close()); err != nil {
		t.Fatal(err)
	}
	for range watched {
	}
	if _, err := q.Pending(ctx); !errors.Is(err, queue.ErrClosed) {
		t.Error(err)
	}
	if _, err := q.Await(ctx, "00000000"); !errors.Is(err, queue.ErrClosed) {
		t.Error(err)
	}
}
