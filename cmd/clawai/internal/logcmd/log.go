// Package logcmd implements "clawai log", and the subcommands "stats", "verify", "explain" and
// "export".
package logcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
)

// Command returns "clawai log".
func Command() *cli.Command {
	return &cli.Command{
		Name:  "log",
		Usage: "show the record: what was called, what was decided, by which rule",
		UsageText: "clawai log [options]\nclawai log stats [options]\nclawai log verify [--json] [--head HASH]\n" +
			"clawai log explain [options] RECORD\nclawai log export --format FORM [options]",
		Flags: append(append([]cli.Flag{
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "also show what is recorded from now on"},
		}, filterFlags()...),
			&cli.StringFlag{Name: "record", Usage: "the record `ID` that a denial quotes, and what refers to it"},
			&cli.StringSliceFlag{Name: "kind", Usage: "only the `KIND`: decision, outcome, passed, ... (repeatable)"},
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Usage: "only the last `N`"},
			&cli.BoolFlag{Name: "no-pager", Usage: "write straight to the terminal, not through $PAGER"},
			&cli.BoolFlag{Name: "json", Usage: "print the records as they are stored, one JSON object a line"},
		),
		Subcommands: []*cli.Command{statsCommand(), verifyCommand(), explainCommand(), exportCommand()},
		Action:      showLog,
	}
}

func showLog(c *cli.Context) error {
	if err := cmdline.NoArguments(c); err != nil {
		return err
	}
	f, err := logFilter(c, time.Now())
	if err != nil {
		return err
	}
	dir, err := record.FindLogDir()
	if err != nil {
		return err
	}
	if c.Bool("follow") {
		return followLog(c, dir, f)
	}
	n := 0
	show := func(w io.Writer) (err error) {
		n, err = printLog(c, w, dir, f)
		return err
	}
	if c.Bool("no-pager") || c.Bool("json") {
		err = show(c.App.Writer)
	} else {
		err = cmdline.ShowPaged(c.App.Writer, os.Getenv, show)
	}
	if err == nil && n == 0 {
		fmt.Fprintln(c.App.ErrWriter, noMatch(dir))
	}
	return err
}

// printLog writes the records that match the filter. n is the number of written lines.
func printLog(c *cli.Context, w io.Writer, dir string, f audit.Filter) (n int, err error) {
	out := bufio.NewWriter(w)
	if c.Bool("json") {
		n, err = record.ShowEach(audit.Read(dir, f), rawPrinter(out), c.App.ErrWriter)
		return n, errors.Join(err, out.Flush())
	}
	p := linePrinter(c, out)
	fold := record.Folder{Emit: func(r *record.Row) error { n++; return p.Print(r) }}
	if f.Last == 0 {
		fold.Lone = f.Takes
	}
	_, err = record.ShowEach(audit.Read(dir, f), fold.Add, c.App.ErrWriter)
	if err == nil {
		err = fold.Close()
	}
	return n, errors.Join(err, out.Flush())
}

// noMatch returns the message for the user when no record matches.
func noMatch(dir string) string {
	for _, err := range audit.Read(dir, audit.Filter{}) {
		if err == nil {
			return "No record matches."
		}
	}
	return "No records yet. They begin with the first session of: clawai proxy -- COMMAND"
}

func followLog(c *cli.Context, dir string, f audit.Filter) error {
	// No session may have created the folder yet.
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	live := record.Live{Printer: linePrinter(c, c.App.Writer), Lone: f.Takes}
	add := live.Add
	if c.Bool("json") {
		add = rawPrinter(c.App.Writer)
	}
	_, err := record.ShowEach(audit.Follow(ctx, dir, f), add, c.App.ErrWriter)
	if err = errors.Join(err, live.Close()); err != nil {
		return err
	}
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return &cmdline.ExitError{Code: cmdline.ExitInterrupted}
	}
	return nil
}

func rawPrinter(w io.Writer) func(*event.Entry) error {
	return func(e *event.Entry) error {
		_, err := w.Write(append(e.Raw, '\n'))
		return err
	}
}

func linePrinter(c *cli.Context, w io.Writer) record.Printer {
	p := record.Printer{Out: w, Color: cmdline.WantsColor(c.App.Writer, os.Getenv), Width: cmdline.ScreenWidth(c.App.Writer)}
	p.Home, _ = os.UserHomeDir() // without a home folder, paths are not shortened
	return p
}
