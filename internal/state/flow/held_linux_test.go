package flow

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

// A ledger that another program keeps locked holds up no call for good.
func TestLedgerThatIsKept(t *testing.T) {
	slow.Test(t)
	l := begin(t, t.TempDir(), "session:1").CountsLedger().(*Ledger)
	if _, err := l.Append(gate.Entry{ID: 1}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(l.dir, l.name)
	l.close() // and with it what it holds
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(gate.Entry{ID: 2}); err == nil || !strings.Contains(err.Error(), "lock") {
		t.Errorf("counted beside it: %v", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	if since, err := l.Append(gate.Entry{ID: 3}); err != nil || len(since) != 2 {
		t.Errorf("after it: %v, %v", since, err)
	}
}

// A process that has ended is not alive, also before its parent has asked about it.
func TestEndedIsNotAlive(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	by := processKey(cmd.Process.Pid)
	if l := (&Ledger{}); by == "" || !l.Alive(by) {
		t.Errorf("%q does not run", by)
	}
	_ = in.Close()
	for p := readStat(cmd.Process.Pid); p.state != "" && p.state != "Z"; p = readStat(cmd.Process.Pid) {
		time.Sleep(time.Millisecond)
	}
	if (&Ledger{}).Alive(by) {
		t.Error("it has ended")
	}
	_ = cmd.Wait()
}

// A reply that has labelled what is cleared before the reply goes on labels what begins, too.
func TestClearedWhileReplying(t *testing.T) {
	p, err := policy.Parse("p.toml", []byte("[flow]\nlevel = \"ask\"\n"), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	proxy := started(t, state, "session:one")
	hooked(t, state, "one")
	path := marksFile(dirOf(state), fileOf("session:one"))
	if err := beginMarks(path); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	replied := make(chan error, 1)
	go func() {
		web := proxy.NewServer("web", "", func() *Known { return nil }, p)
		replied <- web.Add([]gate.Label{{Kind: untrusted, Source: "web"}}, []byte(`"x"`))
	}()
	for one := begin(t, state, "session:one"); seenBy(t, one) == ""; time.Sleep(time.Millisecond) {
	}
	why := clears(t, state, "two")
	_ = f.Close()
	err = <-replied // that the machine was too busy is an error, and the reply is withheld
	if got := seenBy(t, hooked(t, state, "two")); why != "" || err == nil && got != untrusted {
		t.Errorf("%s: what has begun has seen %q", why, got)
	}
}
