// Command clawai-sandbox starts a server in a cage (docs/sandbox.md): it builds the cage around its
// own process, and then replaces itself by the server. It also runs commands for previews
// (docs/preview.md). It contains nothing else, so that it starts fast.
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
