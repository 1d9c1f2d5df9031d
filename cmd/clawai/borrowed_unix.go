//go:build unix

package main

import (
	"errors"
	"os"
)

// checkPowers returns an error when this process must do nothing: it has powers that its caller
// does not have, but the caller chooses what it reads and starts.
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
