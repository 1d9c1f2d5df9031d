//go:build unix

package stdio

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// pipeEnd is our end of a pipe, a blocking descriptor read and written with
// bare system calls. Mixing it with descriptors in Go's poller costs a factor
// of twenty on large frames and on one processor (bench/README.md), so
// that neither end of the proxy ever is in the poller.
type pipeEnd struct {
	fd     int
	mu     sync.Mutex // held through a system call: a descriptor in use must not be closed, its number would be reused
	closed atomic.Bool
	freed  bool
}

func (e *pipeEnd) lockOpen() bool {
	e.mu.Lock()
	if e.closed.Load() {
		e.unlockEnd()
		return false
	}
	return true
}

// unlockEnd looks behind the lock: a close that found it taken has left the descriptor to
// whoever had it.
func (e *pipeEnd) unlockEnd() {
	e.mu.Unlock()
	if e.closed.Load() {
		e.freeDescriptor()
	}
}

// closeEnd ends the use of the descriptor: at once when nobody is inside a call,
// otherwise when that call returns.
func (e *pipeEnd) closeEnd() {
	e.closed.Store(true)
	e.freeDescriptor()
}

// freeDescriptor closes the descriptor, unless it is in use: whoever uses it calls free then.
func (e *pipeEnd) freeDescriptor() {
	if e.mu.TryLock() {
		if !e.freed {
			e.freed = true
			_ = syscall.Close(e.fd)
		}
		e.mu.Unlock()
	}
}

func (e *pipeEnd) Read(p []byte) (int, error) {
	if !e.lockOpen() {
		return 0, os.ErrClosed
	}
	defer e.unlockEnd()
	return readFD(e.fd, p)
}

func (e *pipeEnd) Write(p []byte) (int, error) {
	if !e.lockOpen() {
		return 0, os.ErrClosed
	}
	defer e.unlockEnd()
	return writeFD(e.fd, p)
}

func readFD(fd int, p []byte) (int, error) {
	for {
		n, err := syscall.Read(fd, p)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func writeFD(fd int, p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n, err := syscall.Write(fd, p[done:])
		if n > 0 {
			done += n
		}
		if err != nil && err != syscall.EINTR {
			return done, os.NewSyscallError("write", err)
		}
	}
	return done, nil
}

// newPipe makes a pipe whose one end (the reading one if read) is ours.
func newPipe(read bool) (theirs *os.File, ours *pipeEnd, err error) {
	var fds [2]int
	if err := pipeFDs(&fds); err != nil {
		return nil, nil, os.NewSyscallError("pipe", err)
	}
	if read {
		return os.NewFile(uintptr(fds[1]), "stdout"), &pipeEnd{fd: fds[0]}, nil
	}
	return os.NewFile(uintptr(fds[0]), "stdin"), &pipeEnd{fd: fds[1]}, nil
}

// Stdin and Stdout are this process's own, read and written with bare system
// calls like a child's pipes. An inherited descriptor may be in non-blocking
// mode, and the mode is shared with whoever gave it to us: it is left alone
// and waited for instead.
func Stdin() io.Reader { return ownFD(0) }

// Stdout is the writer beside Stdin.
func Stdout() io.Writer { return ownFD(1) }

type ownFD int

func (fd ownFD) Read(p []byte) (int, error) {
	for {
		n, err := readFD(int(fd), p)
		if !wouldBlock(err) {
			return n, err
		}
		if err := waitReady(int(fd), false); err != nil {
			return 0, err
		}
	}
}

func (fd ownFD) Write(p []byte) (int, error) {
	done := 0
	for {
		n, err := writeFD(int(fd), p[done:])
		done += n
		if !wouldBlock(err) {
			return done, err
		}
		if err := waitReady(int(fd), true); err != nil {
			return done, err
		}
	}
}
