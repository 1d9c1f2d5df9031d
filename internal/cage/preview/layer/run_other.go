//go:build !linux

package layer

import (
	"fmt"
	"os"
	"runtime"

	"github.com/clawai/clawai/internal/cage/confine"
)

// Run always fails, because there are no previews on this system.
func Run(name string, _ []string) int {
	fmt.Fprintf(os.Stderr, "%s: commands have no preview on %s\n", name, runtime.GOOS)
	return confine.ExitFault
}
