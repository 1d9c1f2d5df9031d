// Package lipglossinit keeps a dependency from querying the terminal when the program starts.
// lipgloss determines the colours of standard output in a package variable. To do so it reads
// terminfo files and, inside tmux, runs "tmux info", which would slow down every command. This
// package sets NO_COLOR before that, and RestoreEnv restores the variable.
//
// Go initializes packages in the order of their import paths, each as soon as its imports are
// ready. This package imports only os. lipgloss must wait for go-colorful and terminfo, whose paths
// are later in the order. A test checks that the order is right.
package lipglossinit

import "os"

const name = "NO_COLOR"

var value, wasSet = os.LookupEnv(name)

func init() { _ = os.Setenv(name, "1") }

// RestoreEnv sets NO_COLOR back to its value at the program's start.
func RestoreEnv() {
	if wasSet {
		_ = os.Setenv(name, value)
		return
	}
	_ = os.Unsetenv(name)
}
