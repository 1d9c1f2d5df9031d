//go:build linux || darwin

package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// Screens reports whether Keys and Resized work on this system, so that a whole screen can be
// drawn.
const Screens = true

// lockPoll is the time between two tries to get a lock. A system call that waits for the lock could
// not be cancelled.
const lockPoll = 50 * time.Millisecond

// Tty is a terminal on which this process may ask until Close.
type Tty struct {
	*os.File
	lock    *os.File
	before  *unix.Termios // the mode before OpenTerminal changed it
	ignored bool          // OpenTerminal made this process ignore SIGTTIN and SIGTTOU
}

// OpenTerminal opens the controlling terminal (path is /dev/tty) and discards pending input. It
// succeeds if the terminal opens, this process is in its foreground process group, the terminal is
// in line mode, and no other clawai asks on it. If not, it returns a *NotOwned and does not change
// the terminal. lock is a file that all clawai processes share; OpenTerminal waits for the lock
// until ctx ends.
func OpenTerminal(ctx context.Context, path, lock string) (*Tty, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENXIO) { // the process has no terminal
		return nil, &NotOwned{Reason: NoTerminal}
	}
	if err != nil {
		return nil, &NotOwned{NoTerminal, &os.PathError{Op: "open", Path: path, Err: err}}
	}
	t := &Tty{File: os.NewFile(uintptr(fd), path)}
	// Check the foreground before the wait for the lock, so that a background process denies at
	// once. Check the mode after the wait, because the terminal is in raw mode while another clawai
	// asks.
	if err := t.inFront(); err != nil {
		return nil, errors.Join(err, t.File.Close())
	}
	if t.lock, err = t.takeLock(ctx, lock); err != nil {
		return nil, errors.Join(err, t.File.Close())
	}
	if err := t.Recheck(); err != nil {
		return nil, errors.Join(err, t.releaseLock())
	}
	if t.before, err = unix.IoctlGetTermios(fd, getTermios); err != nil {
		return nil, errors.Join(&NotOwned{NoTerminal, err}, t.releaseLock())
	}
	if err := flushInput(fd); err != nil {
		return nil, errors.Join(&NotOwned{NoTerminal, err}, t.releaseLock())
	}
	// Another process group may come to the foreground while we ask. A read must then fail with EIO
	// instead of stopping the whole proxy.
	if !signal.Ignored(unix.SIGTTIN) {
		signal.Ignore(unix.SIGTTIN, unix.SIGTTOU)
		t.ignored = true
	}
	return t, nil
}

// Recheck returns an error if the terminal is no longer ours or no longer in line mode. Call it
// directly before drawing.
func (t *Tty) Recheck() error {
	if err := t.inFront(); err != nil {
		return err
	}
	mode, err := unix.IoctlGetTermios(int(t.Fd()), getTermios)
	if err != nil {
		return &NotOwned{NoTerminal, err}
	}
	if mode.Lflag&unix.ICANON == 0 {
		return &NotOwned{Reason: RawMode}
	}
	return nil
}

func (t *Tty) inFront() error {
	front, err := unix.IoctlGetInt(int(t.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return &NotOwned{NoTerminal, err}
	}
	if front != unix.Getpgrp() {
		return &NotOwned{Reason: Background}
	}
	return nil
}

// takeLock locks one byte of the shared file. The number of the byte stands for this terminal's
// session, so one empty file serves all terminals, and no cleanup is needed.
func (t *Tty) takeLock(ctx context.Context, path string) (*os.File, error) {
	session, err := unix.Getsid(0)
	if err != nil {
		return nil, &NotOwned{NoTerminal, err}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock of the terminal: %w", err)
	}
	for {
		err := unix.FcntlFlock(f.Fd(), lockCommand, &unix.Flock_t{
			Type: unix.F_WRLCK, Start: int64(session), Len: 1,
		})
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock of the terminal: %w", err), f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(&NotOwned{Busy, context.Cause(ctx)}, f.Close())
		case <-time.After(lockPoll):
		}
	}
}

// IsControlling reports whether f is the controlling terminal of this process. Only for its
// controlling terminal can a process query the foreground group (POSIX tcgetpgrp).
func IsControlling(f *os.File) bool {
	_, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil
}

// WaitTurn waits until no other clawai asks on the terminal of this process. Then no other clawai
// can ask until the caller closes the result. lock is the lock file of OpenTerminal.
func WaitTurn(ctx context.Context, lock string) (io.Closer, error) {
	return (&Tty{}).takeLock(ctx, lock)
}

// Keys ends line mode: each key is read at once, and no key has a special meaning, not even Ctrl-C.
// Line ends in the output still work. Close undoes this.
func (t *Tty) Keys() error {
	mode := *t.before
	mode.Iflag &^= unix.IXON | unix.ICRNL | unix.INLCR | unix.IGNCR | unix.ISTRIP
	mode.Lflag &^= unix.ICANON | unix.ECHO | unix.ECHONL | unix.ISIG | unix.IEXTEN
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(int(t.Fd()), setTermios, &mode)
}

// Lines restores the original mode of the terminal. It discards input that was not read, so that
// the next program does not get a late answer.
func (t *Tty) Lines() error {
	err := unix.IoctlSetTermios(int(t.Fd()), setTermios, t.before)
	if errors.Is(err, unix.EIO) {
		return nil // the terminal is disconnected, so there is no mode to restore
	}
	return err
}

// slice is how long one read waits before it checks the context. A blocking read from a terminal
// cannot be cancelled on every system.
const slice = 50 * time.Millisecond

// ReadContext reads at least one byte. It returns the error of ctx if ctx ends first, and ErrHungUp
// if the terminal is gone.
func (t *Tty) ReadContext(ctx context.Context, p []byte) (int, error) {
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		ready, err := waitReadable(int(t.Fd()), slice)
		if err != nil {
			return 0, fmt.Errorf("%w: %w", ErrHungUp, err)
		}
		if !ready {
			continue
		}
		n, err := unix.Read(int(t.Fd()), p)
		if n > 0 {
			return n, nil
		}
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return 0, errors.Join(ErrHungUp, err)
	}
}

// ReadLine reads one line in line mode, without the line end. It returns ErrHungUp at end of file,
// after a line without a line end, and after a hang-up.
func (t *Tty) ReadLine(ctx context.Context) (string, error) {
	var line []byte
	buf := make([]byte, 4096) // the longest line of line mode
	for len(line) <= len(buf) {
		n, err := t.ReadContext(ctx, buf)
		if err != nil {
			return "", err
		}
		line = append(line, buf[:n]...)
		if line[len(line)-1] == '\n' {
			return string(line[:len(line)-1]), nil
		}
	}
	return "", fmt.Errorf("%w: line too long", ErrHungUp)
}

// waitReadable waits for input. It uses select, because on macOS poll and kqueue refuse /dev/tty.
func waitReadable(fd int, wait time.Duration) (bool, error) {
	if fd >= unix.FD_SETSIZE {
		return false, errors.New("too many open files")
	}
	var set unix.FdSet
	set.Set(fd)
	limit := unix.NsecToTimeval(int64(wait))
	n, err := unix.Select(fd+1, &set, nil, nil, &limit)
	if errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return n > 0, err
}

// Size returns the terminal's columns and rows.
func (t *Tty) Size() (width, height int, err error) {
	size, err := unix.IoctlGetWinsize(int(t.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, &NotOwned{NoTerminal, err}
	}
	return int(size.Col), int(size.Row), nil
}

// Resized calls changed with the size at once, and again after each change of the size, until ctx
// ends.
func (t *Tty) Resized(ctx context.Context, changed func(width, height int)) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGWINCH)
	defer signal.Stop(signals)
	for {
		if width, height, err := t.Size(); err == nil {
			changed(width, height)
		}
		select {
		case <-ctx.Done():
			return
		case <-signals:
		}
	}
}

// Flush discards input that was not read.
func (t *Tty) Flush() error { return flushInput(int(t.Fd())) }

// DropInput discards what was typed at the terminal f and not read. It does nothing if f is no
// terminal.
func DropInput(f *os.File) { _ = flushInput(int(f.Fd())) }

// Close undoes the changes of OpenTerminal and Keys. After that, another clawai can ask.
func (t *Tty) Close() error {
	err := t.Lines()
	if t.ignored {
		signal.Reset(unix.SIGTTIN, unix.SIGTTOU)
	}
	return errors.Join(err, t.releaseLock())
}

func (t *Tty) releaseLock() error {
	return errors.Join(t.lock.Close(), t.File.Close())
}
