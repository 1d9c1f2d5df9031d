package main

import "golang.org/x/sys/unix"

// elevated: the kernel has marked this process as one that gained powers when it
// was started (AT_SECURE, getauxval(3)). Where the mark cannot be read, the ids
// have said what can be known.
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
