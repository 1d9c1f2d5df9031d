package main

import "golang.org/x/sys/unix"

// hasElevatedPowers reports whether the kernel has marked this process as one that gained powers at
// its start (AT_SECURE, getauxval(3)). If the mark cannot be read, it returns false; checkPowers
// still compares the ids.
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
