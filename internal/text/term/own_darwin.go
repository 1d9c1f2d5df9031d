package term

import "golang.org/x/sys/unix"

const (
	getTermios  = unix.TIOCGETA
	setTermios  = unix.TIOCSETAF // after output has drained, input discarded
	lockCommand = unix.F_SETLK
)

// fread is FREAD of <sys/fcntl.h>: TIOCFLUSH empties the input queue only.
const fread = 1

func flushInput(fd int) error {
	return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, fread)
}
