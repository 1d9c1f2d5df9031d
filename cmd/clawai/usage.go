package main

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/text/spelling"
)

// describeFlag returns the library's line for a flag, without a default that carries no
// information.
func describeFlag(f cli.Flag) string {
	line := plainFlag(f)
	for _, nothing := range []string{" (default: false)", " (default: 0)"} {
		line = strings.TrimSuffix(line, nothing)
	}
	if once, again, ok := strings.Cut(line, " [ "); ok { // --x X [ --x X ]
		if _, usage, ok := strings.Cut(again, " ]"); ok && strings.HasPrefix(again, once+" ]") {
			line = once + "..." + usage
		}
	}
	return line
}

var plainFlag = cli.FlagStringer

// printHelp prints the library's help, folded to the terminal.
func printHelp(w io.Writer, templ string, data any) {
	var text bytes.Buffer
	plainHelp(&text, templ, data)
	_, _ = io.WriteString(cmdline.ProseWriter(w), text.String())
}

var plainHelp = cli.HelpPrinter

func helpCommand() *cli.Command {
	return &cli.Command{
		Name:      "help",
		Usage:     "show the help of a command",
		UsageText: "clawai help [COMMAND...]",
		Action:    func(c *cli.Context) error { return showHelp(c, c.Args().Slice()) },
	}
}

// showHelp prints the output of "clawai WORDS... --help".
func showHelp(c *cli.Context, words []string) error {
	cmds, path := listCommands(), []string{}
	for _, word := range words {
		next := findCommand(visibleCommands(cmds), word)
		if next == nil {
			return unknownCommandError(word, cmds, path)
		}
		cmds, path = next.Subcommands, append(path, word)
	}
	return newApp(c.App.Writer, c.App.ErrWriter).RunContext(c.Context, append(append([]string{"clawai"}, path...), "--help"))
}

func unknownCommand(c *cli.Context, name string) error {
	if path := strings.Fields(cmdline.CommandPath(c)); len(path) > 0 {
		return unknownCommandError(name, c.Command.Subcommands, path)
	}
	return unknownCommandError(name, c.App.Commands, nil)
}

// unknownCommandError returns an error that names the command that was probably meant.
func unknownCommandError(name string, cmds []*cli.Command, path []string) error {
	var names []string
	for _, c := range visibleCommands(cmds) {
		names = append(names, c.Name)
	}
	if name == "version" && len(path) == 0 {
		return cmdline.Usagef("unknown command %q; see: clawai --version", name)
	}
	return cmdline.Usagef("unknown command %q%s; see: %s --help", name, cmdline.DidYouMean(spelling.NearestWord(name, names)),
		strings.Join(append([]string{"clawai"}, path...), " "))
}

func visibleCommands(cmds []*cli.Command) []*cli.Command {
	return slices.DeleteFunc(slices.Clone(cmds), func(c *cli.Command) bool { return c.Hidden })
}

// dashed matches a flag in the flag package's form: one dash before any name.
var dashed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[ "])-([[:alnum:]][[:alnum:]-]+)(:|$)`) })

func onUsageError(c *cli.Context, err error, _ bool) error {
	const unknownFlag = "flag provided but not defined: "
	text := err.Error()
	if name, ok := strings.CutPrefix(text, unknownFlag); ok {
		return cmdline.UnknownOption(c, name)
	}
	return cmdline.Usagef("%s; see: clawai %s--help", dashed().ReplaceAllString(text, "$1--$2$3"), cmdline.CommandPath(c))
}
