//go:build unix

package approvecmd

import (
	"os/signal"
	"syscall"
)

// stayInBackground makes a read fail while another job has the terminal. Without this, the read
// would stop this process, and the page with it.
func stayInBackground() { signal.Ignore(syscall.SIGTTIN) }
