package term

import "golang.org/x/sys/unix"

const (
	getTermios  = unix.TIOCGETA
	setTermios  = unix.TIOCSETAF // waits until all output is written, and discards unread input
	lockCommand = unix.F_SETLK
)

// fread is FREAD of <sys/fcntl.h>: TIOCFLUSH then clears only the input queue.
const fread = 1

func flushInput(fd int) error {
	return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, fread)
}
