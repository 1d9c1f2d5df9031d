// Package lipglossinit keeps a dependency from querying the terminal when the program starts:
// lipgloss determines the colours of standard output in a package variable. For that it reads
// terminfo files and, inside tmux, runs "tmux info". Every command of the program would pay for
// this. NO_COLOR prevents it; RestoreEnv restores the variable.
//
// Go initializes packages in the order of their import paths, as soon as their imports are ready.
// This package imports only os, and lipgloss cannot be ready before go-colorful and terminfo,
// whose paths come later. A test checks this.
package lipglossinit

import "os"

const name = "NO_COLOR"

var value, wasSet = os.LookupEnv(name)

func init() { _ = os.Setenv(name, "1") }

// RestoreEnv restores the environment.
func RestoreEnv() {
	if wasSet {
		_ = os.Setenv(name, value)
		return
	}
	_ = os.Unsetenv(name)
}
