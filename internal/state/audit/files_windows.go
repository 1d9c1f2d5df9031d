package audit

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"

	"github.com/clawai/clawai/internal/state/access"
)

const openFlags = 0

// lockAt is far behind the end of every file, because a lock on Windows keeps
// readers out of the bytes it covers.
const lockAt = 1 << 30

// tryLock takes the lock on f, or reports that somebody else has it.
func tryLock(f *os.File, shared bool) (bool, error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if !shared {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockAt})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// unlockFile gives the lock on f back before f is closed.
func unlockFile(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: lockAt})
}

// isSpoiled reports a file that has fewer bytes than it had. It cannot be removed: Windows
// keeps a file that is open.
func isSpoiled(f *os.File, size int64) bool {
	fi, err := f.Stat()
	return err == nil && fi.Size() < size
}

// checkPrivate refuses what another user owns or may write.
func checkPrivate(path string, _ fs.FileInfo) error { return access.CheckWrite(path) }

// fileNode is not to be had without opening the file.
func fileNode(fs.FileInfo) uint64 { return 0 }
