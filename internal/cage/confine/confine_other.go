//go:build !linux

package confine

import (
	"fmt"
	"os"
	"runtime"
)

// Run always fails, because clawai has no cages on this system.
func Run(name string, _ []string) int {
	fmt.Fprintf(os.Stderr, "%s: nothing is confined on %s\n", name, runtime.GOOS)
	return ExitFault
}
