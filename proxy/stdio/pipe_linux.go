package stdio

import "syscall"

func pipeFDs(fds *[2]int) error { return syscall.Pipe2(fds[:], syscall.O_CLOEXEC) }
