//go:build unix

package approvecmd

import (
	"os/signal"
	"syscall"
)

// stayInBackground makes a read of a terminal that another job has fail, where it
// would stop this process and the page with it.
func stayInBackground() { signal.Ignore(syscall.SIGTTIN) }
