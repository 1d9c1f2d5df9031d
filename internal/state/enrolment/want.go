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

// One process of the laptop speaks with the centre: "clawai enroll sync --stay". Sessions and hooks
// never do. They only say that they run, by the time of a file, and start that process if there is
// none; it ends when nobody has said so for a while. So the centre can make no call slower.

// wantEvery is how often the file's time is renewed, at most. wantFor is how long the process stays
// after that.
const (
	wantEvery = 20 * time.Second
	wantFor   = 2 * time.Minute
)

func wantFile(state string) string { return filepath.Join(Folder(state), "wanted") }

// WantSync says that a session runs on this laptop. start means that no process speaks with the
// centre, and that the caller should start one. It does nothing on a laptop that is not enrolled.
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

// StartSync starts the process that speaks with the centre, apart from this one, which is clawai or
// clawai-hook. It does not wait for it.
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

// findProgram returns the path of the clawai that runs, or that lies beside the clawai-hook that runs.
// Any other program is an error, since nobody knows what it would do with our words.
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

// LockStay takes the lock of the process that stays. It waits until ctx ends.
func LockStay(ctx context.Context, state string) (unlock func(), err error) {
	return lockFile(ctx, stayFile(state))
}

// LockRound takes the lock of one exchange with the centre. It waits until ctx ends.
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
