package wrap

import "golang.org/x/sys/windows"

// shortPath returns the path with 8.3 names, which have no spaces. If the volume has no such names,
// the path stays unchanged.
func shortPath(path string) string {
	long, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return path
	}
	buf := make([]uint16, windows.MAX_PATH)
	n, err := windows.GetShortPathName(long, &buf[0], uint32(len(buf)))
	if err != nil || n == 0 || int(n) > len(buf) {
		return path
	}
	return windows.UTF16ToString(buf[:n])
}
