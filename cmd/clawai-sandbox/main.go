// Command clawai-sandbox is the program by which clawai starts a server in a cage: it shuts itself
// in, and then runs the server in its own place. docs/sandbox.md says what the cage holds. It also
// runs commands for previews (docs/preview.md). It links nothing else, so that it starts soon.
package main

import (
	"fmt"
	"os"

	"github.com/clawai/clawai/internal/cage/preview/layer"
)

// version is set by the release build.
var version = "dev"

func main() { os.Exit(runHelper(os.Args[1:])) }

func runHelper(words []string) int {
	if len(words) == 1 && words[0] == "--version" {
		fmt.Fprintln(os.Stdout, "clawai-sandbox", version)
		return 0
	}
	return layer.RunHelper("clawai-sandbox", words)
}
