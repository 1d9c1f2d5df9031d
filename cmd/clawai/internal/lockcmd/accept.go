package lockcmd

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/ask/choose"
	"github.com/clawai/clawai/internal/mcp/pin"
	"github.com/clawai/clawai/internal/session/pinning"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/term"
)

var yesFlag = &cli.BoolFlag{Name: "yes", Usage: "ask nothing"}

func trustCommand() *cli.Command {
	return &cli.Command{
		Name:        "trust",
		Usage:       "put the project's lock in force, as it is now: its servers can list nothing else",
		UsageText:   "clawai lock trust [--yes | --remove]",
		Description: "Shows what differs from the text that you trusted before. If the file changes, that counts\nonly when you trust it again. The lock holds servers for which a policy says pin = \"first\", \"ask\" or \"lock\".",
		Flags: []cli.Flag{
			yesFlag, &cli.BoolFlag{Name: "remove", Usage: "end the trust, whether the file is still there or not"},
			&cli.PathFlag{Name: "lock", Usage: "the lock's `FILE` (.clawai/tools.lock of the project)"},
		},
		Action: runTrust,
	}
}

func runTrust(c *cli.Context) error {
	if err := cmdline.NoArguments(c); err != nil {
		return err
	}
	folders, err := config.ReadFolders()
	if err != nil {
		return err
	}
	path, err := lockPath(c.Path("lock"))
	if err != nil {
		return err
	}
	dir, out := pinning.PinsDir(folders.State), cmdline.ProseWriter(c.App.Writer)
	if c.Bool("remove") {
		ended, err := config.DistrustText(dir, path)
		switch {
		case err != nil:
			return fmt.Errorf("nothing was changed: %w", err)
		case !ended:
			fmt.Fprintf(out, "%s was not trusted.\n", term.VisibleText(path))
		default:
			fmt.Fprintf(out, "%s is not trusted any more.\n", term.VisibleText(path))
		}
		return nil
	}
	now, text, err := readLock(path)
	if err != nil {
		return cmdline.Usagef("%w; nothing was trusted", err)
	}
	was := pin.Lock{}
	if old, err := config.TrustedText(dir, path); err != nil {
		return cmdline.Usagef("%w", err)
	} else if old != nil {
		if was, err = pin.ReadLock(old); err != nil {
			was = pin.Lock{}
		}
	}
	found := compareLocks(was, now)
	if err := tellDifferences(c, found, false); err != nil {
		return err
	}
	for i := range found {
		fmt.Fprintf(out, "%s: %s\n", term.VisibleLine(found[i].name), renderCounts(&found[i].is))
	}
	if err := cmdline.ConfirmAction(c, "Trust it?", "Nothing was trusted.", choose.HasTerminal(os.Stdin, os.Stdout)); err != nil {
		return err
	}
	if err := config.TrustProject(dir, path, text, time.Now()); err != nil {
		return fmt.Errorf("nothing was trusted: %w", err)
	}
	fmt.Fprintln(out, "Trusted, with this text: a change of the file counts when you trust it again.")
	return nil
}

func acceptCommand() *cli.Command {
	return &cli.Command{
		Name:        "accept",
		Usage:       "approve what a server listed last, for pin = \"first\" and \"ask\"",
		UsageText:   "clawai lock accept SERVER [--yes] [--accept NAME]...",
		Description: "Shows what differs from what was approved before. Running proxies take it over with the next\nlist. If the project has a lock that you trust, only the lock counts: write it with clawai lock.",
		Flags:       []cli.Flag{yesFlag, &cli.StringSliceFlag{Name: "accept", Usage: "take the entry `NAME` though it is refused: you have looked at it (repeatable)"}},
		Action:      runAccept,
	}
}

func runAccept(c *cli.Context) error {
	names, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	folders, err := config.ReadFolders()
	if err != nil {
		return err
	}
	store := pinning.NewStore(folders.State, "")
	if len(names) != 1 {
		return cmdline.Usagef("name one server; write: clawai lock accept SERVER")
	}
	st, err := store.LoadState(names[0])
	switch {
	case err != nil:
		return cmdline.Usagef("%w", err)
	case len(st.Sighted) == 0:
		return cmdline.Usagef("nobody has seen what %s lists; it is kept when a proxy with a pin for it has carried its lists", term.VisibleValue(names[0]))
	}
	found := []outcome{{name: names[0], is: st.Served, differences: pinning.UnseenDifferences(&st.Approved, &st.Served, nil)}}
	out := cmdline.ProseWriter(c.App.Writer)
	if len(found[0].differences) == 0 {
		fmt.Fprintf(out, "%s lists nothing that was not approved.\n", term.VisibleLine(names[0]))
		return nil
	}
	if err := tellDifferences(c, found, false); err != nil {
		return err
	}
	if err := cmdline.ConfirmAction(c, "Take it as approved?", "Nothing was approved.", choose.HasTerminal(os.Stdin, os.Stdout)); err != nil {
		return err
	}
	accepted, taken := c.StringSlice("accept"), 0
	all := slices.Clone(found[0].differences)
	for i := range all {
		if d := &all[i]; d.Class == pin.Refused && d.Name != "" && slices.Contains(accepted, d.Name) {
			d.Class = pin.Added
		}
	}
	err = store.ChangeState(names[0], func(now *pin.State) (bool, error) {
		// Only the changes that were shown are approved, because the list may have changed since
		// then.
		taken = pinning.ApproveDifferences(now, &st.Served, all)
		return taken > 0, nil
	})
	if err != nil {
		return fmt.Errorf("nothing was approved: %w", err)
	}
	fmt.Fprintf(out, "%s approved. A client that keeps lists sees it when it lists again.\n", cmdline.CountText(taken, "1 entry is", "%d entries are"))
	if refused := len(all) - taken; refused > 0 {
		return &cmdline.ExitError{Code: cmdline.ExitFailed, Err: fmt.Errorf("%s; one that you know is taken with --accept NAME", cmdline.CountText(refused, "1 entry is refused and stays out", "%d entries are refused and stay out"))}
	}
	return nil
}

var errUnseen = errors.New("nobody has seen what it lists; a proxy keeps that once its policy has a pin for the server")

// recordedServers returns the servers whose lists a proxy has seen, with these lists.
func recordedServers(c *cli.Context) ([]server, error) {
	folders, err := config.ReadFolders()
	if err != nil {
		return nil, err
	}
	if len(c.Args().Slice()) > 0 {
		return nil, cmdline.Usagef("--from-record starts nothing; leave the command out")
	}
	store := pinning.NewStore(folders.State, "")
	names := c.StringSlice("server")
	if len(names) == 0 {
		if names, err = store.ListServers(); err != nil {
			return nil, cmdline.Usagef("%w", err)
		}
	}
	if len(names) == 0 {
		return nil, cmdline.Usagef("no proxy has kept what a server lists; give a server a pin in your policy, or leave --from-record out")
	}
	starts := map[string]server{}
	if known, err := configuredServers(names); err == nil {
		starts = known
	}
	all := make([]server, 0, len(names))
	for _, name := range names {
		one := server{name: name, start: starts[name].start}
		st, err := store.LoadState(name)
		if one.err = err; err == nil {
			if len(st.Sighted) == 0 {
				one.err = errUnseen
			}
			one.seen = &st.Served
		}
		all = append(all, one)
	}
	return all, nil
}
