package wrapcmd

import (
	"bufio"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policycmd"
	"github.com/clawai/clawai/internal/ask/choose"
	"github.com/clawai/clawai/wrap"
)

// PolicyCommands returns the subcommands of "clawai policy" that read the clients' files.
func PolicyCommands() []*cli.Command {
	return []*cli.Command{policycmd.AddCommand(findServersFor), {
		Name:        "server",
		Usage:       "add rules for a server of your clients",
		UsageText:   "clawai policy server COMMAND [options]",
		Subcommands: []*cli.Command{addServerCommand()},
	}}
}

func addServerCommand() *cli.Command {
	return &cli.Command{
		Name:      "add",
		Usage:     "add the rules that clawai init would write for a server",
		UsageText: "clawai policy server add NAME [--mode MODE] [--ask-servers] [--yes]",
		Description: "NAME is a server as your clients' files call it. Shows the rules, where they go and\n" +
			"what they open, and asks. A server that clawai does not know is started once, if you\n" +
			"agree, to see what tools it has. To take it back: clawai policy undo",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "policy", Usage: "the policy `FILE` (default: yours)"},
			&cli.StringFlag{Name: "mode", Value: string(modeAsk), Usage: "the `MODE`: ask (you are asked about what no rule knows), strict (it is refused)"},
			&cli.BoolFlag{Name: "ask-servers", Usage: "start a server that clawai does not know, once, to see what tools it has"},
			&cli.BoolFlag{Name: "yes", Usage: "ask nothing"},
		},
		Action: runAddServer,
	}
}

// findServersFor returns the names of the clients' servers that a starter policy is about.
func findServersFor(profile string) (names []string, err error) {
	found, err := FindServers()
	if err != nil {
		return nil, err
	}
	for _, t := range wrap.SelectTargets(found.Places, wrap.Selection{}) {
		if known, err := recogniseServer(t.Entry); err != nil {
			return nil, err
		} else if profileOf(known) == profile && policycmd.CheckNameable(t.Entry.Name) == nil {
			names = append(names, t.Entry.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func runAddServer(c *cli.Context) error {
	args, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	mode := initMode(c.String("mode"))
	switch {
	case len(args) != 1:
		return cmdline.Usagef("policy server add needs one NAME; your servers are: clawai status")
	case mode != modeAsk && mode != modeStrict:
		return cmdline.UnknownWord("--mode", "mode", string(mode), []string{"ask", "strict"})
	}
	found, err := FindServers()
	if err != nil {
		return err
	}
	targets, err := targetsNamed(found, args[0])
	if err != nil {
		return err
	}
	r := &initRun{mode: mode, wrapRun: &wrapRun{
		c: c, out: c.App.Writer, prose: cmdline.ProseWriter(c.App.Writer), errs: cmdline.ProseWriter(c.App.ErrWriter), in: bufio.NewReader(os.Stdin), Found: found,
		terminal: !c.Bool("yes") && c.App.Writer == os.Stdout && choose.HasTerminal(os.Stdin, os.Stdout),
	}}
	told, err := r.askServers(targets)
	if err != nil {
		return err
	}
	if r.plan, err = planStarter(mode, targets, told, found.folders); err != nil {
		return err
	}
	a := r.plan.additionFor(args[0])
	a.Command = []string{"policy", "server", "add", args[0]}
	if c.IsSet("mode") {
		a.Command = append(a.Command, "--mode", string(mode))
	}
	if c.Bool("ask-servers") {
		a.Command = append(a.Command, "--ask-servers")
	}
	return policycmd.AddRules(c, a)
}

// targetsNamed returns the entries with this name in the clients' files. It skips entries of the
// hub.
func targetsNamed(found Found, name string) (targets []wrap.Target, err error) {
	var names []string
	for _, t := range wrap.SelectTargets(found.Places, wrap.Selection{}) {
		if t.Entry.Wrapped != nil && t.Entry.Wrapped.Hub {
			continue
		}
		if names = append(names, t.Entry.Name); t.Entry.Name == name {
			targets = append(targets, t)
		}
	}
	if len(targets) == 0 {
		slices.Sort(names)
		if names = slices.Compact(names); len(names) == 0 {
			return nil, cmdline.Usagef("no client's file has a server; see: clawai status")
		}
		return nil, cmdline.UnknownWord("policy server add", "server", name, names)
	}
	return targets, policycmd.CheckNameable(name)
}

// additionFor returns the rules of the plan for one server, as an addition to a policy.
func (p *starterPlan) additionFor(name string) policycmd.Addition {
	names, known := []string{name}, p.servers[name]
	a := policycmd.Addition{Profile: profileOf(known), Servers: names}
	switch {
	case a.Profile != "":
		a.Folders, a.Rules = p.folderSpellings(), p.furtherFolders(names)
	case known != nil:
		a.Rules = p.knownRules(known, names)
	case len(p.told[name]) > 0:
		a.Rules = p.toldRules(name)
	default:
		a.Rules = strings.Replace(p.unknownRules(names), "# Servers that clawai does not know\n", "# "+name+", which clawai does not know\n", 1)
	}
	return a
}
