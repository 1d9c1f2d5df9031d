// Package program is the command line of clawai-gateway.
package program

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/text/term"
)

// Exit codes, as those of clawai.
const (
	exitOK     = 0
	exitFailed = 1 // a check failed, or the work could not be done
	exitUsage  = 2 // the command line or its input could not be read
)

// usageError is a mistake on the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, a ...any) error { return &usageError{fmt.Sprintf(format, a...)} }

// errFailed means that a check failed, and that the person has already been told.
var errFailed = errors.New("a check failed")

// command is one command.
type command struct {
	name, arguments, about string
	takes                  int // number of arguments
	run                    func(c *call) error
	flags                  func(c *call, f *flag.FlagSet)
}

// call is one run of a command, with its options.
type call struct {
	dir       string
	dev       bool
	port      int
	portIsSet bool
	since     string
	json      bool
	version   string // version of the program

	key, checkpoints string // files; only for the command verify
	roles            string // only for the command key-add
	days, hours      int    // for the commands that make a key of a machine
	arguments        []string
	stdout           *prose
	stderr           io.Writer
}

var commands = []command{
	{"serve", "--dir DIR [--dev [--port PORT]]", "serve a centre at the address that gateway.toml names, or with --dev on this machine alone", 0, runServe, func(c *call, f *flag.FlagSet) {
		f.BoolVar(&c.dev, "dev", false, "on a loopback address, with an administrator who signs in by a link")
		f.IntVar(&c.port, "port", 8470, "with --dev, the `PORT` to listen on; 0 is any free one")
	}},
	{"link", "--dir DIR", "make a link by which the administrator signs in once", 0, runLink, nil},
	{"publish", "--dir DIR BUNDLE", "give laptops a signed bundle, if its signature and counter hold, or let it wait for people", 1, runPublish, nil},
	{"bundles", "--dir DIR", "list the bundles that were published: which one is in force, and which one waits for people", 0, runBundles, nil},
	{"laptops", "--dir DIR", "list the laptops and how they do", 0, runLaptops, nil},
	{"revoke", "--dir DIR LAPTOP", "end the token of a laptop, by its id", 1, runRevoke, nil},
	{"keys", "--dir DIR", "list the keys of machines", 0, runKeys, nil},
	{"key-add", "--dir DIR --role ROLE[,ROLE] [--days DAYS] NAME", "make a key for a machine, such as a job of CI", 1, runKeyAdd, func(c *call, f *flag.FlagSet) {
		f.StringVar(&c.roles, "role", "", "the `ROLE` of the key: "+strings.Join(principal.MachineRoles, ", "))
		setDays(c, f)
	}},
	{"key-rotate", "--dir DIR [--days DAYS] [--hours HOURS] KEY", "make a key in the place of another one, by its id", 1, runKeyRotate, func(c *call, f *flag.FlagSet) {
		f.IntVar(&c.hours, "hours", 24, "for how many `HOURS` the other one goes on")
		setDays(c, f)
	}},
	{"key-revoke", "--dir DIR KEY", "end a key at once, by its id", 1, runKeyRevoke, nil},
	{"checkpoint-key", "--dir DIR NAME", "make the key that signs what the centre holds, so that a change of its database shows", 1, runCheckpointKey, nil},
	{"checkpoint-push", "--dir DIR", "push the file of checkpoints to the git remote that gateway.toml names", 0, runCheckpointPush, nil},
	{"verify", "--dir DIR --key FILE [--checkpoints FILE]", "compare the database with the signed checkpoints", 0, runVerify, func(c *call, f *flag.FlagSet) {
		f.StringVar(&c.key, "key", "", "the `FILE` with the public key of checkpoints")
		f.StringVar(&c.checkpoints, "checkpoints", "", "the `FILE` of checkpoints, or a copy of it; without it the one that gateway.toml names")
	}},
	{"simulate", "--dir DIR NEW [--since TIME] [--json]", "judge the recorded calls of all laptops by a policy or a bundle that they do not have yet", 1, runSimulate, func(c *call, f *flag.FlagSet) {
		f.StringVar(&c.since, "since", "30d", "only records not older than `TIME`: 2h, 7d, 2026-01-31, or RFC 3339")
		f.BoolVar(&c.json, "json", false, "print one JSON document")
	}},
	{"ready", "--dir DIR", "ask the centre that runs whether its database answers, for the health check of a container", 0, runReady, nil},
	{"doctor", "--dir DIR", "check the centre in a folder", 0, runDoctor, nil},
}

// Run runs a command line without the program's name, and returns the exit code.
func Run(words []string, version string, stdout, stderr io.Writer) int {
	out := newProse(stdout)
	err := runCommand(words, version, out, stderr)
	if lost := out.finishLine(); err == nil {
		err = lost
	}
	if err == nil {
		return exitOK
	}
	if !errors.Is(err, errFailed) {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintf(newProse(stderr), "clawai-gateway: %s\n", term.VisibleText(line))
		}
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*centre.SettingsError](err); ok {
		return exitUsage
	}
	return exitFailed
}

func runCommand(words []string, version string, stdout *prose, stderr io.Writer) error {
	if len(words) == 0 {
		return usagef("which command? See: clawai-gateway --help")
	}
	switch words[0] {
	case "--help", "-h", "help":
		return writeHelp(stdout)
	case "--version":
		_, err := fmt.Fprintf(stdout, "clawai-gateway %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	}
	for i := range commands {
		if commands[i].name == words[0] {
			return commands[i].start(words[1:], version, stdout, stderr)
		}
	}
	return usagef("there is no command %q; see: clawai-gateway --help", words[0])
}

// start reads the options of a command and runs it.
func (c *command) start(words []string, version string, stdout *prose, stderr io.Writer) error {
	is := &call{version: version, stdout: stdout, stderr: stderr}
	f := flag.NewFlagSet(c.name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&is.dir, "dir", "", "the `DIR` with the centre's database, its key and gateway.toml")
	if c.flags != nil {
		c.flags(is, f)
	}
	err := f.Parse(words)
	for err == nil && f.NArg() > 0 { // options may come after arguments
		is.arguments = append(is.arguments, f.Arg(0))
		err = f.Parse(f.Args()[1:])
	}
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(stdout, "Usage: clawai-gateway %s %s\n\n%s.\n\n", c.name, c.arguments, strings.ToUpper(c.about[:1])+c.about[1:])
		f.SetOutput(stdout)
		f.PrintDefaults()
		return nil
	}
	if err != nil {
		return usagef("%v; see: clawai-gateway %s --help", err, c.name)
	}
	empty := ""
	f.Visit(func(set *flag.Flag) {
		is.portIsSet = is.portIsSet || set.Name == "port"
		if set.Value.String() == "" {
			empty = set.Name
		}
	})
	switch {
	case empty != "":
		return usagef("--%s has an empty value, perhaps from an empty variable; give it a value or leave the option out", empty)
	case is.dir == "":
		return usagef("%s needs the centre's folder: clawai-gateway %s %s", c.name, c.name, c.arguments)
	case len(is.arguments) != c.takes:
		return usagef("%s has %d arguments, and takes %d: clawai-gateway %s %s", c.name, len(is.arguments), c.takes, c.name, c.arguments)
	}
	return c.run(is)
}

func writeHelp(w io.Writer) error {
	var b strings.Builder
	b.WriteString("clawai-gateway - a team's centre for laptops with clawai\n\nCommands:\n")
	for i := range commands {
		c := &commands[i]
		fmt.Fprintf(&b, "  clawai-gateway %s %s\n      %s\n", c.name, c.arguments, c.about)
	}
	b.WriteString("\nThe options of a command: clawai-gateway COMMAND --help\n")
	_, err := io.WriteString(w, b.String())
	return err
}
