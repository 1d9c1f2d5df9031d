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

// ShowPaged has show write to the person's pager when w is a terminal, and to w when it
// is none, or when there is no pager: PAGER is empty or cat, or it does not start. A
// person who leaves the pager ends it without an error.
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
	// The keys are the pager's: Ctrl-C ends a search there, and not clawai below it.
	signal.Ignore(os.Interrupt)
	defer signal.Reset(os.Interrupt)
	err = show(in)
	if errors.Is(err, syscall.EPIPE) {
		err = nil // the pager was left before the end
	}
	_ = in.Close()
	_ = pager.Wait() // its exit code says nothing of what was shown
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
	cmd := exec.Command("/bin/sh", "-c", pager) // as its owner has written it, with options
	cmd.Stdout, cmd.Stderr = w, os.Stderr
	cmd.Env = os.Environ()
	if getenv("LESSCHARSET") == "" {
		cmd.Env = append(cmd.Env, "LESSCHARSET=utf-8") // also where no locale is set
	}
	return cmd
}
