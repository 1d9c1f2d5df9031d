// Package gatewaycmd implements "clawai gateway". It starts the program clawai-gateway with the
// same arguments, because clawai itself does not contain the code of the centre.
package gatewaycmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
)

// Command returns "clawai gateway".
func Command() *cli.Command {
	return &cli.Command{
		Name:            "gateway",
		Usage:           "run a team's centre, by the program clawai-gateway beside clawai",
		UsageText:       "clawai gateway COMMAND [options]   (as clawai-gateway COMMAND [options]; see docs/gateway.md)",
		SkipFlagParsing: true,
		Action:          func(c *cli.Context) error { return handOver(c.Args().Slice()) },
	}
}

// findProgram returns the path of clawai-gateway. That program must be in the folder of this
// program.
func findProgram() (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", err
	}
	name := "clawai-gateway"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(filepath.Dir(self), name)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not there; a release has it: put it beside clawai", path)
	}
	return path, err
}

func handOver(words []string) error {
	path, err := findProgram()
	if err == nil {
		err = runProgram(path, words)
	}
	if err != nil {
		if exit, ok := errors.AsType[*cmdline.ExitError](err); ok {
			return exit
		}
		return &cmdline.ExitError{Code: cmdline.ExitFailed, Err: err}
	}
	return nil
}
