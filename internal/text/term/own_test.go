//go:build linux || darwin

package term

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
)

// Whether a terminal is ours is tested with real ones in internal/ask.
func TestOwnRefusesWhatIsNoTerminal(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(dir, "missing"), os.DevNull} {
		tty, err := OpenTerminal(t.Context(), path, filepath.Join(dir, "lock"))
		not, ok := errors.AsType[*NotOwned](err)
		if tty != nil || !ok || not.Reason != NoTerminal || not.Err == nil || !errors.Is(err, not.Err) {
			t.Errorf("%s: got %v, %v", path, tty, err)
		}
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "kept" {
		t.Errorf("the file holds %q (%v)", b, err)
	}
}

func TestTheLockIsWaitedForUntilTheContextEnds(t *testing.T) {
	slow.Test(t)
	path := filepath.Join(t.TempDir(), "lock")
	held, err := (&Tty{}).takeLock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*lockPoll)
	defer cancel()
	if runtime.GOOS == "linux" { // elsewhere a process does not exclude itself
		_, err = (&Tty{}).takeLock(ctx, path)
		if not, ok := errors.AsType[*NotOwned](err); !ok || not.Reason != Busy || not.Error() == not.Reason.String() {
			t.Errorf("got %v", err)
		}
	}
	freed := make(chan error, 1)
	time.AfterFunc(lockPoll, func() { freed <- held.Close() })
	again, err := (&Tty{}).takeLock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(<-freed, again.Close()); err != nil {
		t.Error(err)
	}
	if _, err := (&Tty{}).takeLock(t.Context(), filepath.Join(path, "below")); err == nil {
		t.Error("a lock file that cannot be made was taken for a lock")
	}
}

func TestReasonsReadAsSentences(t *testing.T) {
	seen := map[string]bool{}
	for r := NoTerminal; r <= Busy; r++ {
		if s := (&NotOwned{Reason: r}).Error(); s == "" || seen[s] {
			t.Errorf("%d: %q", r, s)
		} else {
			seen[s] = true
		}
	}
}
