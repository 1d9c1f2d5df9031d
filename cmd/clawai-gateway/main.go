// Command clawai-gateway is a team's centre (docs/gateway.md). Laptops with clawai are enrolled at
// the centre. They download signed bundles of rules from the centre and upload their records. The
// administrator sees the records on the centre's pages. The centre is a separate program, so that
// the program for laptops stays small.
package main

import (
	"os"

	"github.com/clawai/clawai/internal/gateway/program"
)

// version is set by the release build.
var version = "dev"

func main() { os.Exit(program.Run(os.Args[1:], version, os.Stdout, os.Stderr)) }
