package vaultcmd

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/state/vault"
)

// readValue reads a value. At a terminal it asks the person. Otherwise it reads standard input to
// the end and removes the last line end.
func readValue(c *cli.Context, name string) (value []byte, err error) {
	if term.IsTerminal(int(os.Stdin.Fd())) {
		var text string
		text, err = cmdline.ReadHidden(c.Context, c.App.ErrWriter, "Value of "+name+" (it is not shown): ")
		value = []byte(text)
	} else if value, err = io.ReadAll(io.LimitReader(os.Stdin, vault.MaxValue+3)); err == nil {
		value = bytes.TrimSuffix(bytes.TrimSuffix(value, []byte("\n")), []byte("\r"))
	}
	if err == nil {
		err = vault.CheckValue(value)
	}
	if err != nil {
		if errors.Is(err, cmdline.ErrLeft) {
			return nil, &cmdline.ExitError{Code: cmdline.ExitInterrupted, Err: errors.New("nothing was changed")}
		}
		return nil, notDone(err)
	}
	return value, nil
}
