//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// tap runs a command and keeps what goes in and out of it in name.in and
// name.out. It passes bytes on as they come and changes nothing.
func tap(name string, argv []string) int {
	in, err := os.Create(name + ".in")
	if err != nil {
		fmt.Fprintln(os.Stderr, "tap:", err)
		return 125
	}
	out, err := os.Create(name + ".out")
	if err != nil {
		fmt.Fprintln(os.Stderr, "tap:", err)
		return 125
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	stdin, _ := cmd.StdinPipe()
	stdout, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "tap:", err)
		return 125
	}
	go func() {
		_, _ = io.Copy(io.MultiWriter(in, stdin), os.Stdin)
		stdin.Close()
	}()
	_, _ = io.Copy(io.MultiWriter(out, os.Stdout), stdout)
	if err := cmd.Wait(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return exit.ExitCode()
		}
		return 125
	}
	return 0
}
