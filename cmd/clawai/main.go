// Command clawai stands between an AI agent and the MCP servers it uses, and
// lets nothing through that its owner's rules do not allow.
//
// Here are the table of commands, help and completion; each group of commands is a
// package below internal. A command turns flags into a room's options and the room's
// answer into an exit code. No rule of the product lives in these packages.
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
	_ "time/tzdata" // a zone of a rule must mean the same where the system has no table of zones

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/approvecmd"
	"github.com/clawai/clawai/cmd/clawai/internal/attackcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/authcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/democmd"
	"github.com/clawai/clawai/cmd/clawai/internal/doctorcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/hookcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/lockcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/logcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/policycmd"
	"github.com/clawai/clawai/cmd/clawai/internal/proxycmd"
	"github.com/clawai/clawai/cmd/clawai/internal/scancmd"
	"github.com/clawai/clawai/cmd/clawai/internal/vaultcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/wrapcmd"
)

func main() {
	os.Exit(runClawai(os.Args, os.Stdout, os.Stderr))
}

// runClawai gives main without the process: it returns the exit code.
func runClawai(args []string, stdout, stderr io.Writer) int {
	if err := checkPowers(); err != nil && !isHarmless(args) {
		fmt.Fprintf(stderr, "clawai: %v\n", err)
		if len(args) > 1 && args[1] == "hook" {
			return cmdline.ExitUsage // which a client takes for no
		}
		return proxycmd.ExitProxy
	}
	log.SetOutput(io.Discard) // net/http writes what a server says unasked there, for the person at the terminal to read
	err := newApp(stdout, stderr).Run(args)
	if err == nil {
		return cmdline.ExitOK
	}
	var exit *cmdline.ExitError
	if !errors.As(err, &exit) {
		exit = &cmdline.ExitError{Code: cmdline.ExitFailed, Err: err}
	}
	if exit.Err != nil {
		fmt.Fprintf(cmdline.ProseWriter(stderr), "clawai: %v%s\n", exit.Err, wayOn(exit.Err))
	}
	return exit.Code
}

// wayOn gives what to do about a file that a program on Windows keeps to itself
// (ERROR_SHARING_VIOLATION), of which no other system knows.
func wayOn(err error) string {
	if runtime.GOOS == "windows" && errors.Is(err, syscall.Errno(32)) {
		return "; another program has it open: close it there and try again"
	}
	return ""
}

// isHarmless says that a command line reads and starts nothing.
func isHarmless(args []string) bool {
	return len(args) == 2 && (args[1] == "--version" || args[1] == "--help" || args[1] == "-h")
}

func newApp(stdout, stderr io.Writer) *cli.App {
	// -v is left free: to users it means "verbose" as often as "version".
	cli.VersionFlag = &cli.BoolFlag{Name: "version", Usage: "print the version"}
	cli.FlagStringer = describeFlag
	cli.HelpPrinter = printHelp
	app := &cli.App{
		Name:                      "clawai",
		Usage:                     "let an AI agent use MCP servers only as your rules allow",
		Version:                   cmdline.BuildInfo(),
		Writer:                    stdout,
		ErrWriter:                 stderr,
		UsageText:                 "clawai COMMAND [options]",
		HideHelpCommand:           true,                                          // ours knows what is hidden, and exits 2
		Flags:                     []cli.Flag{cmdline.ColorFlag(), cli.HelpFlag}, // which the library adds with its own command only
		DisableSliceFlagSeparator: true,
		Commands:                  listCommands(),
		OnUsageError:              onUsageError,
		CommandNotFound:           nil,
		// Exit codes are returned, never taken inside a command: deferred work
		// (the record's last line) must run.
		ExitErrHandler: func(*cli.Context, error) {},
		Action: func(c *cli.Context) error {
			if name := c.Args().First(); name != "" {
				return unknownCommand(c, name)
			}
			return cli.ShowAppHelp(c)
		},
	}
	hardenCommands(app.Commands)
	return app
}

// listCommands lists every command in the order of the help text.
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
		policycmd.Command(),
		approvecmd.Command(),
		approvecmd.DecideCommand(),
		logcmd.Command(),
		scancmd.Command(),
		attackcmd.Command(),
		lockcmd.Command(),
		authcmd.Command(),
		vaultcmd.Command(),
		doctorcmd.Command(),
		democmd.Command(),
		democmd.ServerCommand(),
		completionCommand(),
		completeCommand(),
		helpCommand(),
	}
}

// hardenCommands gives every command --color, but the proxy and the hub, which have nothing to show, and the
// same strictness, so that no file has to remember it: usage errors go to stderr with exit 2, "help" is never taken for
// an argument, a bare group is a usage error, and a flag behind an argument is
// refused instead of being read as one.
func hardenCommands(cmds []*cli.Command) {
	for _, c := range cmds {
		c.OnUsageError = onUsageError
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
