//go:build unix && !linux

package stdio

import "syscall"

// pipeFDs holds the fork lock: there is no pipe2, and a fork between Pipe and CloseOnExec would
// leak the descriptors into another child.
func pipeFDs(fds *[2]int) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := syscall.Pipe(fds[:]); err != nil {
		return err
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	return nil
}
