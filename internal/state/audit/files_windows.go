package audit

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"

	"github.com/clawai/clawai/internal/state/access"
)

const openFlags = 0

// lockAt is far beyond the end of every file, because on Windows a lock prevents others from
// reading the bytes that it covers.
const lockAt = 1 << 30

// tryLock takes the lock on f, or returns false if another process has it.
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

// unlockFile releases the lock on f, which stays open.
func unlockFile(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: lockAt})
}

// isSpoiled reports whether a file is shorter than size. The file cannot have been removed, because
// Windows does not remove an open file.
func isSpoiled(f *os.File, size int64) bool {
	fi, err := f.Stat()
	return err == nil && fi.Size() < size
}

// checkPrivate returns an error for a file or folder that another user owns or may write.
func checkPrivate(path string, _ fs.FileInfo) error { return access.CheckWrite(path) }

// fileNode returns 0: Windows tells this number only for an open file.
func fileNode(fs.FileInfo) uint64 { return 0 }
