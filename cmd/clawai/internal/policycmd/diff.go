package policycmd

import (
	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/policy"
)

func diffCommand() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "show which calls two policies answer differently",
		UsageText: "clawai policy diff [options] OLD NEW",
		Description: "OLD and NEW are files; one may be - for standard input. Decisions are compared,\n" +
			"not lines. Exits 0 when no call is answered differently, 1 when some are, or may\n" +
			"be, and 2 when something could not be read.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "fixture-dir", Usage: "judge every .json file below `DIR` by both (repeatable)"},
			&cli.StringFlag{Name: "server", Usage: "the server `NAME` of fixtures that name none; with --record only calls of this server (a glob)"},
			&cli.BoolFlag{Name: "record", Usage: "judge every recorded call by both"},
			&cli.StringFlag{Name: "since", Usage: "with --record: not older than `TIME`: 2h, 7d, 2026-01-31, or RFC 3339"},
			&cli.IntFlag{Name: "examples", Value: 5, Usage: "with --record: up to `N` calls of each kind"},
			&cli.StringFlag{Name: "home", Usage: "what ~ means: `DIR` (default: /home/user, with --record your home)"},
			&cli.BoolFlag{Name: "markdown", Usage: "print a comment for a pull request"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
		},
		Action: runDiff,
	}
}

func runDiff(c *cli.Context) error {
	names, err := cmdline.ParseArguments(c)
	switch {
	case err != nil:
		return err
	case len(names) != 2:
		return cmdline.Usagef("policy diff needs two policies: clawai policy diff OLD NEW")
	case names[0] == "-" && names[1] == "-":
		return cmdline.Usagef("only one of the policies can be standard input")
	case c.Bool("json") && c.Bool("markdown"):
		return cmdline.Usagef("--json beside --markdown: choose one")
	case c.Int("examples") < 0:
		return cmdline.Usagef("--examples: %d is not a number of calls", c.Int("examples"))
	case c.IsSet("since") && !c.Bool("record"):
		return cmdline.Usagef("--since is for --record")
	}
	o := policyfile.DraftOptions(c.String("home"))
	if o.Home == "" && !c.Bool("record") {
		o.Home = "/home/user" // a fixed folder, so that the result is the same on every machine, as in policy test
	} else if o.Home, err = homeFlag(c); err != nil {
		return err
	}
	if c.Bool("record") {
		if o, err = addHideDenied(o); err != nil {
			return err
		}
	}
	var judges [2]*replay.Judge
	for i, name := range names {
		if judges[i], err = judgeOf(c, name, o); err != nil {
			return err
		}
	}
	r := diff.ComparePolicies(judges[0].Policy(), judges[1].Policy())
	if err := diffFixtures(c, r, judges); err != nil {
		return err
	}
	if err := diffRecord(c, r, judges); err != nil {
		return err
	}
	switch {
	case c.Bool("json"):
		err = cmdline.WriteJSON(c.App.Writer, r.Document())
	case c.Bool("markdown"):
		err = r.WriteMarkdown(c.App.Writer)
	default:
		err = cmdline.WriteProse(c.App.Writer, diffMarks, r.WriteText)
	}
	switch {
	case err != nil:
		return err
	case r.Record != nil && r.Record.Damaged > 0:
		return cmdline.Usagef("%d places of the record cannot be read; see: clawai log verify", r.Record.Damaged)
	case r.HasChanges():
		return &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	return nil
}

// judgeOf reads one of the two policies to compare. name is its file; "-" is standard input.
func judgeOf(c *cli.Context, name string, o policy.Options) (*replay.Judge, error) {
	src, err := inputFile(c, name)
	if err != nil {
		return nil, cmdline.Usagef("policy %w", err)
	}
	if name == "-" {
		name = "stdin"
	}
	j, err := replay.NewJudge(name, src, o)
	if err != nil {
		return nil, cmdline.Usagef("the policy does not load, so nothing was compared:\n%w", err)
	}
	return j, nil
}

func diffFixtures(c *cli.Context, r *diff.Report, judges [2]*replay.Judge) error {
	var fixtures []check.Fixture
	for _, dir := range c.StringSlice("fixture-dir") {
		found, err := check.FindFixtures(dir)
		if err != nil {
			return cmdline.Usagef("%w", err)
		}
		if len(found) == 0 {
			return cmdline.Usagef("no fixture found in %s", dir)
		}
		for _, path := range found {
			fx, err := check.ReadFixture(path)
			if err != nil {
				return cmdline.Usagef("%w", err)
			}
			fixtures = append(fixtures, fx)
		}
	}
	if len(fixtures) > 0 {
		r.AddFixtures(judges[0].Policy(), judges[1].Policy(), fixtures, c.String("server"))
	}
	return nil
}

func diffRecord(c *cli.Context, r *diff.Report, judges [2]*replay.Judge) error {
	if !c.Bool("record") {
		return nil
	}
	f, dir, err := recordedDecisions(c)
	if err != nil {
		return err
	}
	if err := r.AddRecord(judges[0], judges[1], audit.Read(dir, withAnswers(f)), c.Int("examples")); err != nil {
		return cmdline.Usagef("the record in %s: %w", dir, err)
	}
	if r.Record.Decisions == 0 && r.Record.Damaged == 0 {
		return cmdline.Usagef("no recorded decision matches in %s, so none was compared", dir)
	}
	return nil
}
