// Package vaultcmd implements "clawai vault".
package vaultcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/vaultplace"
	"github.com/clawai/clawai/internal/state/vault"
	"github.com/clawai/clawai/internal/text/redact"
)

// Command returns "clawai vault".
func Command() *cli.Command {
	return &cli.Command{
		Name:      "vault",
		Usage:     "keep secrets out of clients' files",
		UsageText: "clawai vault set|list|rm|check|bind|move",
		Subcommands: []*cli.Command{
			{
				Name: "set", Usage: "store a value, typed unseen at the terminal or read from stdin", UsageText: "clawai vault set NAME [options]",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "store", Usage: "where a new vault is kept: `keychain` or file"},
					&cli.StringFlag{Name: "max-age", Usage: "how old the value may grow before it is refused: `AGE` such as 90d or 12h; 0 for ever", DefaultText: "as it was"},
					&cli.BoolFlag{Name: "reveal", Usage: "let agents read it by clawai serve, where a rule allows that; --reveal=false takes it back (default: as it was)"},
				},
				Action: runSet,
			},
			{
				Name: "list", Usage: "show the entries: names, ages and which servers may have them, never values", UsageText: "clawai vault list [--json]",
				Flags: []cli.Flag{jsonFlag()}, Action: runList,
			},
			{Name: "rm", Aliases: []string{"remove"}, Usage: "forget entries", UsageText: "clawai vault rm NAME...", Action: runRemove},
			{
				Name: "check", Usage: "say for each entry whether a server would get it", UsageText: "clawai vault check [NAME...] [--json]",
				Flags: []cli.Flag{jsonFlag()}, Action: runCheck,
			},
			{
				Name: "bind", Usage: "let a server have an entry", UsageText: "clawai vault bind NAME --server SERVER -- COMMAND [ARGUMENTS...]\nclawai vault bind NAME --server SERVER -- https://HOST/PATH",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "server", Usage: "the server's `NAME` in rules"},
					&cli.StringFlag{Name: "folder", Usage: "the `FOLDER` in which it is started, if its words mean something else in another one", DefaultText: "this one"},
					&cli.BoolFlag{Name: "only", Usage: "only as this command starts it: forget the server's other bindings"},
				},
				Action: runBind,
			},
			{Name: "move", Usage: "move the vault to the keychain, or to a file", UsageText: "clawai vault move keychain|file", Action: runMove},
		},
	}
}

func jsonFlag() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "print one JSON document"} }

// oneName returns the only name on the command line, if it is valid for an entry.
func oneName(c *cli.Context, names []string) (string, error) {
	if len(names) != 1 {
		return "", cmdline.Usagef("which entry? write: %s", c.Command.UsageText)
	}
	if err := vault.CheckName(names[0]); err != nil {
		return "", cmdline.Usagef("%w", err)
	}
	return names[0], nil
}

func runSet(c *cli.Context) error {
	names, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	if len(names) > 1 {
		return cmdline.Usagef("a value is typed or read from stdin; on the command line every process can read it")
	}
	name, err := oneName(c, names)
	if err != nil {
		return err
	}
	age, given, err := maxAge(c)
	if err != nil {
		return err
	}
	store, err := openChosenStore(c)
	if err != nil {
		return err
	}
	value, err := readValue(c, name)
	if err != nil {
		return err
	}
	var servers []string
	err = store.Change(name, func(e *vault.Entry) error {
		e.Value, e.Moved = value, false // the owner has set the value, so the entry must not be removed together with its last origin
		e.Set = time.Now().UTC().Truncate(time.Second)
		if given {
			e.MaxAge = age
		}
		if c.IsSet("reveal") {
			e.Reveal = c.Bool("reveal")
		}
		servers = serversOf(*e)
		return nil
	})
	if err != nil {
		return notDone(err)
	}
	out := cmdline.ProseWriter(c.App.Writer)
	fmt.Fprintf(out, "%s is kept in %s.\n", name, store.Kind())
	if len(value) < redact.Shortest {
		fmt.Fprintf(out, "It is shorter than %d bytes, and not told from other text: the record will not know it.\n", redact.Shortest)
	}
	if len(servers) == 0 {
		fmt.Fprintf(out, "Write %s where the value stood, and say which server may have it:\n  clawai vault bind %s --server SERVER -- COMMAND\n", vault.MakeReference(name), name)
		return nil
	}
	fmt.Fprintf(out, "Servers that run keep the value they were started with; start again: %s.\n", strings.Join(servers, ", "))
	return nil
}

func notDone(err error) error { return fmt.Errorf("nothing was changed: %w", err) }

func serversOf(e vault.Entry) (servers []string) {
	for _, b := range e.Bindings {
		servers = append(servers, b.Server)
	}
	slices.Sort(servers)
	return slices.Compact(servers)
}

func openChosenStore(c *cli.Context) (vault.Store, error) {
	place, err := vaultplace.LocateVault()
	if err != nil {
		return nil, err
	}
	if !c.IsSet("store") {
		return place.Open()
	}
	kind, err := vault.ParseKind(c.String("store"))
	if err != nil {
		return nil, cmdline.Usagef("--store: %w", err)
	}
	return place.ChooseStore(kind)
}

// maxAge parses --max-age: a number of days such as 90d, or a Go duration. given is false without
// this flag.
func maxAge(c *cli.Context) (age time.Duration, given bool, err error) {
	text := c.String("max-age")
	if !c.IsSet("max-age") {
		return 0, false, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err == nil {
			return time.Duration(n) * 24 * time.Hour, true, nil
		}
	}
	if age, err = time.ParseDuration(text); err != nil || age < 0 {
		return 0, false, cmdline.Usagef("--max-age: %q is not a time; write 90d or 12h", text)
	}
	return age, true, nil
}

func runRemove(c *cli.Context) error {
	names, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return cmdline.Usagef("which entry? write: %s", c.Command.UsageText)
	}
	store, err := vaultplace.Open()
	if err != nil {
		return err
	}
	known, err := store.Names()
	if err != nil {
		return err
	}
	for _, name := range names { // all names are checked before the first entry is deleted
		if !slices.Contains(known, name) {
			return notDone(fmt.Errorf("the vault has no entry %q; see: clawai vault list", name))
		}
	}
	for _, name := range names {
		if err := store.Delete(name); err != nil && !errors.Is(err, vault.ErrNone) {
			return fmt.Errorf("%s is still there: %w", name, err)
		}
		fmt.Fprintf(cmdline.ProseWriter(c.App.Writer), "%s is gone. A server with %s in its environment no longer starts.\n", name, vault.MakeReference(name))
	}
	return nil
}

func runBind(c *cli.Context) error {
	words, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	at := slices.Index(os.Args, "--")
	if at < 0 || at == len(os.Args)-1 {
		return cmdline.Usagef("which command starts the server? write: clawai vault bind NAME --server SERVER -- COMMAND [ARGUMENTS...]")
	}
	started := os.Args[at+1:]
	name, err := oneName(c, words[:len(words)-len(started)])
	if err != nil {
		return err
	}
	command, server, only := vaultplace.BoundCommand(started), c.String("server"), c.Bool("only")
	if server == "" {
		return cmdline.Usagef("which server? write: clawai vault bind %s --server SERVER -- COMMAND", name)
	}
	dir, err := filepath.Abs(c.String("folder")) // "" gives the current folder
	if err != nil {
		return cmdline.Usagef("--folder: %w", err)
	}
	requester := vault.Requester{Name: server, Command: command, Dir: dir, Own: os.Environ()}
	store, err := vaultplace.Open()
	if err != nil {
		return err
	}
	err = store.Change(name, func(e *vault.Entry) error {
		if len(e.Value) == 0 {
			return fmt.Errorf("the vault has no entry %q; set it first: clawai vault set %[1]s", name)
		}
		if only {
			e.Bindings = slices.DeleteFunc(e.Bindings, func(b vault.Binding) bool { return b.Server == server })
		}
		e.BindServer(requester)
		e.Moved = false
		return nil
	})
	if err != nil {
		return notDone(err)
	}
	where := ""
	if requester.ReadsFolder() {
		where = fmt.Sprintf(" in %q", dir)
	}
	fmt.Fprintf(cmdline.ProseWriter(c.App.Writer), "The server %q may have %s as %q starts it%s.\n", server, name, command[0], where)
	return nil
}

func runMove(c *cli.Context) error {
	names, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	if len(names) != 1 {
		return cmdline.Usagef("where to? write: %s", c.Command.UsageText)
	}
	kind, err := vault.ParseKind(names[0])
	if err != nil {
		return cmdline.Usagef("%w", err)
	}
	place, err := vaultplace.LocateVault()
	if err != nil {
		return err
	}
	moved, err := place.MoveEntries(kind)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmdline.ProseWriter(c.App.Writer), "The vault is in %s now, with %s.\n", kind, cmdline.CountText(moved, "1 entry", "%d entries"))
	return nil
}
