package queue_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"

	"github.com/clawai/clawai/internal/testing/slow"
)

// limitFiles lets no file grow beyond size bytes, as a full disk would.
func limitFiles(t *testing.T, size uint64) (lift func()) {
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	set := func(cur uint64) {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: cur, Max: old.Max}); err != nil {
			t.Fatal(err)
		}
	}
	set(size)
	t.Cleanup(func() { set(old.Cur) })
	return func() { set(old.Cur) }
}

// apart runs the test in a process of its own, and says so: a limit of files
// holds for the whole process, in which go test writes too.
func apart(t *testing.T) bool {
	t.Helper()
	if os.Getenv("QUEUE_APART") != "" {
		return false
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "QUEUE_APART=yes")
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("PASS")) {
		t.Errorf("%v: %s", err, out)
	}
	return true
}

// smallDisk is a folder on a file system of its own, if one may be mounted here.
func smallDisk(t *testing.T) (dir string, free func()) {
	dir = t.TempDir()
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size=1m")
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		t.Log("no file system may be mounted here; a limit of files stands for it")
		return dir, limitFiles(t, 512<<10)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, bytes.Repeat([]byte{1}, 512<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, func() {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	}
}

// On a full disk a question is refused at once, with a word that helps; what
// waited stays and can be answered when there is room, and what the proxy ended
// meanwhile is ended then.
func TestFullDisk(t *testing.T) {
	slow.Test(t)
	if apart(t) {
		return
	}
	for name, fill := range map[string]func(*testing.T) (string, func()){
		"disk": smallDisk,
		"limit": func(t *testing.T) (string, func()) {
			return t.TempDir(), limitFiles(t, 512<<10)
		},
	} {
		t.Run(name, func(t *testing.T) {
			disk, free := fill(t)
			dir := filepath.Join(disk, "queue")
			q := open(t, dir, queue.Options{Check: 50 * time.Millisecond})
			p := attach(t, q, "s1")
			args := `{"path":"` + strings.Repeat("x", 20_000) + `"}`
			var tickets []*queue.Ticket
			for refused := 0; refused < 5; {
				ticket, err := p.Put(ctx, write(args))
				if err == nil {
					tickets = append(tickets, ticket)
				} else if refused++; !errors.Is(err, queue.ErrFull) {
					t.Fatal(err)
				}
				if len(tickets) > 200 {
					t.Fatal("it does not fill")
				}
			}
			var last error
			ended := 0
			for last == nil && ended < len(tickets)-1 {
				_, _, last = tickets[ended].Resolve(ctx, queue.Expired, queue.Answer{}, "")
				ended++
			}
			if !errors.Is(last, queue.ErrFull) {
				t.Error("ended on a full disk:", last)
			}
			if all, err := q.Pending(ctx); err != nil || len(all) < len(tickets)-ended {
				t.Error(len(all), err)
			}
			free()
			r, err := q.Await(soon(t), tickets[ended-1].ID())
			if err != nil || r.Outcome != "nobody answered in time" {
				t.Error(r.Outcome, err)
			}
			for _, ticket := range tickets[ended:] {
				if _, err := q.Decide(ctx, ticket.ID(), answer(gate.AllowOnce, "me")); err != nil {
					t.Fatal(err)
				}
				if a, err := ticket.Wait(soon(t)); err != nil || a.Reply != gate.AllowOnce {
					t.Error(a, err)
				}
			}
			put(t, p, `{}`)
			sound(t, dir)
		})
	}
}

// A disk that is full from the start makes no queue, and no half of one.
func TestFullFromTheStart(t *testing.T) {
	if apart(t) {
		return
	}
	dir := filepath.Join(t.TempDir(), "queue")
	lift := limitFiles(t, 20_000)
	q := open(t, dir, queue.Options{})
	p := attach(t, q, "s1")
	if _, err := p.Put(ctx, write(`{}`)); !errors.Is(err, queue.ErrFull) {
		t.Error(err)
	}
	lift()
	put(t, p, `{}`)
	sound(t, dir)
}
