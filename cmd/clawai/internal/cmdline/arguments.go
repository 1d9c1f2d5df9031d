package cmdline

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/internal/text/spelling"
	"github.com/clawai/clawai/policy/glob"
)

// ParseArguments returns the names on a command line. It sets the options that follow a name,
// because the flag package would return these options as names. All words after -- are names.
func ParseArguments(c *cli.Context) (names []string, err error) {
	args := c.Args().Slice()
	if before := len(os.Args) - len(args) - 1; before >= 0 && os.Args[before] == "--" {
		args = append([]string{"--"}, args...) // the flag package has removed "--"
	}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			names = append(names, args...)
			break
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			names = append(names, arg)
			continue
		}
		name, value, inline := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		flag := FlagNamed(c.Command.Flags, name)
		switch {
		case name == "help" || name == "h":
			return nil, Usagef("write: clawai %s--help", CommandPath(c))
		case flag == nil:
			return nil, UnknownOption(c, arg)
		case inline:
		case !flag.TakesValue():
			value = "true"
		case len(args) == 0:
			return nil, Usagef("flag needs an argument: %s; see: clawai %s--help", arg, CommandPath(c))
		default:
			value, args = args[0], args[1:]
		}
		if err := c.Set(flag.Names()[0], value); err != nil {
			return nil, Usagef("%s: %w", arg, err)
		}
	}
	if slices.Contains(names, "") {
		return nil, Usagef("an argument is empty")
	}
	return names, CheckValues(c)
}

// CheckValues returns an error if an option of the command has an empty value. A shell passes such a
// value for a variable that is not set, and the command would then use the default of the option.
func CheckValues(c *cli.Context) error {
	for _, name := range c.LocalFlagNames() {
		if len(name) == 1 {
			continue // the long name is set, too
		}
		if c.String(name) == "" || slices.Contains(c.StringSlice(name), "") {
			return Usagef("--%s has an empty value, perhaps from an empty variable; give it a value or leave the option out", name)
		}
	}
	return nil
}

// FlagNamed returns the flag with this name or alias, or nil.
func FlagNamed(flags []cli.Flag, name string) cli.DocGenerationFlag {
	for _, f := range flags {
		if doc, ok := f.(cli.DocGenerationFlag); ok && slices.Contains(f.Names(), name) {
			return doc
		}
	}
	return nil
}

// CommandPath returns the words of the command after "clawai", and a space.
func CommandPath(c *cli.Context) string {
	if c.Command == nil || c.Command.Name == "" || c.Command.Name == c.App.Name {
		return ""
	}
	return strings.TrimPrefix(c.Command.HelpName, "clawai ") + " "
}

// NoArguments returns an error if the command line has arguments other than flags.
func NoArguments(c *cli.Context) error {
	if c.Args().Present() { // the first may be empty, and then package flag parses no option after it
		return Usagef("unexpected argument %q; see: clawai %s--help", c.Args().First(), CommandPath(c))
	}
	return nil
}

// DidYouMean returns the hint for an unknown word. The parameter near is the known word that is
// most similar. If it is "", the hint is "".
func DidYouMean(near string) string {
	if near == "" {
		return ""
	}
	return " (did you mean " + near + "?)"
}

// UnknownWord returns the error for a word that is not in the list words. The parameter where is
// the place of the word, such as "--mode", and kind is a noun for the word.
func UnknownWord(where, kind, word string, words []string) error {
	return Usagef("%s: %s", where, notOneOf(kind, word, words))
}

func notOneOf(kind, word string, words []string) string {
	return fmt.Sprintf("unknown %s %q%s; one of %s", kind, word, DidYouMean(spelling.NearestWord(word, words)), strings.Join(words, ", "))
}

// UnknownOption returns the error for an unknown option. The error names the option that the person
// probably meant.
func UnknownOption(c *cli.Context, name string) error {
	flags := c.App.Flags
	if c.Command != nil && len(c.Command.Flags) > 0 {
		flags = c.Command.Flags
	}
	name = strings.TrimLeft(name, "-")
	name, _, _ = strings.Cut(name, "=")
	near := spelling.NearestWord("--"+name, FlagNames(flags))
	if dashes := "--"; len(name) > 1 {
		name = dashes + name
	} else {
		name = "-" + name
	}
	return Usagef("unknown option %s%s; see: clawai %s--help", name, DidYouMean(near), CommandPath(c))
}

// FlagNames returns the long names of flags, each with its two dashes.
func FlagNames(flags []cli.Flag) []string {
	var names []string
	for _, f := range flags {
		for _, name := range f.Names() {
			if len(name) > 1 {
				names = append(names, "--"+name)
			}
		}
	}
	return names
}

// GlobFlag reads a flag with a glob as its value. The globs are the same as in a policy. It returns
// nil if the flag is not set.
func GlobFlag(c *cli.Context, name string) (func(string) bool, error) {
	if !c.IsSet(name) {
		return nil, nil
	}
	p, err := glob.Compile(c.String(name))
	if err != nil {
		return nil, Usagef("--%s: %w", name, err)
	}
	return p.Match, nil
}

// TimeFlag reads a flag with an age or a time as its value. It returns the zero time if the flag is
// not set. A day is 24 hours, and a date is in local time.
func TimeFlag(c *cli.Context, name string, now time.Time) (time.Time, error) {
	s := c.String(name)
	if s == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return now.Add(-time.Duration(n) * 24 * time.Hour), nil
		}
	}
	if age, err := time.ParseDuration(s); err == nil && age >= 0 {
		return now.Add(-age), nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly, time.DateTime} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, Usagef("--%s: %q is neither an age (10m, 2h, 3d) nor a time (2026-01-31, 2026-01-31T09:00:00Z)", name, s)
}
