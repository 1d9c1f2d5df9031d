package atomicfile

import (
	"context"
	"fmt"
	"time"

	"github.com/gofrs/flock"
)

// lockWait limits the wait for another process that changes the file, which takes milliseconds.
const lockWait = 5 * time.Second

// Lock keeps other processes that lock the file from changing it, from the caller's reading to its
// Write: otherwise one of two changes at the same moment would be lost. The lock is the file
// path.lock; it is free once its process ends, also when it is killed.
func Lock(path string) (unlock func(), err error) {
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeoutCause(context.Background(), lockWait, fmt.Errorf("another process has held its lock for %v", lockWait))
	defer cancel()
	if _, err := lock.TryLockContext(ctx, time.Millisecond); err != nil {
		_ = lock.Close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("waiting to change %s: %w", path, err)
	}
	return func() { _ = lock.Close() }, nil
}
