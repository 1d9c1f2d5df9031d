package lockcmd

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/mcp/pin"
)

func diffCommand() *cli.Command {
	return &cli.Command{
		Name:        "diff",
		Usage:       "show how two locks differ, by class and word by word",
		UsageText:   "clawai lock diff OLD NEW",
		Description: "Exit 0 when nobody has to look, 1 when somebody has to, 2 when a file is not a lock, or when only\none of them has a server or an entry.",
		Flags:       []cli.Flag{&cli.StringFlag{Name: "format", Value: "text", Usage: "the `FORM` of the report: " + strings.Join(check.FormatNames(false), ", ")}, &cli.BoolFlag{Name: "json", Usage: "the same as --format json"}},
		Action:      runDiff,
	}
}

func runDiff(c *cli.Context) error {
	names, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	format, err := formatOf(c)
	if err != nil {
		return err
	}
	if len(names) != 2 {
		return cmdline.Usagef("name two locks: clawai lock diff OLD NEW")
	}
	var locks [2]pin.Lock
	for i, name := range names {
		if locks[i], _, err = readLock(name); err != nil {
			return cmdline.Usagef("%w", err)
		}
	}
	found := compareLocks(locks[0], locks[1])
	if err := showOutcomes(c, format, names[1], found); err != nil {
		return err
	}
	return worstExitError(found)
}

// compareLocks compares an old lock with a new one. If only the new lock has a server, all entries
// of the server are new. If only the old lock has a server, the server is missing.
func compareLocks(old, now pin.Lock) (all []outcome) {
	for _, name := range sortedNames(now) {
		is := now[name]
		all = append(all, weighOutcome(outcome{name: name, is: is, differences: old.CompareServer(name, &is)}))
	}
	for _, name := range sortedNames(old) {
		if _, still := now[name]; !still {
			all = append(all, outcome{name: name, state: missing, why: "the new lock does not have it"})
		}
	}
	return all
}
