// Package term is what the house knows of terminals: whether the one in front
// of us is ours to ask on, and how to show text from strangers on it.
//
// It must never touch a terminal another program is using (one in raw mode, or
// whose foreground group is not ours), never leave one in another mode than it
// was found in, and never let shown text move the cursor, hide, or look like
// other text.
package term

import (
	"errors"
	"fmt"
)

// Reason says why a terminal may not be used. The zero value is NoTerminal.
type Reason uint8

// Reasons, worded for the owner by String.
const (
	NoTerminal Reason = iota // there is no controlling terminal
	Background               // another process group is in front; a read would stop us
	RawMode                  // another program's interface owns it
	Busy                     // another clawai was asking on it until the deadline
)

// String is the reason as one half sentence for the owner.
func (r Reason) String() string {
	switch r {
	case Background:
		return "another program is in front on the terminal"
	case RawMode:
		return "another program's interface owns the terminal"
	case Busy:
		return "another question was still open on the terminal"
	default:
		return "there is no terminal"
	}
}

// NotOwned is the error of Own and Recheck.
type NotOwned struct {
	Reason Reason
	Err    error // the system's word, if there was one
}

func (e *NotOwned) Error() string {
	if e.Err == nil {
		return e.Reason.String()
	}
	return fmt.Sprintf("%v: %v", e.Reason, e.Err)
}

func (e *NotOwned) Unwrap() error { return e.Err }

// ErrHungUp is a read from a terminal that has gone away, or whose person typed
// end of file.
var ErrHungUp = errors.New("the terminal hung up")
