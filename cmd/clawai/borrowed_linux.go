package main

import "golang.org/x/sys/unix"

// hasElevatedPowers reports whether this process gained powers at its start. The kernel marks such
// a process (AT_SECURE, getauxval(3)). If the mark cannot be read, hasElevatedPowers returns false.
// Then checkPowers compares only the user and group ids.
func hasElevatedPowers() bool {
	const secure = 23
	pairs, err := unix.Auxv()
	if err != nil {
		return false
	}
	for _, pair := range pairs {
		if pair[0] == secure {
			return pair[1] != 0
		}
	}
	return false
}
