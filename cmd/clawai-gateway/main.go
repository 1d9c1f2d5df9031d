// Command clawai-gateway is a team's centre: laptops with clawai are enrolled at it, take signed
// bundles of rules from it and ship their records to it, and its administrator sees them on its
// pages (docs/gateway.md). It is a program of its own, so that no laptop links it.
package main

import (
	"os"

	"github.com/clawai/clawai/internal/gateway/program"
)

// version is set by the release build.
var version = "dev"

func main() { os.Exit(program.Run(os.Args[1:], version, os.Stdout, os.Stderr)) }
