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

// ShowPaged calls show with the person's pager when w is a terminal. It calls show with w when
// w is not a terminal, or when there is no pager: PAGER is empty or cat, or it does not start.
// Leaving the pager early is not an error.
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
	// The pager handles the keys: Ctrl-C ends a search there, and must not end clawai.
	signal.Ignore(os.Interrupt)
	defer signal.Reset(os.Interrupt)
	err = show(in)
	if errors.Is(err, syscall.EPIPE) {
		err = nil // the person left the pager before the end
	}
	_ = in.Close()
	_ = pager.Wait() // its exit code does not concern the shown text
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
	cmd := exec.Command("/bin/sh", "-c", pager) // a shell, since PAGER may hold options
	cmd.Stdout, cmd.Stderr = w, os.Stderr
	cmd.Env = os.Environ()
	if getenv("LESSCHARSET") == "" {
		cmd.Env = append(cmd.Env, "LESSCHARSET=utf-8") // works without a locale, too
	}
	return cmd
}
