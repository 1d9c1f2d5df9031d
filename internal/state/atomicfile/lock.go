package atomicfile

import (
	"context"
	"fmt"
	"time"

	"github.com/gofrs/flock"
)

// lockWait limits the wait for another process that has the lock. A change takes milliseconds.
const lockWait = 5 * time.Second

// Lock locks a file against changes by other callers of Lock. A caller that reads a file, changes
// the content and writes it must hold the lock all the time; otherwise one of two simultaneous
// changes would be lost. The lock is on the file path.lock. The system releases it when the process
// ends, even if it is killed.
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
