//go:build unix && !linux

package stdio

import "syscall"

// pipeFDs makes a pipe that children do not inherit. It holds the fork lock, because there is no
// pipe2: a fork between Pipe and CloseOnExec would give the descriptors to another child.
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
