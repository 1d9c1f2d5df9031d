package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/clawai/clawai/internal/audit"
	"github.com/clawai/clawai/internal/config"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/term"
	"github.com/clawai/clawai/policy/glob"
	"github.com/urfave/cli/v2"
)

func logCommand() *cli.Command {
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
		Subcommands: []*cli.Command{logVerifyCommand(), logExplainCommand()},
		Action:      showLog,
	}
}

func showLog(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	f, err := logFilter(c, time.Now())
	if err != nil {
		return err
	}
	dir, err := auditDir()
	if err != nil {
		return err
	}
	if c.Bool("follow") {
		return followLog(c, dir, f)
	}
	out := bufio.NewWriter(c.App.Writer)
	n, err := printLog(audit.Read(dir, f), logPrinter(c, out), c.App.ErrWriter)
	if err = errors.Join(err, out.Flush()); err != nil {
		return err
	}
	if n == 0 {
		fmt.Fprintln(c.App.ErrWriter, nothing(dir))
	}
	return nil
}

// nothing is what is said when no record matches.
func nothing(dir string) string {
	for _, err := range audit.Read(dir, audit.Filter{}) {
		if err == nil {
			return "No record matches."
		}
	}
	return "No records yet. They begin with the first session of: clawai proxy -- COMMAND"
}

func auditDir() (string, error) {
	dirs, err := config.Dirs()
	return filepath.Join(dirs.State, "audit"), err
}

func followLog(c *cli.Context, dir string, f audit.Filter) error {
	// The first session may be yet to come.
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if _, err := printLog(audit.Follow(ctx, dir, f), logPrinter(c, c.App.Writer), c.App.ErrWriter); err != nil {
		return err
	}
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return &exitError{code: exitInterrupted}
	}
	return nil
}

// exitInterrupted is 128 and the number of SIGINT.
const exitInterrupted = 130

// printLog prints records until there are no more. Damage is told on warn, once
// for each file, and does not end it.
func printLog(records iter.Seq2[event.Entry, error], show func(*event.Entry) error, warn io.Writer) (n int, err error) {
	warned := map[string]bool{}
	for e, err := range records {
		var damage *event.Damage
		if errors.As(err, &damage) {
			if !warned[damage.File] {
				warned[damage.File] = true
				fmt.Fprintf(warn, "clawai: %v; see: clawai log verify\n", damage)
			}
			continue
		}
		if err != nil {
			return n, err
		}
		if err := show(&e); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func logPrinter(c *cli.Context, w io.Writer) func(*event.Entry) error {
	if c.Bool("json") {
		return func(e *event.Entry) error {
			_, err := w.Write(append(e.Raw, '\n'))
			return err
		}
	}
	p := linePrinter{w: w, color: wantsColor(c.App.Writer, os.Getenv)}
	p.home, _ = os.UserHomeDir() // without one, paths stand whole
	return p.print
}

func logFilter(c *cli.Context, now time.Time) (f audit.Filter, err error) {
	if f.Server, err = globFlag(c, "server"); err != nil {
		return f, err
	}
	if f.Tool, err = globFlag(c, "tool"); err != nil {
		return f, err
	}
	f.Decision = c.String("decision")
	switch f.Decision {
	case "", "allow", "deny", "prompt":
	default:
		return f, usagef("--decision: unknown decision %q (one of allow, deny, prompt)", f.Decision)
	}
	if s := c.String("since"); s != "" {
		if f.Since, err = parseSince(s, now); err != nil {
			return f, err
		}
	}
	for _, word := range c.StringSlice("kind") {
		kind, err := kindNamed(word)
		if err != nil {
			return f, err
		}
		f.Kinds = append(f.Kinds, kind)
	}
	f.Headers = c.Bool("json") // with them, what is printed can be verified line by line
	f.Session, f.Record, f.Last = c.String("session"), c.String("record"), c.Int("limit")
	if f.Last < 0 || c.IsSet("limit") && f.Last == 0 {
		return f, usagef("--limit: %d is no number of records", f.Last)
	}
	return f, nil
}

// kindNamed is the kind that a word of the command line names, or that a line
// prints: a line says of a decision and of an outcome how it went instead.
func kindNamed(word string) (event.Kind, error) {
	switch word {
	case "answer": // what lines once said
		return event.Answered, nil
	case "allow", "deny":
		return "", usagef("--kind: %s is how a decision is printed; those alone are shown by --decision %s", word, word)
	case "observed":
		return "", usagef("--kind: observed is how a decision is printed that nothing enforced; say --kind decision")
	case "done", "failed":
		return "", usagef("--kind: %s is how an outcome is printed; say --kind outcome", word)
	}
	if !event.IsKind(word) {
		return "", usagef("--kind: unknown kind %q (one of %s)", word, strings.Join(event.Kinds(), ", "))
	}
	return event.Kind(word), nil
}

// globFlag reads a flag whose value is a glob as in a policy; nil when unset.
func globFlag(c *cli.Context, name string) (func(string) bool, error) {
	if !c.IsSet(name) {
		return nil, nil
	}
	p, err := glob.Compile(c.String(name))
	if err != nil {
		return nil, usagef("--%s: %w", name, err)
	}
	return p.Match, nil
}

// parseSince reads an age or a time. Days are 24 hours; a date is local.
func parseSince(s string, now time.Time) (time.Time, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return now.Add(-time.Duration(n) * 24 * time.Hour), nil
		}
	}
	if age, err := time.ParseDuration(s); err == nil && age >= 0 {
		return now.Add(-age), nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly, time.DateTime} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usagef("--since: %q is neither an age (10m, 2h, 3d) nor a time (2026-01-31, 2026-01-31T09:00:00Z)", s)
}

// plainText is text of any origin, harmless on a terminal and on one line.
func plainText(s string) string { return term.Text(s) }
