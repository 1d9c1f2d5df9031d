package cmdline

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"
)

// ConfirmAction asks a person whether the command may continue; --yes answers instead. The
// argument terminal reports whether a terminal is there. An error ends the command; its text
// begins with nothing, such as "Nothing was written.".
func ConfirmAction(c *cli.Context, question, nothing string, terminal bool) error {
	if c.Bool("yes") {
		return nil
	}
	if c.App.Writer != io.Writer(os.Stdout) || !terminal {
		return Usagef("%s: there is no terminal to ask at; look at the file, then give --yes", strings.ToLower(nothing[:1])+strings.TrimSuffix(nothing[1:], "."))
	}
	fmt.Fprint(c.App.Writer, question+" [y/N] ")
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if word := strings.ToLower(strings.TrimSpace(line)); err != nil || word != "y" && word != "yes" {
		fmt.Fprintln(ProseWriter(c.App.Writer), nothing)
		return &ExitError{Code: ExitFailed}
	}
	return nil
}
