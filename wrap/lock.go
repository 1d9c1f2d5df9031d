package wrap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const (
	lockPoll = 50 * time.Millisecond
	// deadLock is the age at which clawai removes a client's lock, because the client has probably
	// left it behind. Cline's library updates the time of its lock directory every 5 seconds, and
	// ignores a lock that is 10 seconds old.
	deadLock = 20 * time.Second
)

// lockFile locks out other clawai processes that want to write the file, until the caller calls
// unlock. The lock file is in the state folder, so that the folder of the client's file has no
// extra files.
func lockFile(ctx context.Context, o Options, real string) (unlock func(), err error) {
	dir := filepath.Join(o.State, "wrap-locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	lock := flock.New(filepath.Join(dir, hexDigest([]byte(real))[:32]+".lock"), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(ctx, o.lockWait())
	defer cancel()
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		_ = lock.Close()
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, errors.New("another clawai is editing it; try again when that has ended")
		}
		return nil, fmt.Errorf("lock: %w", err)
	}
	return func() { _ = lock.Close() }, nil
}

// lockDirectory takes the lock of a client. The client creates the directory FILE.lock while it
// writes FILE.
func lockDirectory(ctx context.Context, o Options, real string) (unlock func(), err error) {
	dir := real + ".lock"
	ctx, cancel := context.WithTimeout(ctx, o.lockWait())
	defer cancel()
	for {
		err := os.Mkdir(dir, 0o700)
		if err == nil {
			return func() { _ = os.Remove(dir) }, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("lock: %w", err)
		}
		if info, err := os.Stat(dir); err == nil && o.currentTime().Sub(info.ModTime()) > deadLock {
			_ = os.Remove(dir) // an error is ignored: a directory that is not empty stays
		}
		select {
		case <-ctx.Done():
			if err := context.Cause(ctx); !errors.Is(err, context.DeadlineExceeded) {
				return nil, err
			}
			return nil, fmt.Errorf("its client holds %s; try again, or remove that directory when the client is not running", dir)
		case <-time.After(lockPoll):
		}
	}
}
