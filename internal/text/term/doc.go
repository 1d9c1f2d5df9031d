// Package term decides whether clawai may ask on a terminal. It also makes text from strangers safe
// to show on a terminal.
//
// The package must never touch a terminal that another program uses: one in raw mode, or one whose
// foreground process group is not ours. It must leave each terminal in the mode in which it found
// it. Text that it shows must never move the cursor, hide, or look like other text.
package term

import (
	"errors"
	"fmt"
)

// Reason tells why a terminal must not be used. The zero value is NoTerminal.
type Reason uint8

// Values of Reason. String describes them to the owner.
const (
	NoTerminal Reason = iota // this process has no controlling terminal
	Background               // another process group is in the foreground, so a read would stop this process
	RawMode                  // another program uses the terminal in raw mode
	Busy                     // another clawai asked on the terminal until the deadline
)

// String returns the reason as a part of a sentence for the owner.
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

// NotOwned is the error of OpenTerminal and Recheck if the terminal must not be used.
type NotOwned struct {
	Reason Reason
	Err    error // the error of the system; nil if there is none
}

func (e *NotOwned) Error() string {
	if e.Err == nil {
		return e.Reason.String()
	}
	return fmt.Sprintf("%v: %v", e.Reason, e.Err)
}

func (e *NotOwned) Unwrap() error { return e.Err }

// ErrHungUp means that the terminal is gone, or that the person typed the end-of-file key.
var ErrHungUp = errors.New("the terminal hung up")
