//go:build unix

package flow

import (
	"errors"
	"os"
	"syscall"
	"time"
)

const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC

// holdJournal takes a shared lock, so that an open journal is not swept. The first result is true
// if the file is not in the folder any more. A sweep holds its lock only for a moment. If another
// program holds a lock for longer, holdJournal returns an error and does not block the call for
// ever.
func holdJournal(f *os.File) (gone bool, err error) {
	for range 100 {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		return false, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &st); err != nil {
		return false, &os.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return st.Nlink == 0, nil
}

// readOnce reads a file from an offset with one system call. os.File.ReadAt makes a second call if
// there is less data than the buffer can hold, and in a journal this is nearly always so.
func readOnce(f *os.File, buf []byte, from int64) (n int, err error) {
	for {
		if n, err = syscall.Pread(int(f.Fd()), buf, from); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return 0, &os.PathError{Op: "read", Path: f.Name(), Err: err}
	}
	return n, nil
}

// lockIdle takes the exclusive lock of a journal. It returns false if another process has the
// journal open.
func lockIdle(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// lockList does nothing, because holdJournal and lockIdle lock the list itself.
func lockList(string) (unlock func(), err error) { return func() {}, nil }
