//go:build unix && !linux

package stdio

import "syscall"

// pipeFDs holds the fork lock: without pipe2, a fork between the two steps would leak the
// descriptors into another child.
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
