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

// describeFlag returns the library's line for a flag. It removes defaults that say nothing, such as
// "(default: false)".
func describeFlag(f cli.Flag) string {
	line := plainFlag(f)
	for _, nothing := range []string{" (default: false)", " (default: 0)"} {
		line = strings.TrimSuffix(line, nothing)
	}
	// The library writes a repeatable flag as --x X [ --x X ].
	if once, again, ok := strings.Cut(line, " [ "); ok {
		if _, usage, ok := strings.Cut(again, " ]"); ok && strings.HasPrefix(again, once+" ]") {
			line = once + "..." + usage
		}
	}
	return line
}

var plainFlag = cli.FlagStringer

// printHelp prints the library's help with lines that fit the terminal.
func printHelp(w io.Writer, templ string, data any) {
	var text bytes.Buffer
	plainHelp(&text, templ, data)
	_, _ = io.WriteString(cmdline.ProseWriter(w), text.String())
}

var plainHelp = cli.HelpPrinter

// shortHelp is the help of clawai itself. It has the most important commands and fits on a screen
// of 24 lines.
const shortHelp = `{{.Name}} - {{.Usage}}

USAGE:
   {{.UsageText}}

COMMANDS:{{range .VisibleCategories}}{{if not .Name}}{{template "visibleCommandTemplate" .}}{{end}}{{end}}

Every command:                clawai help --all
The options of a command:     clawai help COMMAND
`

// groups are the commands that only clawai help --all shows, by purpose.
var groups = map[string][]string{
	"Answer and try":                       {"decide", "release", "preview", "scan", "attack"},
	"Run servers and agents":               {"protect", "proxy", "hub", "serve", "hook", "llm-proxy"},
	"Secrets, sandboxes, lists of servers": {"auth", "vault", "sandbox", "lock"},
	"A team":                               {"enroll", "unenroll", "gateway"},
	"The shell":                            {"completion"},
}

// sortIntoGroups sets the category of the commands in groups.
func sortIntoGroups(all []*cli.Command) {
	for name, commands := range groups {
		for _, c := range all {
			if slices.Contains(commands, c.Name) {
				c.Category = name
			}
		}
	}
}

func helpCommand() *cli.Command {
	return &cli.Command{
		Name:      "help",
		Usage:     "show the help of a command",
		UsageText: "clawai help [COMMAND...]\nclawai help --all",
		Flags:     []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "show every command, in groups"}},
		Action: func(c *cli.Context) error {
			words, err := cmdline.ParseArguments(c)
			switch {
			case err != nil:
				return err
			case c.Bool("all") && len(words) > 0:
				return cmdline.Usagef("help --all shows every command; to see one, run: clawai help %s", strings.Join(words, " "))
			}
			return showHelp(c, words)
		},
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
	app := newApp(c.App.Writer, c.App.ErrWriter, listCommands())
	if c.Bool("all") {
		app.CustomAppHelpTemplate = cli.AppHelpTemplate
	}
	return app.RunContext(c.Context, append(append([]string{"clawai"}, path...), "--help"))
}

func unknownCommand(c *cli.Context, name string) error {
	if path := strings.Fields(cmdline.CommandPath(c)); len(path) > 0 {
		return unknownCommandError(name, c.Command.Subcommands, path)
	}
	return unknownCommandError(name, c.App.Commands, nil)
}

// unknownCommandError returns an error that also names the command that the person probably meant.
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

// dashed matches a flag in the form of the flag package: one dash before any name.
var dashed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[ "])-([[:alnum:]][[:alnum:]-]+)(:|$)`) })

func onUsageError(c *cli.Context, err error, _ bool) error {
	const unknownFlag = "flag provided but not defined: "
	text := err.Error()
	if name, ok := strings.CutPrefix(text, unknownFlag); ok {
		return cmdline.UnknownOption(c, name)
	}
	return cmdline.Usagef("%s; see: clawai %s--help", dashed().ReplaceAllString(text, "$1--$2$3"), cmdline.CommandPath(c))
}
