package cage

import "golang.org/x/sys/unix"

// readMounts returns the mounts of this process's mount namespace.
func readMounts() ([]mount, error) {
	fd, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	text := make([]byte, 0, 1<<15)
	for {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n, err := unix.Read(fd, text[len(text):cap(text)])
		if err == unix.EINTR { //nolint:errorlint // err is an error number of the system and is never wrapped
			continue
		}
		if n <= 0 || err != nil {
			return parseMounts(string(text)), err
		}
		text = text[:len(text)+n]
	}
}
