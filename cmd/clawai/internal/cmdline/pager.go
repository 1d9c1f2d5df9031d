package cmdline

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
)

// ShowPaged calls the function in the parameter show, and sends its output into the person's pager.
// The output goes directly to w in three cases: w is not a terminal, PAGER is empty or cat, or the
// pager does not start. It is not an error if the person leaves the pager early.
func ShowPaged(w io.Writer, getenv func(string) string, show func(io.Writer) error) error {
	pager := pagerCommand(w, getenv)
	if pager == nil {
		return show(w)
	}
	in, err := pager.StdinPipe()
	if err != nil {
		return err
	}
	if pager.Start() != nil {
		return show(w)
	}
	// Ctrl-C ends a search in the pager, so Ctrl-C must not end clawai.
	signal.Ignore(os.Interrupt)
	defer signal.Reset(os.Interrupt)
	err = show(in)
	if errors.Is(err, syscall.EPIPE) {
		err = nil // the person has left the pager early
	}
	_ = in.Close()
	_ = pager.Wait() // the exit code of the pager says nothing about the shown text
	return err
}

func pagerCommand(w io.Writer, getenv func(string) string) *exec.Cmd {
	if ScreenWidth(w) == 0 || runtime.GOOS == "windows" || getenv("TERM") == "dumb" {
		return nil
	}
	pager, ok := os.LookupEnv("PAGER")
	if !ok {
		pager = "less -FRX"
	}
	if pager = strings.TrimSpace(pager); pager == "" || pager == "cat" {
		return nil
	}
	if _, err := exec.LookPath("less"); !ok && err != nil {
		return nil
	}
	cmd := exec.Command("/bin/sh", "-c", pager) // PAGER can contain options, so a shell must split it
	cmd.Stdout, cmd.Stderr = w, os.Stderr
	cmd.Env = os.Environ()
	if getenv("LESSCHARSET") == "" {
		cmd.Env = append(cmd.Env, "LESSCHARSET=utf-8") // less needs this if no locale is set
	}
	return cmd
}
