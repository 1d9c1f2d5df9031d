// Package term decides whether clawai may ask on a terminal, and shows text from strangers on it.
//
// It must never touch a terminal that another program uses (a terminal in raw mode, or whose
// foreground group is not ours). It must leave each terminal in the mode in which it found it.
// Text that it shows must never move the cursor, hide, or look like other text.
package term

import (
	"errors"
	"fmt"
)

// Reason is the reason why a terminal may not be used. The zero value is NoTerminal.
type Reason uint8

// The reasons. String describes them to the owner.
const (
	NoTerminal Reason = iota // there is no controlling terminal
	Background               // another process group is in the foreground; a read would stop us
	RawMode                  // another program's interface uses it
	Busy                     // another clawai was asking on it until the deadline
)

// String returns the reason as half a sentence for the owner.
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

// NotOwned is the error of OpenTerminal and Recheck.
type NotOwned struct {
	Reason Reason
	Err    error // the system's error, if any
}

func (e *NotOwned) Error() string {
	if e.Err == nil {
		return e.Reason.String()
	}
	return fmt.Sprintf("%v: %v", e.Reason, e.Err)
}

func (e *NotOwned) Unwrap() error { return e.Err }

// ErrHungUp means that the terminal has gone away, or that the person typed end of file.
var ErrHungUp = errors.New("the terminal hung up")
