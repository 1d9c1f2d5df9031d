package cmdline

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/internal/text/term"
)

// ConfirmAction asks a person whether the command may continue. With --yes it does not ask.
// terminal is true if the command has a terminal. refusal is a sentence such as "Nothing was
// written.". If the person answers no, ConfirmAction prints refusal and returns an error without a
// text. Without a terminal, it returns an error with a text that begins with refusal. What was typed
// before the question is no answer, because the work before a question may take seconds.
func ConfirmAction(c *cli.Context, question, refusal string, terminal bool) error {
	if c.Bool("yes") {
		return nil
	}
	if c.App.Writer != io.Writer(os.Stdout) || !terminal {
		return Usagef("%s: there is no terminal to ask at; look at the file, then give --yes", strings.ToLower(refusal[:1])+strings.TrimSuffix(refusal[1:], "."))
	}
	term.DropInput(os.Stdin)
	fmt.Fprint(c.App.Writer, question+" [y/N] ")
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if word := strings.ToLower(strings.TrimSpace(line)); err != nil || word != "y" && word != "yes" {
		fmt.Fprintln(ProseWriter(c.App.Writer), refusal)
		return &ExitError{Code: ExitFailed}
	}
	return nil
}
