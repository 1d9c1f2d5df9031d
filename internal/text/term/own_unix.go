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

// Screens says whether Keys and Resized work: whether a whole screen can be painted.
const Screens = true

// lockPoll is how often a taken lock is tried again: fcntl locks cannot be
// waited for and cancelled.
const lockPoll = 50 * time.Millisecond

// Tty is a terminal this process may ask on until Close.
type Tty struct {
	*os.File
	lock    *os.File
	before  *unix.Termios
	ignored bool // we made the process ignore SIGTTIN and SIGTTOU
}

// OpenTerminal opens the controlling terminal at path (/dev/tty) when it is ours to use:
// it opens, we are in its foreground process group, it is in line mode, and no
// other clawai is asking on it (lock names a file all of them share; the lock
// is waited for until ctx ends). What was typed ahead is thrown away. Any other
// case is a *NotOwned and leaves the terminal as it was.
func OpenTerminal(ctx context.Context, path, lock string) (*Tty, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENXIO) { // the system's word for the same
		return nil, &NotOwned{Reason: NoTerminal}
	}
	if err != nil {
		return nil, &NotOwned{NoTerminal, &os.PathError{Op: "open", Path: path, Err: err}}
	}
	t := &Tty{File: os.NewFile(uintptr(fd), path)}
	// The foreground is looked at before the lock is waited for, so that a
	// background process denies at once; the mode after it, for while another
	// clawai asks, it is raw.
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
	// Should another group be put in front while we ask, a read must fail with
	// EIO instead of stopping the whole proxy.
	if !signal.Ignored(unix.SIGTTIN) {
		signal.Ignore(unix.SIGTTIN, unix.SIGTTOU)
		t.ignored = true
	}
	return t, nil
}

// Recheck reports whether the terminal is still ours and in line mode; it is
// called right before something is drawn.
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

// takeLock locks the byte of the shared file that stands for this session: a
// terminal controls one session only, so one empty file serves all terminals
// and nothing has to be cleaned up.
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

// IsControlling reports whether f is the terminal that controls this process: of no other
// can it ask for the foreground group (POSIX tcgetpgrp).
func IsControlling(f *os.File) bool {
	_, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil
}

// WaitTurn waits until no other clawai asks on this process's terminal, and keeps
// them from asking until it is closed. Lock is that of Own.
func WaitTurn(ctx context.Context, lock string) (io.Closer, error) {
	return (&Tty{}).takeLock(ctx, lock)
}

// Keys leaves line mode: every key is read at once and none has a meaning of
// its own, Ctrl-C included. Output keeps its line ends. Close undoes it.
func (t *Tty) Keys() error {
	mode := *t.before
	mode.Iflag &^= unix.IXON | unix.ICRNL | unix.INLCR | unix.IGNCR | unix.ISTRIP
	mode.Lflag &^= unix.ICANON | unix.ECHO | unix.ECHONL | unix.ISIG | unix.IEXTEN
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(int(t.Fd()), setTermios, &mode)
}

// Lines puts the mode back in which the terminal was found and throws away
// unread input, so that no answer reaches the program behind us.
func (t *Tty) Lines() error {
	err := unix.IoctlSetTermios(int(t.Fd()), setTermios, t.before)
	if errors.Is(err, unix.EIO) {
		return nil // hung up: there is no mode any more
	}
	return err
}

// slice is how long a read waits before it looks at its context: a blocking
// read of a terminal cannot be cancelled on every system.
const slice = 50 * time.Millisecond

// ReadContext reads what was typed, at least one byte. It returns the error of
// ctx when that ends first, and ErrHungUp when the terminal is gone.
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

// ReadLine reads one line in line mode, without its line end. End of file, a
// line without an end and a hang-up are ErrHungUp.
func (t *Tty) ReadLine(ctx context.Context) (string, error) {
	var line []byte
	buf := make([]byte, 4096) // what line mode can hold
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

// waitReadable waits for input with select, the one call that takes a terminal on
// every system (poll and kqueue refuse /dev/tty on macOS).
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

// Size is how many columns and rows the terminal has.
func (t *Tty) Size() (width, height int, err error) {
	size, err := unix.IoctlGetWinsize(int(t.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, &NotOwned{NoTerminal, err}
	}
	return int(size.Col), int(size.Row), nil
}

// Resized calls changed with the size, and again whenever the window gets
// another one, until ctx ends.
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

// Flush throws away what was typed and not yet read.
func (t *Tty) Flush() error { return flushInput(int(t.Fd())) }

// Close undoes whatever Own and Keys did, and lets others ask.
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
