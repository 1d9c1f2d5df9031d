package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Screens reports whether Keys and Resized work on this system, so that a whole screen can be
// drawn.
const Screens = false

// slice is how long one read waits before it checks the context.
const slice = 50 * time.Millisecond

// Tty is the console of this process. The process may ask on it, line by line, until Close.
type Tty struct {
	*os.File // the output of the console
	in       *os.File
	lock     io.Closer
	before   uint32   // the mode before OpenTerminal changed it; 0 if it was not read yet
	typed    []uint16 // the line that the person is typing
}

// OpenTerminal opens the console and discards pending input. It succeeds if a person sees the
// console, the console is in line mode, and no other clawai asks on it. If not, it returns a
// *NotOwned and does not change the console. lock is a file that all clawai processes share;
// OpenTerminal waits for the lock until ctx ends. Windows has no foreground process groups. The
// second argument is the path of the terminal on other systems; it is ignored.
func OpenTerminal(ctx context.Context, _, lock string) (*Tty, error) {
	in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		return nil, &NotOwned{NoTerminal, err}
	}
	out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		return nil, errors.Join(&NotOwned{NoTerminal, err}, in.Close())
	}
	t := &Tty{File: out, in: in}
	if !IsControlling(os.Stdin) && !isWindowShown() { // if stdin is the console, a person types in it and so sees it
		return nil, errors.Join(&NotOwned{Reason: NoTerminal}, t.releaseLock())
	}
	if t.lock, err = WaitTurn(ctx, lock); err != nil {
		return nil, errors.Join(err, t.releaseLock())
	}
	if err := t.Recheck(); err != nil {
		return nil, errors.Join(err, t.releaseLock())
	}
	if err := t.readMode(&t.before); err != nil {
		return nil, errors.Join(&NotOwned{NoTerminal, err}, t.releaseLock())
	}
	// ReadLine builds the line from single keys, because a read in line mode cannot be cancelled.
	// Ctrl-C still sends its event.
	const theirs = windows.ENABLE_LINE_INPUT | windows.ENABLE_ECHO_INPUT | windows.ENABLE_VIRTUAL_TERMINAL_INPUT
	err = windows.SetConsoleMode(t.inputHandle(), t.before&^theirs|windows.ENABLE_PROCESSED_INPUT)
	if err == nil {
		err = t.Flush()
	}
	if err != nil {
		return nil, errors.Join(&NotOwned{NoTerminal, err}, t.Close())
	}
	return t, nil
}

// Recheck returns an error unless the console is in line mode or in our own mode.
func (t *Tty) Recheck() error {
	var mode uint32
	if err := t.readMode(&mode); err != nil {
		return &NotOwned{NoTerminal, err}
	}
	if t.before == 0 && mode&windows.ENABLE_LINE_INPUT == 0 {
		return &NotOwned{Reason: RawMode}
	}
	return nil
}

func (t *Tty) inputHandle() windows.Handle { return windows.Handle(t.in.Fd()) }

func (t *Tty) readMode(mode *uint32) error { return windows.GetConsoleMode(t.inputHandle(), mode) }

// IsControlling reports whether f is the console of this process. A process has at most one
// console.
func IsControlling(f *os.File) bool {
	var mode uint32
	return windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) == nil
}

var (
	kernel32         = windows.NewLazySystemDLL("kernel32.dll")
	getConsoleWindow = kernel32.NewProc("GetConsoleWindow")
	readConsoleInput = kernel32.NewProc("ReadConsoleInputW")
	getAncestor      = windows.NewLazySystemDLL("user32.dll").NewProc("GetAncestor")
)

func consoleWindow() uintptr {
	w, _, _ := getConsoleWindow.Call()
	return w
}

// isWindowShown reports whether a person can see the window of the console. If a terminal program
// shows the console, the visible window is the owner of the console's window (learn.microsoft.com,
// "GetConsoleWindow"). Clients start servers without a window or with a hidden one.
func isWindowShown() bool {
	const rootOwner = 3
	w := consoleWindow()
	if w == 0 || getAncestor.Find() != nil {
		return false
	}
	if owner, _, _ := getAncestor.Call(w, rootOwner); owner != 0 {
		w = owner
	}
	return windows.IsWindowVisible(windows.HWND(w))
}

// WaitTurn waits until no other clawai asks on this console. Then no other clawai can ask until the
// caller closes the result. lock is the lock file of OpenTerminal.
func WaitTurn(ctx context.Context, lock string) (io.Closer, error) {
	f, err := os.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock of the terminal: %w", err)
	}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	for {
		err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{Offset: uint32(consoleWindow())})
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
			return nil, errors.Join(fmt.Errorf("lock of the terminal: %w", err), f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(&NotOwned{Busy, context.Cause(ctx)}, f.Close())
		case <-time.After(slice):
		}
	}
}

// inputRecord is an INPUT_RECORD with a KEY_EVENT_RECORD inside (wincon.h).
type inputRecord struct {
	event   uint16
	_       uint16
	down    int32
	_, _, _ uint16 // repeat count, key code, scan code
	char    uint16
	_       uint32 // state of the control keys
}

// ReadLine reads one line, without the line end, and shows what the person types. It returns
// ErrHungUp after Ctrl-Z or if the console is closed.
func (t *Tty) ReadLine(ctx context.Context) (string, error) {
	const most = 4096
	for t.typed = t.typed[:0]; len(t.typed) < most; {
		key, err := t.readKey(ctx)
		if err != nil {
			return "", err
		}
		switch {
		case key == '\r':
			_, err := io.WriteString(t, "\r\n")
			return windows.UTF16ToString(t.typed), err
		case key == 'Z'-'@':
			return "", ErrHungUp
		case key == '\b' && len(t.typed) > 0:
			t.typed = t.typed[:len(t.typed)-1]
			err = t.echoKeys('\b', ' ', '\b')
		case key >= ' ':
			t.typed = append(t.typed, key)
			err = t.echoKeys(key)
		}
		if err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("%w: line too long", ErrHungUp)
}

func (t *Tty) echoKeys(keys ...uint16) error {
	var n uint32
	return windows.WriteConsole(windows.Handle(t.Fd()), &keys[0], uint32(len(keys)), &n, nil)
}

// readKey returns the next character that the person types.
func (t *Tty) readKey(ctx context.Context) (uint16, error) {
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		switch e, err := windows.WaitForSingleObject(t.inputHandle(), uint32(slice.Milliseconds())); {
		case err != nil:
			return 0, fmt.Errorf("%w: %w", ErrHungUp, err)
		case e != windows.WAIT_OBJECT_0:
			continue
		}
		var r inputRecord
		var n uint32
		ok, _, err := readConsoleInput.Call(t.in.Fd(), uintptr(unsafe.Pointer(&r)), 1, uintptr(unsafe.Pointer(&n)))
		if ok == 0 {
			return 0, fmt.Errorf("%w: %w", ErrHungUp, err)
		}
		const keyEvent = 1
		if n == 1 && r.event == keyEvent && r.down != 0 && r.char != 0 {
			return r.char, nil
		}
	}
}

// Keys returns errors.ErrUnsupported on this system (see Screens).
func (t *Tty) Keys() error { return errors.ErrUnsupported }

// ReadContext returns errors.ErrUnsupported on this system (see Screens).
func (t *Tty) ReadContext(context.Context, []byte) (int, error) { return 0, errors.ErrUnsupported }

// Resized does nothing on this system (see Screens).
func (t *Tty) Resized(context.Context, func(width, height int)) {}

// Lines restores the original mode of the console. It discards input that was not read, so that the
// next program does not get a late answer.
func (t *Tty) Lines() error {
	if t.before == 0 {
		return nil
	}
	return errors.Join(t.Flush(), windows.SetConsoleMode(t.inputHandle(), t.before))
}

// Size returns the window's columns and rows.
func (t *Tty) Size() (width, height int, err error) {
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(t.Fd()), &info); err != nil {
		return 0, 0, &NotOwned{NoTerminal, err}
	}
	return int(info.Window.Right-info.Window.Left) + 1, int(info.Window.Bottom-info.Window.Top) + 1, nil
}

// Flush discards input that was not read.
func (t *Tty) Flush() error { return windows.FlushConsoleInputBuffer(t.inputHandle()) }

// DropInput discards what was typed at the console f and not read. It does nothing if f is no
// console.
func DropInput(f *os.File) { _ = windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) }

// Close undoes the changes of OpenTerminal. After that, another clawai can ask.
func (t *Tty) Close() error { return errors.Join(t.Lines(), t.releaseLock()) }

func (t *Tty) releaseLock() error {
	err := errors.Join(t.in.Close(), t.File.Close())
	if t.lock != nil {
		err = errors.Join(err, t.lock.Close())
	}
	return err
}
