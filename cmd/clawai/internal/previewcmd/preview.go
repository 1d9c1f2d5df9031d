// Package previewcmd implements "clawai preview".
package previewcmd

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/cage/preview"
	"github.com/clawai/clawai/internal/state/config"
)

// wait is the time limit of clawai preview. The command itself may take 3 seconds of it.
const wait = 4 * time.Second

// Command returns "clawai preview".
func Command() *cli.Command {
	return &cli.Command{
		Name:  "preview",
		Usage: "run a command without its effects, and show what it would do",
		UsageText: "clawai preview [--json] -- COMMAND [ARG...]\n\n" +
			"Linux only. The command runs for at most 3 seconds, as you, with no network and without your secrets.\n" +
			"What it writes, changes or deletes is kept in memory, shown, and forgotten (docs/preview.md).\n" +
			"One COMMAND alone is a text for the shell: clawai preview -- 'make clean && ls'.",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print it as one JSON document"}},
		Action: runPreview,
	}
}

func runPreview(c *cli.Context) error {
	words := c.Args().Slice()
	if len(words) == 0 {
		return cmdline.Usagef("preview needs a command: clawai preview -- rm -rf build")
	}
	folders, err := config.ReadFolders()
	if err != nil {
		return err
	}
	o := preview.Options{Command: words, Home: folders.Home, Own: []string{folders.Config, folders.State}, Wait: wait}
	if len(words) == 1 {
		o.Text, o.Command = words[0], nil
	}
	r := preview.Run(c.Context, o)
	if c.Bool("json") {
		err = cmdline.WriteJSON(c.App.Writer, r)
	} else if r.Fault == "" {
		color := cmdline.WantsColor(c.App.Writer, os.Getenv)
		var text strings.Builder
		for _, line := range view.Wrap(view.PreviewLines(r, folders.Home), cmdline.ScreenWidth(c.App.Writer)) {
			text.WriteString(paintLine(color, line) + "\n")
		}
		_, err = fmt.Fprint(c.App.Writer, text.String())
	}
	if r.Fault != "" {
		return fmt.Errorf("there is no preview: %s", r.Fault)
	}
	return err
}

// paintLine colors a line by the kind of change that it shows.
func paintLine(on bool, line string) string {
	for prefix, color := range map[string]string{
		"  delete ": cmdline.Red, view.ChangePrefix('-'): cmdline.Red, "  create ": cmdline.Green, view.ChangePrefix('+'): cmdline.Green,
		"  change ": cmdline.Yellow, "  replace ": cmdline.Yellow, "  mode ": cmdline.Yellow, "unforeseen ": cmdline.Dim, "preview ": cmdline.Bold,
	} {
		if strings.HasPrefix(line, prefix) {
			return cmdline.Paint(on, color, line)
		}
	}
	return line
}
