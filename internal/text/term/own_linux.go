package term

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETSF // after output has drained, input discarded
	// Open file description locks also exclude a second Own in this process.
	lockCommand = unix.F_OFD_SETLK
)

func flushInput(fd int) error {
	return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH)
}
