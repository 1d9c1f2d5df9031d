// Package lipglossinit keeps a dependency from looking at the terminal when the program
// starts: lipgloss counts the colours of standard output in a package variable, and
// for that reads terminfo files and, inside tmux, runs "tmux info". Every command of
// the program would pay for it. NO_COLOR ends the counting; Undo puts the variable
// back.
//
// Go initialises packages in the order of their import paths as soon as what
// they import is ready. This one imports os only, and lipgloss cannot be ready
// before go-colorful and terminfo, whose paths come later. A test holds that.
package lipglossinit

import "os"

const name = "NO_COLOR"

var value, had = os.LookupEnv(name)

func init() { _ = os.Setenv(name, "1") }

// RestoreEnv gives the environment back as it was.
func RestoreEnv() {
	if had {
		_ = os.Setenv(name, value)
		return
	}
	_ = os.Unsetenv(name)
}
