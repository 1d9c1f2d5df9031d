// Package sandboxcmd implements "clawai sandbox".
package sandboxcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policycmd"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/cmd/clawai/internal/wrapcmd"
	"github.com/clawai/clawai/internal/check/propose"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/installed"
	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/wrap/client"
)

// Command returns "clawai sandbox".
func Command() *cli.Command {
	const command = " [-- COMMAND [ARGS...]]"
	return &cli.Command{
		Name:      "sandbox",
		Usage:     "make a sandbox for a server, and find out what it needs",
		UsageText: "clawai sandbox propose|try|open|install|update",
		Subcommands: []*cli.Command{
			{
				Name: "propose", Usage: "print a table for a server's sandbox, with the reason behind each line",
				UsageText: "clawai sandbox propose NAME [--launcher] [--write [--yes]]" + command,
				Description: "The table is made of the rules that let the server be asked, of its command, of the\n" +
					"variables in its client's entry, and of the catalogue. Nothing is started.",
				Flags: append(policycmd.SandboxFlags(),
					&cli.BoolFlag{Name: "launcher", Usage: "open the cache and the registry of npx, for a server that cannot be installed"},
					&cli.BoolFlag{Name: "write", Usage: "put it into the policy: you see it and are asked"}), Action: runPropose,
			},
			{
				Name: "try", Usage: "start a server without and in its sandbox, and say what it needs beside",
				UsageText: "clawai sandbox try NAME [--yes]" + command,
				Description: "Without a table in the policy, the proposed one is tried. What the server touches is seen where\n" +
					"strace is installed; what it lists, and the hosts that it is refused, are seen in any case.",
				Flags: policycmd.SandboxFlags(), Action: runTry,
			},
			{
				Name: "open", Usage: "open more in the table of a server's sandbox",
				UsageText:   "clawai sandbox open NAME [--read PLACE | --write PLACE | --net HOST | --env VARIABLE]... [--yes]",
				Description: "You see the change and are asked. To take it back: clawai policy undo",
				Flags: append(policycmd.SandboxFlags(),
					&cli.StringSliceFlag{Name: "read", Usage: "let it read the `PLACE` (repeatable)"},
					&cli.StringSliceFlag{Name: "write", Usage: "let it read and write the `PLACE` (repeatable)"},
					&cli.StringSliceFlag{Name: "net", Usage: "let it reach the `HOST` (repeatable)"},
					&cli.StringSliceFlag{Name: "env", Usage: "give it the `VARIABLE` (repeatable)"}),
				Action: runOpen,
			},
			{
				Name: "install", Usage: "install the server that npx downloads, and start it from there",
				UsageText: "clawai sandbox install NAME [--version VERSION] [--net HOST]... [--yes]" + command + "\nclawai sandbox install NAME --remove",
				Description: "npm installs the package into a folder of clawai's own, in a sandbox, and runs no script of it.\n" +
					"From then on the server starts from there, without npx. Its client's entry stays as it is.",
				Flags:  append(installFlags(), &cli.BoolFlag{Name: "remove", Usage: "take the installation away: the server starts again as its entry says"}),
				Action: runInstall,
			},
			{
				Name: "update", Usage: "install a newer version, and show what the server would list",
				UsageText:   "clawai sandbox update NAME [--version VERSION] [--net HOST]... [--yes]" + command,
				Description: "The newer version is installed beside the older one and started once, in its sandbox. You see\nwhat it lists that was not listed before, and are asked. After a no, everything is as it was.",
				Flags:       installFlags(), Action: runUpdate,
			},
		},
	}
}

// keys are the keys of a sandbox's table. The command can extend the lists of these keys.
var keys = []string{"read", "write", "net", "env"}

func runOpen(c *cli.Context) error {
	names, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	if len(names) != 1 {
		return cmdline.Usagef("which server? write: %s", c.Command.UsageText)
	}
	var openings []policycmd.Opening
	for _, key := range keys {
		for _, value := range c.StringSlice(key) {
			openings = append(openings, policycmd.Opening{Key: key, Value: value})
		}
	}
	if len(openings) == 0 {
		return cmdline.Usagef("open what? write: %s", c.Command.UsageText)
	}
	return policycmd.WriteSandbox(c, names[0], "", openings, openCommand(names[0], openings))
}

// openCommand returns the command line that adds the openings, as words after clawai.
func openCommand(server string, openings []policycmd.Opening) []string {
	words := []string{"sandbox", "open", server}
	for _, o := range openings {
		words = append(words, "--"+o.Key, o.Value)
	}
	return words
}

// target is the server that the command line names, with the known facts about the server.
type target struct {
	name    string
	command []string // the command in the client's file
	started []string // the command that clawai starts: the command of the installation, or else the one in the client's file
	program string   // folder of the installation; "" if the server is not installed
	env     []string // nil for the environment of this process
	// sandbox is the client's own sandbox in its entry, in the form of clienttable.Read. It is
	// empty if there is none.
	sandbox []string
	table   *propose.Table
	folders config.Folders
	loaded  *config.Loaded
}

// findTarget reads the command line and the policy. If the command line does not contain the
// server's command, it also reads the clients' files.
func findTarget(c *cli.Context) (*target, error) {
	words, err := cmdline.ParseArguments(c)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, cmdline.Usagef("which server? write: %s", c.Command.UsageText)
	}
	t := &target{name: words[0], command: words[1:]}
	if t.folders, err = config.ReadFolders(); err != nil {
		return nil, err
	}
	if t.loaded, err = policyfile.LoadHere(t.folders); err != nil {
		return nil, cmdline.Usagef("%w", err)
	}
	var entry []client.Variable
	if len(t.command) == 0 {
		e, err := findEntry(t.name, c.Command.Name)
		if err != nil {
			return nil, err
		}
		entry, t.sandbox = e.Env, e.Sandbox
		t.command, t.env = wrapcmd.LaunchCommand(e)
	}
	t.started = t.command
	known, err := servers.RecogniseServer(t.command[0], t.command[1:], "")
	if err != nil {
		return nil, err
	}
	s := propose.Server{Name: t.name, Command: t.command, Known: known, Home: t.folders.Home, Launcher: t.findInstalled(), Look: func(path string) (there, folder bool) {
		info, err := os.Stat(path)
		return err == nil, err == nil && info.IsDir()
	}}
	for _, v := range entry {
		s.Env = append(s.Env, propose.Variable{Name: v.Name, Value: v.Value})
	}
	t.table = propose.NewTable(t.loaded.Policy, s)
	return t, nil
}

// findInstalled sets the fields started and program if the server is installed. Otherwise it
// returns the launcher that downloads the server, or "" if there is none.
func (t *target) findInstalled() (launcher string) {
	store := installed.NewStore(t.folders.State)
	m, err := policyfile.FindInstalled(store, t.name, t.command)
	if err != nil || m == nil {
		if servers.DownloadsItself(t.command[0]) {
			return filepath.Base(t.command[0])
		}
		return ""
	}
	d, _ := servers.ParseDownload(t.command)
	t.started, t.program = store.Command(m, d.Args), store.Folder(m)
	return ""
}

// findEntry returns the entry with this name in the clients' files. It returns an error if there is
// no such entry or if there are several. command is the name of the subcommand, for the errors.
func findEntry(name, command string) (found client.Entry, err error) {
	f, err := wrapcmd.FindServers()
	if err != nil {
		return found, err
	}
	var all []client.Entry
	for i := range f.Places {
		for _, e := range f.Places[i].Entries {
			if e.Name == name {
				all = append(all, e)
			}
		}
	}
	shown := term.VisibleText(cmdline.Quote([]string{name}))
	switch {
	case len(all) == 0:
		return found, cmdline.Usagef("no client has a server %s (see: clawai status); or give its command: clawai sandbox %s %s -- COMMAND", shown, command, shown)
	case slices.ContainsFunc(all, func(e client.Entry) bool { return e.Kind != client.Stdio || e.Unclear }):
		return found, cmdline.Usagef("%s is not started by a command, or how it is started cannot be told; see: clawai status", shown)
	case slices.ContainsFunc(all, func(e client.Entry) bool {
		return e.Command != all[0].Command || !slices.Equal(e.Args, all[0].Args) || !slices.Equal(e.Env, all[0].Env) || !slices.Equal(e.Sandbox, all[0].Sandbox)
	}):
		return found, cmdline.Usagef("two files start %s in two ways; give one: clawai sandbox %s %s -- COMMAND", shown, command, shown)
	}
	return all[0], nil
}

func runPropose(c *cli.Context) error {
	t, err := findTarget(c)
	if err != nil {
		return err
	}
	if c.Bool("launcher") {
		if err := t.openLauncher(c.Context); err != nil {
			return err
		}
	}
	if c.Bool("write") {
		words := []string{"sandbox", "propose", t.name, "--write"}
		if c.Bool("launcher") {
			words = append(words, "--launcher")
		}
		words = append(words, t.commandWords(c)...)
		return policycmd.WriteSandbox(c, t.name, t.table.Text(), nil, words)
	}
	if _, err := t.planCage(true); err != nil {
		defer fmt.Fprintf(cmdline.ProseWriter(c.App.ErrWriter), "clawai: it would not be carried out here: %v\n", err)
	}
	_, err = fmt.Fprint(cmdline.ProseWriter(c.App.Writer), t.table.Text())
	return err
}

// openLauncher adds the openings that npx needs to the proposed table. For another launcher it
// returns an error, because the needs of other launchers were never tested.
func (t *target) openLauncher(ctx context.Context) error {
	if filepath.Base(t.command[0]) != "npx" {
		return cmdline.Usagef("--launcher is about npx; %s is started by %s", term.VisibleText(t.name), term.VisibleValue(t.command[0]))
	}
	d, _ := servers.ParseDownload(t.command)
	dir, err := os.MkdirTemp("", "clawai-npm") // for files that npm writes for itself
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	npm := npmRun{dir: dir}
	hosts, err := npm.findRegistries(ctx, d.Package)
	if err != nil {
		return err
	}
	t.table.OpenLauncher(hosts)
	return nil
}

// commandWords returns the server's command if it was on this command line. A printed command must
// repeat these words.
func (t *target) commandWords(c *cli.Context) []string {
	if words, err := cmdline.ParseArguments(c); err == nil && len(words) > 1 {
		return append([]string{"--"}, words[1:]...)
	}
	return nil
}

var (
	errNoTable = errors.New("the policy has no table for it")
	errOff     = errors.New(`its table in the policy has level = "off", so there is no sandbox to start it in; write level = "enforce" or "try" there`)
)

// isSwitchedOff reports whether the policy has a table for the server that switches its sandbox
// off.
func (t *target) isSwitchedOff() bool {
	return len(t.sandbox) == 0 && len(t.loaded.Policy.Cages(t.name)) > 0 && t.loaded.Policy.CageLevel(t.name) <= policy.CageOff
}
