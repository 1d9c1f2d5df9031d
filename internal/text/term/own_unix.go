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

// Screens reports whether Keys and Resized work, so that a whole screen can be drawn.
const Screens = true

// lockPoll is the interval for retrying a taken lock: a wait for an fcntl lock cannot be
// cancelled.
const lockPoll = 50 * time.Millisecond

// Tty is a terminal on which this process may ask until Close.
type Tty struct {
	*os.File
	lock    *os.File
	before  *unix.Termios // the mode that OpenTerminal found
	ignored bool          // we made the process ignore SIGTTIN and SIGTTOU
}

// OpenTerminal opens the controlling terminal at path (/dev/tty) if we may use it: it opens, we
// are in its foreground process group, it is in line mode, and no other clawai asks on it. lock
// names a file that all of them share; OpenTerminal waits for the lock until ctx ends. It
// discards pending input. If we may not use the terminal, it returns a *NotOwned and leaves the
// terminal unchanged.
func OpenTerminal(ctx context.Context, path, lock string) (*Tty, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENXIO) { // the system's error for no terminal
		return nil, &NotOwned{Reason: NoTerminal}
	}
	if err != nil {
		return nil, &NotOwned{NoTerminal, &os.PathError{Op: "open", Path: path, Err: err}}
	}
	t := &Tty{File: os.NewFile(uintptr(fd), path)}
	// Check the foreground before waiting for the lock, so that a background process denies at
	// once. Check the mode after the wait, because the terminal is in raw mode while another
	// clawai asks.
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
	// If another group comes to the foreground while we ask, a read must fail with EIO instead of
	// stopping the whole proxy.
	if !signal.Ignored(unix.SIGTTIN) {
		signal.Ignore(unix.SIGTTIN, unix.SIGTTOU)
		t.ignored = true
	}
	return t, nil
}

// Recheck returns an error unless the terminal is still ours and in line mode. Call it right
// before drawing.
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

// takeLock locks the byte of the shared file that belongs to this session. A terminal controls
// only one session, so one empty file serves all terminals, and no cleanup is needed.
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

// IsControlling reports whether f is the terminal that controls this process: a process can query
// the foreground group only of its controlling terminal (POSIX tcgetpgrp).
func IsControlling(f *os.File) bool {
	_, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil
}

// WaitTurn waits until no other clawai asks on this process's terminal, and blocks others until
// the result is closed. lock is the file of OpenTerminal.
func WaitTurn(ctx context.Context, lock string) (io.Closer, error) {
	return (&Tty{}).takeLock(ctx, lock)
}

// Keys leaves line mode: each key is read at once and no key has a special meaning, not even
// Ctrl-C. Output keeps its line ends. Close undoes this.
func (t *Tty) Keys() error {
	mode := *t.before
	mode.Iflag &^= unix.IXON | unix.ICRNL | unix.INLCR | unix.IGNCR | unix.ISTRIP
	mode.Lflag &^= unix.ICANON | unix.ECHO | unix.ECHONL | unix.ISIG | unix.IEXTEN
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(int(t.Fd()), setTermios, &mode)
}

// Lines restores the terminal's original mode and discards unread input, so that no answer
// reaches the program that runs after us.
func (t *Tty) Lines() error {
	err := unix.IoctlSetTermios(int(t.Fd()), setTermios, t.before)
	if errors.Is(err, unix.EIO) {
		return nil // hung up: there is no mode left
	}
	return err
}

// slice is how long a read waits before it checks its context: a blocking read of a terminal
// cannot be cancelled on every system.
const slice = 50 * time.Millisecond

// ReadContext reads at least one byte of input. It returns the error of ctx if ctx ends first,
// and ErrHungUp if the terminal is gone.
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

// ReadLine reads one line in line mode, without its line end. End of file, a line without an end
// and a hang-up return ErrHungUp.
func (t *Tty) ReadLine(ctx context.Context) (string, error) {
	var line []byte
	buf := make([]byte, 4096) // maximum of line mode
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

// waitReadable waits for input with select, the only call that accepts a terminal on every system
// (poll and kqueue refuse /dev/tty on macOS).
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

// Resized calls changed with the size, and again after each resize, until ctx ends.
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

// Flush discards unread input.
func (t *Tty) Flush() error { return flushInput(int(t.Fd())) }

// Close undoes the changes of OpenTerminal and Keys, and lets others ask.
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
