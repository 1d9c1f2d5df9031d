package vaultcmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/state/vault"
)

// terminalLine is the longest line that terminals deliver: the rest of a longer line is lost
// without a message.
const terminalLine = 4095

// readValue asks at the terminal, or reads stdin to its end and removes the last line end.
func readValue(c *cli.Context, name string) (value []byte, err error) {
	if fd := int(os.Stdin.Fd()); term.IsTerminal(fd) {
		value, err = readHidden(c, fd, name)
	} else if value, err = io.ReadAll(io.LimitReader(os.Stdin, vault.MaxValue+3)); err == nil {
		value = bytes.TrimSuffix(bytes.TrimSuffix(value, []byte("\n")), []byte("\r"))
	}
	if err == nil {
		err = vault.CheckValue(value)
	}
	if err != nil {
		if exit, ok := errors.AsType[*cmdline.ExitError](err); ok {
			return nil, exit
		}
		return nil, notDone(err)
	}
	return value, nil
}

// readHidden reads a line without echo. After a signal the terminal is restored.
func readHidden(c *cli.Context, fd int, name string) ([]byte, error) {
	was, err := term.GetState(fd)
	if err != nil {
		return nil, err
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(ended)
	type line struct {
		text []byte
		err  error
	}
	read := make(chan line, 1)
	fmt.Fprintf(c.App.ErrWriter, "Value of %s (it is not shown): ", name)
	go func() {
		text, err := term.ReadPassword(fd)
		read <- line{text, err}
	}()
	select {
	case l := <-read:
		fmt.Fprintln(c.App.ErrWriter)
		if l.err == nil && len(l.text) >= terminalLine-1 {
			return nil, errors.New("a terminal hands over no longer line; write the value to stdin: clawai vault set NAME < FILE")
		}
		return l.text, l.err
	case <-ended:
		_ = term.Restore(fd, was)
		fmt.Fprintln(c.App.ErrWriter)
		return nil, &cmdline.ExitError{Code: cmdline.ExitInterrupted, Err: errors.New("nothing was changed")}
	}
}
