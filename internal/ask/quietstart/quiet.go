// Package quietstart keeps two libraries from searching files when the program starts, because this
// would make every command of the program slower:
//
//   - lipgloss determines the colours of standard output in a package variable. For that it reads
//     terminfo files and, inside tmux, runs "tmux info". NO_COLOR prevents it.
//   - The clipboard of huh's text fields searches every folder of PATH for its programs (xclip, clip.exe
//     and others). Folders of Windows (WSL) or of a network make that slow. Without a PATH it searches
//     nothing. Then Ctrl-V runs no such program; people paste by their terminal.
//
// RestoreEnv restores both variables.
//
// Go initializes packages in the order of their import paths, as soon as their imports are ready.
// This package imports only os and runtime. The clipboard imports os/exec, whose path comes later, and
// lipgloss cannot be ready before go-colorful and terminfo. A test checks both.
package quietstart

import (
	"os"
	"runtime"
)

const (
	noColor = "NO_COLOR"
	path    = "PATH"
)

var (
	oldNoColor, hadNoColor = os.LookupEnv(noColor)
	oldPath, hadPath       = os.LookupEnv(path)
)

func init() {
	_ = os.Setenv(noColor, "1")
	if hidesPath() {
		_ = os.Setenv(path, "") // empty, not unset: RestoreEnv would put back an unset variable at another place of the environment
	}
}

// hidesPath reports whether PATH is empty while packages initialise. On Windows PATH stays, because
// the clipboard searches nothing there, and RestoreEnv would put back the variable Path under the name
// PATH.
func hidesPath() bool { return hadPath && runtime.GOOS != "windows" }

// RestoreEnv restores the environment.
func RestoreEnv() {
	if hidesPath() {
		_ = os.Setenv(path, oldPath)
	}
	if hadNoColor {
		_ = os.Setenv(noColor, oldNoColor)
		return
	}
	_ = os.Unsetenv(noColor)
}
