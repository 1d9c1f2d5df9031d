package term

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETSF // waits until all output is written, and discards input that was not read
	// Locks of open file descriptions also exclude a second OpenTerminal in the same process.
	lockCommand = unix.F_OFD_SETLK
)

func flushInput(fd int) error {
	return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH)
}
