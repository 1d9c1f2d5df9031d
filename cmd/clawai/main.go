// Command clawai stands between an AI agent and the agent's MCP servers. It lets through only the
// calls that its owner's rules allow.
//
// This package has the table of commands, the help and the completion. Each group of commands is a
// package below internal. A command turns flags into options of other packages, and their results
// into an exit code. The packages of commands decide nothing about calls.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"slices"
	"syscall"
	_ "time/tzdata" // rules with time zones need this package if the system has no table of time zones

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/approvecmd"
	"github.com/clawai/clawai/cmd/clawai/internal/attackcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/authcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/democmd"
	"github.com/clawai/clawai/cmd/clawai/internal/doctorcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/enrollcmd"
	_ "github.com/clawai/clawai/cmd/clawai/internal/firststack" // the first package of ours to initialise
	"github.com/clawai/clawai/cmd/clawai/internal/gatewaycmd"
	"github.com/clawai/clawai/cmd/clawai/internal/hookcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/lockcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/logcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/modelcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/policycmd"
	"github.com/clawai/clawai/cmd/clawai/internal/previewcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/proxycmd"
	"github.com/clawai/clawai/cmd/clawai/internal/sandboxcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/scancmd"
	"github.com/clawai/clawai/cmd/clawai/internal/vaultcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/wrapcmd"
	"github.com/clawai/clawai/internal/cage"
	"github.com/clawai/clawai/internal/cage/preview/layer"
)

func main() {
	os.Exit(runClawai(os.Args, os.Stdout, os.Stderr))
}

// runClawai does the work of main and returns the exit code.
func runClawai(args []string, stdout, stderr io.Writer) int {
	// This process runs in its own namespaces, so its capabilities are harmless.
	if len(args) > 1 && args[1] == cage.HelperArgument {
		return layer.RunHelper("clawai", args[2:])
	}
	if err := checkPowers(); err != nil && !isHarmless(args) {
		fmt.Fprintf(stderr, "clawai: %v\n", err)
		if len(args) > 1 && args[1] == "hook" {
			return cmdline.ExitUsage // clients treat this exit code as a denial
		}
		return proxycmd.ExitProxy
	}
	// net/http logs unexpected data of servers. A person at the terminal must not read such data.
	log.SetOutput(io.Discard)
	err := newApp(stdout, stderr, commandsFor(args)).Run(args)
	if err == nil {
		return cmdline.ExitOK
	}
	var exit *cmdline.ExitError
	if !errors.As(err, &exit) {
		exit = &cmdline.ExitError{Code: cmdline.ExitFailed, Err: err}
	}
	if exit.Err != nil {
		fmt.Fprintf(cmdline.ProseWriter(stderr), "clawai: %v%s\n", exit.Err, adviseSharing(exit.Err))
	}
	return exit.Code
}

// adviseSharing returns advice for ERROR_SHARING_VIOLATION, an error of Windows: another program
// keeps the file open.
func adviseSharing(err error) string {
	if runtime.GOOS == "windows" && errors.Is(err, syscall.Errno(32)) {
		return "; another program has it open: close it there and try again"
	}
	return ""
}

// isHarmless reports whether a command line only prints help or the version.
func isHarmless(args []string) bool {
	return len(args) == 2 && (args[1] == "--version" || args[1] == "--help" || args[1] == "-h")
}

func newApp(stdout, stderr io.Writer, commands []*cli.Command) *cli.App {
	// There is no -v, because some users expect "verbose" and others "version".
	cli.VersionFlag = &cli.BoolFlag{Name: "version", Usage: "print the version"}
	cli.FlagStringer = describeFlag
	cli.HelpPrinter = printHelp
	app := &cli.App{
		Name:      "clawai",
		Usage:     "let an AI agent use MCP servers only as your rules allow",
		Version:   cmdline.BuildInfo(),
		Writer:    stdout,
		ErrWriter: stderr,
		UsageText: "clawai COMMAND [options]",
		// Our own help command hides hidden commands, and exits with 2 after an error.
		HideHelpCommand: true,
		// The library adds the help flag only together with its own help command.
		Flags:                     []cli.Flag{cmdline.ColorFlag(), cli.HelpFlag},
		DisableSliceFlagSeparator: true,
		Commands:                  commands,
		CustomAppHelpTemplate:     shortHelp,
		OnUsageError:              onUsageError,
		CommandNotFound:           nil,
		// The handler does nothing, because runClawai returns the exit code. An exit inside a
		// command would skip deferred work, such as the last entry of the record.
		ExitErrHandler: func(*cli.Context, error) {},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return unknownCommand(c, c.Args().First())
			}
			shown, note, err := approvecmd.ShowOverview(c)
			if shown || err != nil {
				return err
			}
			if err := cli.ShowAppHelp(c); err != nil || note == "" {
				return err
			}
			_, err = fmt.Fprintln(cmdline.ProseWriter(stdout), "\n"+note)
			return err
		},
	}
	hardenCommands(app.Commands)
	sortIntoGroups(app.Commands)
	return app
}

// commandsFor returns the commands that a command line can name. For a command that a client waits
// for, it returns only this command, because a proxy would need 0.2 ms to make all commands.
func commandsFor(args []string) []*cli.Command {
	if len(args) > 1 {
		switch args[1] {
		case "proxy":
			return []*cli.Command{proxycmd.Command()}
		case "hub":
			return []*cli.Command{proxycmd.HubCommand()}
		case "hook":
			return []*cli.Command{hookcmd.Command()}
		}
	}
	return listCommands()
}

// listCommands returns all commands in the order of the help text.
func listCommands() []*cli.Command {
	return []*cli.Command{
		wrapcmd.InitCommand(),
		wrapcmd.ProtectCommand(),
		wrapcmd.WrapCommand(),
		wrapcmd.UnwrapCommand(),
		wrapcmd.StatusCommand(),
		proxycmd.Command(),
		proxycmd.HubCommand(),
		proxycmd.ServeCommand(),
		hookcmd.Command(),
		modelcmd.Command(),
		policycmd.Command(wrapcmd.PolicyCommands()...),
		approvecmd.Command(),
		approvecmd.DecideCommand(),
		approvecmd.ReleaseCommand(),
		approvecmd.DashboardCommand(),
		logcmd.Command(),
		previewcmd.Command(),
		scancmd.Command(),
		attackcmd.Command(),
		lockcmd.Command(),
		authcmd.Command(),
		vaultcmd.Command(),
		sandboxcmd.Command(),
		enrollcmd.Command(),
		enrollcmd.UnenrollCommand(),
		gatewaycmd.Command(),
		doctorcmd.Command(),
		democmd.Command(),
		democmd.ServerCommand(),
		completionCommand(),
		completeCommand(),
		helpCommand(),
	}
}

// hardenCommands adds --color to every command except the proxy and the hub, because these two
// print nothing. It also makes all commands strict in the same way: errors in the command line go
// to stderr with exit code 2, "help" is never an argument, and a group without a subcommand is an
// error.
func hardenCommands(cmds []*cli.Command) {
	for _, c := range cmds {
		c.OnUsageError, c.Before = onUsageError, cmdline.CheckValues
		c.HideHelpCommand = true
		if !c.Hidden && !c.SkipFlagParsing && c.Name != "proxy" && c.Name != "hub" {
			c.Flags = append(slices.Clone(c.Flags), cmdline.ColorFlag())
		}
		hardenCommands(c.Subcommands)
		if len(c.Subcommands) > 0 && c.Action == nil {
			c.Action = func(ctx *cli.Context) error {
				switch name := ctx.Args().First(); name {
				case "":
				case "help":
					return showHelp(ctx, append([]string{ctx.Command.Name}, ctx.Args().Tail()...))
				default:
					return unknownCommand(ctx, name)
				}
				return cmdline.Usagef("%s needs a command; see: clawai %s --help", ctx.Command.Name, ctx.Command.Name)
			}
		}
	}
}
