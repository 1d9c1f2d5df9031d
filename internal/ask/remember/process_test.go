//go:build linux || darwin

package remember

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"

	"github.com/clawai/clawai/internal/testing/slow"
)

const envWriter = "REMEMBER_TEST_POLICY" // set: write rules into this file until killed

const envLimited = "REMEMBER_TEST_LIMITED" // the same, but let files end early

func TestMain(m *testing.M) {
	if path := os.Getenv(envLimited); path != "" {
		os.Exit(limited(path))
	}
	if path := os.Getenv(envWriter); path != "" {
		os.Exit(writer(path))
	}
	os.Exit(m.Run())
}

// writer answers question after question.
func writer(path string) int {
	k := &Writer{Policy: path, Options: policy.Options{Home: owner}, Denied: record(nil)}
	for {
		f, err := k.loadPolicy()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		c := aWrite(fmt.Sprintf("/home/user/%d/x", rand.Int()))
		q := gate.Question{Calls: []policy.Call{c}, Rule: *f.policy.Decide(&c).Rule, Revision: f.policy.Revision()}
		if _, err := k.Write(context.Background(), q, "folder", gate.AllowAlways); err != nil && !strings.Contains(err.Error(), "has changed") {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
}

// Two writers that are killed at any moment leave a policy that loads, in which
// every rule is whole, and no lock.
func TestKilledAtAnyMoment(t *testing.T) {
	slow.Test(t)
	k, _ := ask(t, before, aWrite("/home/user/p/a"))
	rules := 3
	for range 25 {
		rewrite(t, k, before) // so that it stays small and the writers fast
		kill := startWriters(t, k.Policy)
		if !changes(k.Policy, before) {
			t.Fatal("nothing is ever written")
		}
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond) // the moment is the point
		if why := kill(); why != "" {
			t.Fatal(why)
		}
		after := holds(t, k.Policy)
		p, err := policy.Parse(k.Policy, []byte(after), k.Options)
		if err != nil {
			t.Fatal(err)
		}
		head, tail, _ := strings.Cut(before, "# Writing is")
		if !strings.HasPrefix(after, head) || !strings.HasSuffix(after, tail) || len(p.Rules()) <= 3 {
			t.Fatalf("not whole:\n%s", after)
		}
		rules += len(p.Rules()) - 3
		late := question(t, k, aWrite("/home/user/late/x"))
		if _, err := k.Write(t.Context(), late, "exact", gate.AllowAlways); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d rules were written", rules)
}

func startWriters(t *testing.T, path string) (kill func() string) {
	t.Helper()
	var said strings.Builder
	var cmds []*exec.Cmd
	for range 2 {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), envWriter+"="+path)
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	return func() string {
		for _, cmd := range cmds {
			_ = cmd.Process.Kill()
		}
		for _, cmd := range cmds {
			_ = cmd.Wait()
		}
		return said.String()
	}
}

// changes waits until a file has another content.
func changes(path, was string) bool {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Microsecond) {
		if b, err := os.ReadFile(path); err == nil && string(b) != was {
			return true
		}
	}
	return false
}

// A write that ends at any byte leaves the file as it was. The limit holds for a
// whole process, so it is set in one of its own.
func TestWriteThatEndsAnywhere(t *testing.T) {
	k, _ := ask(t, before, aWrite("/home/user/p/a"))
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), envLimited+"="+k.Policy)
	if out, err := cmd.Output(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
	if n := strings.Count(holds(t, k.Policy), "[[rule]]"); n != 4 {
		t.Errorf("%d rules after the last", n)
	}
}

// limited tries to write with files that end at each size, until one does not.
func limited(path string) int {
	k := &Writer{Policy: path, Options: policy.Options{Home: owner}, Denied: record(nil)}
	c := aWrite("/home/user/p/a")
	f, err := k.loadPolicy()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	q := gate.Question{Calls: []policy.Call{c}, Rule: *f.policy.Decide(&c).Rule, Revision: f.policy.Revision()}
	for size := uint64(0); ; size += 7 {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: 1 << 20}); err != nil {
			fmt.Println(err)
			return 1
		}
		_, err := k.Write(context.Background(), q, "exact", gate.AllowAlways)
		if err == nil {
			return 0
		}
		if now, _ := os.ReadFile(path); string(now) != before || size > 4096 || !strings.Contains(err.Error(), "too large") {
			fmt.Printf("%d bytes: %v\n%s", size, err, now)
			return 1
		}
	}
}
