//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// stayInBackground makes a read of a terminal that another job has fail, where it
// would stop this process and the page with it.
func stayInBackground() { signal.Ignore(syscall.SIGTTIN) }

// neverFollow opens no symbolic link and does not wait for a pipe.
const neverFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
