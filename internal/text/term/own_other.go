//go:build !linux && !darwin && !windows

package term

import (
	"context"
	"errors"
	"io"
	"os"
)

// Screens reports whether Keys and Resized work on this system, so that a whole screen can be
// drawn.
const Screens = false

// Tty is the type of a terminal. No code creates one on this system.
type Tty struct{ *os.File }

// OpenTerminal always returns NoTerminal, because clients on this system start their servers
// without a console.
func OpenTerminal(context.Context, string, string) (*Tty, error) {
	return nil, &NotOwned{Reason: NoTerminal}
}

// IsControlling returns false, because no terminal controls a process on this system.
func IsControlling(*os.File) bool { return false }

// DropInput does nothing on this system.
func DropInput(*os.File) {}

// WaitTurn returns errors.ErrUnsupported on this system.
func WaitTurn(context.Context, string) (io.Closer, error) { return nil, errors.ErrUnsupported }

func (t *Tty) Recheck() error { return &NotOwned{Reason: NoTerminal} }

func (t *Tty) Keys() error { return errors.ErrUnsupported }

func (t *Tty) Lines() error { return errors.ErrUnsupported }

func (t *Tty) ReadContext(context.Context, []byte) (int, error) { return 0, ErrHungUp }

func (t *Tty) ReadLine(context.Context) (string, error) { return "", ErrHungUp }

func (t *Tty) Size() (width, height int, err error) { return 0, 0, errors.ErrUnsupported }

func (t *Tty) Resized(context.Context, func(width, height int)) {}

func (t *Tty) Flush() error { return errors.ErrUnsupported }
