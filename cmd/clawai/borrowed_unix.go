//go:build unix

package main

import (
	"errors"
	"os"
)

// checkPowers returns an error if this process has more powers than its caller. Such a process must
// do nothing, because its caller chooses which files it reads and which programs it starts.
func checkPowers() error {
	switch {
	case os.Getuid() != os.Geteuid():
		return errors.New("clawai runs with the powers of another user than the one who started it (setuid); " + nextBorrowed + "u-s")
	case os.Getgid() != os.Getegid():
		return errors.New("clawai runs with the powers of another group than that of the user who started it (setgid); " + nextBorrowed + "g-s")
	case hasElevatedPowers():
		return errors.New("clawai runs with powers that the user who started it has not (file capabilities); take them from it: setcap -r PATH-OF-CLAWAI")
	}
	return nil
}

const nextBorrowed = "it would start servers and read files with them, as its caller says; take the mark from it: chmod "
