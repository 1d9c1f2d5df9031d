//go:build unix

package stdio

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// pipeEnd is this process's end of a pipe. It is a blocking descriptor with direct system calls.
// Mixing it with descriptors in Go's poller is twenty times slower for large frames and on one
// processor (bench/README.md). So neither side of the proxy uses the poller.
type pipeEnd struct {
	fd     int
	mu     sync.Mutex // held during a system call: if a descriptor in use were closed, its number would be reused
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

// unlockEnd unlocks. Then it closes the descriptor if closeEnd was called, because closeEnd leaves
// this to the goroutine that held the lock.
func (e *pipeEnd) unlockEnd() {
	e.mu.Unlock()
	if e.closed.Load() {
		e.freeDescriptor()
	}
}

// closeEnd closes the descriptor at once if no call is running, and otherwise when the running call
// returns.
func (e *pipeEnd) closeEnd() {
	e.closed.Store(true)
	e.freeDescriptor()
}

// freeDescriptor closes the descriptor, unless it is in use. In that case unlockEnd calls
// freeDescriptor again.
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

// newPipe makes a pipe. ours is the reading end if read is true. Otherwise ours is the writing end.
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

// Stdin returns a reader of this process's standard input, with direct system calls like those for
// a child's pipes. An inherited descriptor may be in non-blocking mode. This mode is shared with
// the process that passed on the descriptor. So Stdin does not change the mode, and Read waits with
// poll(2).
func Stdin() io.Reader { return ownFD(0) }

// Stdout returns a writer to this process's standard output. It works like Stdin.
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
