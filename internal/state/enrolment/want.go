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

// Only one process of the laptop speaks with the centre: "clawai enroll sync --stay". So the centre
// can make no call slower. A session or a hook only sets the time of a file to show that it runs,
// and starts that process if it does not run. The process ends when the time of the file has not
// changed for a while.

// wantEvery is the shortest time after which the file's time is set again. wantFor is how long the
// process stays after the file's time.
const (
	wantEvery = 20 * time.Second
	wantFor   = 2 * time.Minute
)

func wantFile(state string) string { return filepath.Join(Folder(state), "wanted") }

// WantSync sets the file's time, to show that a session runs on this laptop. start means that no
// process speaks with the centre, so that the caller should start one. WantSync does nothing on a
// laptop that is not enrolled, or if the file's time is recent.
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

// StartSync starts the process that speaks with the centre. The process is independent of this one,
// which is clawai or clawai-hook. StartSync does not wait for its end.
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
// clawai-hook. It returns an error in any other program, which would not understand our arguments.
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

// LockStay takes the lock of the process that speaks with the centre. It waits for the lock until
// ctx ends.
func LockStay(ctx context.Context, state string) (unlock func(), err error) {
	return lockFile(ctx, stayFile(state))
}

// LockRound takes the lock of one exchange with the centre. It waits for the lock until ctx ends.
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
