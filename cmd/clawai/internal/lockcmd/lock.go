// Package lockcmd implements "clawai lock".
package lockcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/mcp/pin"
	"github.com/clawai/clawai/internal/session/pinning"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/text/term"
)

// Command returns "clawai lock".
func Command() *cli.Command {
	return &cli.Command{
		Name:      "lock",
		Usage:     "write down what servers list, and see when it changes",
		UsageText: "clawai lock [--check] [--server NAME]...\nclawai lock [--check] --server NAME -- COMMAND [ARGS...]",
		Description: "Starts each server of the project's configuration once, asks what tools, prompts and templates\n" +
			"it has, and writes that to .clawai/tools.lock, for people to review. --check compares and writes\n" +
			"nothing: exit 0 when nobody has to look, 1 when somebody has to, 2 when it could not be compared.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "check", Usage: "compare with the lock, and write nothing"},
			&cli.BoolFlag{Name: "from-record", Usage: "start nothing: take what proxies have seen of servers with a pin"},
			&cli.StringSliceFlag{Name: "server", Usage: "only the server `NAME`, from any client's file; with a command after --, the name of that server (repeatable)"},
			&cli.StringSliceFlag{Name: "accept", Usage: "write the entry `NAME` though it is refused: you have looked at it (repeatable)"},
			&cli.PathFlag{Name: "lock", Usage: "the lock's `FILE` (.clawai/tools.lock of the project)"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "with --check, the `FORM` of the report: " + strings.Join(check.FormatNames(false), ", ")},
			&cli.BoolFlag{Name: "json", Usage: "the same as --format json"},
		},
		Action:      runLock,
		Subcommands: []*cli.Command{diffCommand(), trustCommand(), acceptCommand()},
	}
}

func runLock(c *cli.Context) error {
	format, err := formatOf(c)
	if err != nil {
		return err
	}
	path, err := lockPath(c.Path("lock"))
	if err != nil {
		return err
	}
	was, old, err := readLock(path)
	absent := errors.Is(err, fs.ErrNotExist)
	switch {
	case absent && c.Bool("check"):
		return cmdline.Usagef("%w", err)
	case err != nil && !absent:
		return cmdline.Usagef("%w; nothing was written", err)
	}
	servers, err := selectServers(c)
	if err != nil {
		return err
	}
	done := cmdline.ShowProgress("Asking the servers what they have")
	found := askAll(c.Context, servers, was)
	done()
	if c.Bool("check") {
		if len(c.StringSlice("server")) == 0 {
			found = append(found, unknownServers(was, servers)...)
		}
		if err := showOutcomes(c, format, path, found); err != nil {
			return err
		}
		return worstExitError(found)
	}
	return writeLock(c, path, was, old, found)
}

// lockPath returns the path of the lock file. If the parameter given is not "", lockPath returns
// this path unchanged. Otherwise the file is next to the project's policy, in the folder .clawai.
func lockPath(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return pinning.LockFile(here), nil
}

// maxLock is the maximum size of a lock file, in bytes.
const maxLock = 64 << 20

// noLock is the error for a missing lock file. Its text says how to create the file.
type noLock struct{ path string }

func (e noLock) Error() string {
	return "there is no lock at " + term.VisibleText(e.path) + "; write it with: clawai lock"
}

func (noLock) Unwrap() error { return fs.ErrNotExist }

func readLock(path string) (pin.Lock, []byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return pin.Lock{}, nil, noLock{path}
	case err != nil:
		return nil, nil, fmt.Errorf("%s cannot be read: %w", term.VisibleText(path), check.WithoutPath(err))
	case !info.Mode().IsRegular() || info.Size() > maxLock:
		return nil, nil, fmt.Errorf("%s is not a lock: it is not a file, or too large for one", term.VisibleText(path))
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s cannot be read: %w", term.VisibleText(path), check.WithoutPath(err))
	}
	l, err := pin.ReadLock(src)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %s", term.VisibleText(path), term.VisibleText(err.Error()))
	}
	return l, src, nil
}

// state is the result of the comparison of one server with the lock.
type state string

const (
	same    state = "same"    // a person does not need to look
	drift   state = "drift"   // a person must look
	missing state = "missing" // only one of the two sides has the server or one of its entries
	failed  state = "failed"  // the server did not return its lists
)

// outcome is the result of the comparison for one server.
type outcome struct {
	name        string
	state       state
	why         string // the reason if state is missing or failed
	is          pin.SelfDescription
	differences []pin.Difference
}

// askAll asks the servers for their lists in sequence, because their programs may use the same
// files.
func askAll(ctx context.Context, servers []server, was pin.Lock) (all []outcome) {
	others := maps.Clone(was) // starts with the lock; the lists of each server that was asked are added
	for _, s := range servers {
		o := outcome{name: s.name}
		is, err := s.listServer(ctx)
		_, known := was[s.name]
		if err != nil {
			o.state, o.why = failed, err.Error()
			all = append(all, o)
			continue
		}
		o.is, o.differences = is, others.CompareServer(s.name, &is)
		others[s.name] = is
		if o = weighOutcome(o); !known {
			o.state, o.why = missing, "the lock does not have it; write it with: clawai lock"
		}
		all = append(all, o)
	}
	return all
}

// weighOutcome sets the state of an outcome from its differences.
func weighOutcome(o outcome) outcome {
	o.state = same
	for _, d := range o.differences {
		switch {
		case d.Class == pin.Removed:
			o.state, o.why = missing, "an entry of the lock is not listed any more"
		case d.Class.NeedsApproval() && o.state == same:
			o.state = drift
		}
	}
	return o
}

// unknownServers returns an outcome for each server of the lock that is not in servers.
func unknownServers(was pin.Lock, servers []server) (all []outcome) {
	for _, name := range sortedNames(was) {
		if !slices.ContainsFunc(servers, func(s server) bool { return s.name == name }) {
			all = append(all, outcome{name: name, state: missing, why: "the project's configuration does not have it; take its block out of the lock, or name it: clawai lock --check --server NAME -- COMMAND"})
		}
	}
	return all
}

// worstExitError returns an error with the exit code of the worst outcome, or nil.
func worstExitError(found []outcome) error {
	code := cmdline.ExitOK
	for _, o := range found {
		switch o.state {
		case missing, failed:
			code = cmdline.ExitUsage
		case drift:
			code = max(code, cmdline.ExitFailed)
		}
	}
	if code == cmdline.ExitOK {
		return nil
	}
	return &cmdline.ExitError{Code: code}
}

// writeLock writes the servers' lists into the lock file. If one server did not return its lists,
// writeLock changes nothing.
func writeLock(c *cli.Context, path string, was pin.Lock, old []byte, found []outcome) error {
	for _, o := range found {
		if o.state == failed {
			return cmdline.Usagef("%s: %s; nothing was written", term.VisibleLine(o.name), term.VisibleText(o.why))
		}
	}
	refused := 0
	for i := range found {
		o := &found[i]
		before, known := was[o.name]
		if !known { // the entries of a new server are not printed, because they are in the lock
			o.differences = slices.DeleteFunc(o.differences, func(d pin.Difference) bool { return d.Class != pin.Refused })
		}
		refused += revertRefused(&o.is, &before, o.differences, c.StringSlice("accept"))
		was[o.name] = o.is
	}
	if err := tellDifferences(c, found, false); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := atomicfile.Write(path, was.Text(), atomicfile.Options{Mode: 0o644, Old: old}); err != nil {
		return err
	}
	out := cmdline.ProseWriter(c.App.Writer)
	for _, o := range found {
		fmt.Fprintf(out, "%s: %s\n", term.VisibleLine(o.name), renderCounts(&o.is))
	}
	fmt.Fprintf(out, "Written to %s. Look at it as at code, before it is shared.\n", term.VisibleText(path))
	if refused > 0 {
		return &cmdline.ExitError{Code: cmdline.ExitFailed, Err: fmt.Errorf("%s left as before, or left out; one that you know is written with --accept NAME", cmdline.CountText(refused, "1 entry was refused:", "%d entries were refused:"))}
	}
	return nil
}

// revertRefused undoes the refused changes of a server, except those that the owner accepted by
// name. refused is the number of undone changes.
func revertRefused(is, before *pin.SelfDescription, differences []pin.Difference, accepted []string) (refused int) {
	for _, d := range differences {
		if d.Class != pin.Refused || d.Name != "" && slices.Contains(accepted, d.Name) {
			continue
		}
		refused++
		if d.Kind == pin.Itself {
			is.Instructions = before.Instructions
			continue
		}
		is.RemoveEntry(d.Kind, d.Name)
		if e, had := before.FindEntry(d.Kind, d.Name); had {
			_ = is.Add(e) // cannot fail, because the name is free
		}
	}
	return refused
}
