//go:build !linux

package confine

import (
	"fmt"
	"os"
	"runtime"
)

// Run refuses: on this system nothing is confined.
func Run(name string, _ []string) int {
	fmt.Fprintf(os.Stderr, "%s: nothing is confined on %s\n", name, runtime.GOOS)
	return ExitFault
}
