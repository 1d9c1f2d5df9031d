// Package logcmd is "clawai log", "log verify" and "log explain".
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
	"github.com/clawai/clawai/internal/audit"
	"github.com/clawai/clawai/internal/event"
)

// Command is "clawai log".
func Command() *cli.Command {
	return &cli.Command{
		Name:      "log",
		Usage:     "show the record: what was called, what was decided, by which rule",
		UsageText: "clawai log [options]\nclawai log verify [--json] [--head HASH]\nclawai log explain [options] RECORD",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on with what is recorded from now on"},
			&cli.StringFlag{Name: "server", Usage: "of the server `NAME` (a glob)"},
			&cli.StringFlag{Name: "tool", Usage: "calls of the tool `NAME` (a glob)"},
			&cli.StringFlag{Name: "decision", Usage: "`allow`, deny, or prompt (the rules wanted a person)"},
			&cli.StringFlag{Name: "since", Usage: "not older than `TIME`: 10m, 2h, 3d, 2026-01-31, or RFC 3339"},
			&cli.StringFlag{Name: "session", Usage: "of the session `ID`, or beginning with it"},
			&cli.StringFlag{Name: "record", Usage: "the record `ID` that a denial quotes, and what refers to it"},
			&cli.StringSliceFlag{Name: "kind", Usage: "of the `KIND` decision, outcome, passed, ... (repeatable)"},
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Usage: "only the last `N`"},
			&cli.BoolFlag{Name: "json", Usage: "print the records as they are stored, one JSON object a line"},
		},
		Subcommands: []*cli.Command{verifyCommand(), explainCommand()},
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
	dir, err := record.Dir()
	if err != nil {
		return err
	}
	if c.Bool("follow") {
		return followLog(c, dir, f)
	}
	out := bufio.NewWriter(c.App.Writer)
	n, err := record.Each(audit.Read(dir, f), logPrinter(c, out), c.App.ErrWriter)
	if err = errors.Join(err, out.Flush()); err != nil {
		return err
	}
	if n == 0 {
		fmt.Fprintln(c.App.ErrWriter, noMatch(dir))
	}
	return nil
}

// noMatch is what is said when no record matches.
func noMatch(dir string) string {
	for _, err := range audit.Read(dir, audit.Filter{}) {
		if err == nil {
			return "No record matches."
		}
	}
	return "No records yet. They begin with the first session of: clawai proxy -- COMMAND"
}

func followLog(c *cli.Context, dir string, f audit.Filter) error {
	// The first session may be yet to come.
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if _, err := record.Each(audit.Follow(ctx, dir, f), logPrinter(c, c.App.Writer), c.App.ErrWriter); err != nil {
		return err
	}
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return &cmdline.ExitError{Code: cmdline.ExitInterrupted}
	}
	return nil
}

func logPrinter(c *cli.Context, w io.Writer) func(*event.Entry) error {
	if c.Bool("json") {
		return func(e *event.Entry) error {
			_, err := w.Write(append(e.Raw, '\n'))
			return err
		}
	}
	p := record.Printer{Out: w, Color: cmdline.WantsColor(c.App.Writer, os.Getenv)}
	p.Home, _ = os.UserHomeDir() // without one, paths stand whole
	return p.Print
}

func logFilter(c *cli.Context, now time.Time) (f audit.Filter, err error) {
	if f.Server, err = cmdline.GlobFlag(c, "server"); err != nil {
		return f, err
	}
	if f.Tool, err = cmdline.GlobFlag(c, "tool"); err != nil {
		return f, err
	}
	f.Decision = c.String("decision")
	switch f.Decision {
	case "", "allow", "deny", "prompt":
	default:
		return f, cmdline.Usagef("--decision: unknown decision %q (one of allow, deny, prompt)", f.Decision)
	}
	if s := c.String("since"); s != "" {
		if f.Since, err = cmdline.ParseSince(s, now); err != nil {
			return f, err
		}
	}
	for _, word := range c.StringSlice("kind") {
		kind, err := record.ParseKind(word)
		if err != nil {
			return f, err
		}
		f.Kinds = append(f.Kinds, kind)
	}
	f.Headers = c.Bool("json") // with them, what is printed can be verified line by line
	f.Session, f.Record, f.Last = c.String("session"), c.String("record"), c.Int("limit")
	if f.Last < 0 || c.IsSet("limit") && f.Last == 0 {
		return f, cmdline.Usagef("--limit: %d is no number of records", f.Last)
	}
	return f, nil
}
