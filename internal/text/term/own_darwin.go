package term

import "golang.org/x/sys/unix"

const (
	getTermios  = unix.TIOCGETA
	setTermios  = unix.TIOCSETAF // waits until all output is written, and discards input that was not read
	lockCommand = unix.F_SETLK
)

// fread is FREAD of <sys/fcntl.h>. With it, TIOCFLUSH clears only the input queue.
const fread = 1

func flushInput(fd int) error {
	return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, fread)
}
