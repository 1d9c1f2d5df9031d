//go:build unix

package approvecmd

import (
	"os/signal"
	"syscall"
)

// stayInBackground makes a read of the terminal fail while another job has the terminal. Otherwise,
// the read would stop this process, and the page with it.
func stayInBackground() { signal.Ignore(syscall.SIGTTIN) }
