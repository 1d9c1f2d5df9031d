package enrolment

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Only one process of the laptop fetches bundles from the centre and sends records to it: "clawai
// enroll sync --stay". So no tool call waits for this exchange. A session or a hook only sets the
// time of a file, to show that a session runs, and starts that process if it does not run. The
// process ends if the time of the file has not changed for a while.

// wantEvery is the shortest time between two changes of the file's time. wantFor is how long the
// process continues to run after the last change.
const (
	wantEvery = 20 * time.Second
	wantFor   = 2 * time.Minute
)

func wantFile(state string) string { return filepath.Join(Folder(state), "wanted") }

// WantSync sets the file's time, to show that a session runs on this laptop. The result start is
// true if the process that speaks with the centre does not run. The caller should then start it.
// WantSync does nothing on a laptop that is not enrolled, or if the file's time is recent.
func WantSync(state string, now time.Time) (start bool) {
	if !IsEnrolled(state) {
		return false
	}
	if info, err := os.Lstat(wantFile(state)); err == nil && now.Sub(info.ModTime()).Abs() < wantEvery {
		return false
	}
	if err := os.Chtimes(wantFile(state), now, now); err != nil && os.WriteFile(wantFile(state), nil, 0o600) != nil {
		return false
	}
	lock := flock.New(stayFile(state), flock.SetPermissions(0o600))
	free, err := lock.TryLock()
	_ = lock.Close()
	return free && err == nil
}

// IsWanted reports whether a session has run lately.
func IsWanted(state string, now time.Time) bool {
	info, err := os.Lstat(wantFile(state))
	return err == nil && now.Sub(info.ModTime()).Abs() < wantFor
}

// StartSync starts the process that speaks with the centre, and does not wait for its end. The new
// process is independent of this process, which is clawai or clawai-hook.
func StartSync(state string) error {
	program, err := findProgram()
	if err != nil {
		return err
	}
	cmd := exec.Command(program, "enroll", "sync", "--stay", "--state", state) //nolint:gosec // our own program
	cmd.Dir = Folder(state)
	detachProcess(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// findProgram returns the path of the running clawai, or of the clawai in the folder of the running
// clawai-hook. In any other program it returns an error, because that program does not know our
// arguments.
func findProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	dir, file := filepath.Split(self)
	switch name, ext := strings.TrimSuffix(file, filepath.Ext(file)), filepath.Ext(file); name {
	case "clawai":
		return self, nil
	case "clawai-hook":
		return filepath.Join(dir, "clawai"+ext), nil
	}
	return "", errors.New(self + " is neither clawai nor clawai-hook")
}

func stayFile(state string) string { return filepath.Join(Folder(state), "stay.lock") }

// LockStay takes the lock of the process that speaks with the centre. If another process has the
// lock, LockStay waits for it, at most until ctx ends.
func LockStay(ctx context.Context, state string) (unlock func(), err error) {
	return lockFile(ctx, stayFile(state))
}

// LockRound takes the lock of one exchange with the centre. If another process has the lock,
// LockRound waits for it, at most until ctx ends.
func LockRound(ctx context.Context, state string) (unlock func(), err error) {
	return lockFile(ctx, filepath.Join(Folder(state), "round.lock"))
}

func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	lock := flock.New(path, flock.SetPermissions(0o600))
	if got, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil || !got {
		_ = lock.Close()
		if ctx.Err() != nil {
			err = errors.New("another process holds its lock")
		}
		return nil, err
	}
	return func() { _ = lock.Close() }, nil
}
