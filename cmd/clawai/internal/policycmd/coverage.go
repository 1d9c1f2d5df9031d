package policycmd

import (
	"io"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/cover"
	"github.com/clawai/clawai/policy"
)

func coverageCommand() *cli.Command {
	return &cli.Command{
		Name:      "coverage",
		Usage:     "show which rules and conditions the fixtures exercise",
		UsageText: "clawai policy coverage [--policy FILE] --fixture FILE... | --fixture-dir DIR [options]",
		Flags: append(suiteFlags(),
			&cli.Float64Flag{Name: "min", Usage: "fail below this many `PERCENT`"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"}),
		Action: func(c *cli.Context) error {
			s, err := readSuite(c)
			if err != nil {
				return err
			}
			coverage, err := cover.Measure(s.policy, s.file, s.src, s.fixtures, s.options)
			if err != nil {
				return err
			}
			return s.finishReport(c, coverage)
		},
	}
}

// suite is a policy and the fixtures that test it.
type suite struct {
	policy   *policy.Policy
	file     string
	src      []byte
	fixtures []check.Fixture
	options  cover.Options
}

// suiteFlags returns the flags that name a policy and its fixtures.
func suiteFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "policy", Usage: "the policy `FILE` (default: yours)"},
		&cli.StringSliceFlag{Name: "fixture", Usage: "a fixture `FILE` (repeatable)"},
		&cli.StringSliceFlag{Name: "fixture-dir", Usage: "every .json file below `DIR` (repeatable)"},
		&cli.StringFlag{Name: "server", Usage: "the server `NAME` for fixtures that name none"},
		&cli.StringFlag{Name: "home", Value: "/home/user", Usage: "what ~ means, the same on every machine: `DIR`"},
		&cli.StringFlag{Name: "root", Usage: "the `DIR` that stands for the disk that where.<name>.under looks at"},
		&cli.StringFlag{Name: "cwd", Usage: "the `DIR` in which relative paths start, for fixtures that name none"},
		&cli.StringFlag{Name: "os", Usage: "the `SYSTEM` that servers run on, for fixtures that name none: windows (paths are compared as on Windows)"},
		&cli.StringFlag{Name: "at", Usage: "the `TIME` of fixtures that name none, as 2026-01-31T09:00:00+01:00"},
	}
}

func readSuite(c *cli.Context) (suite, error) {
	if err := nameOwnPolicy(c); err != nil {
		return suite{}, err
	}
	s := suite{file: c.String("policy")}
	if least := c.Float64("min"); least < 0 || least > 100 {
		return s, cmdline.Usagef("--min is a percentage, from 0 to 100")
	}
	o, fill, err := judgeOptions(c)
	if err != nil {
		return s, err
	}
	s.options = cover.Options{Policy: o, Server: c.String("server")}
	if s.src, err = readPolicyFile(s.file); err != nil {
		return s, err
	}
	if s.policy, err = parsePolicy(s.file, s.src, o); err != nil {
		return s, err
	}
	paths, err := fixturePaths(c)
	if err != nil {
		return s, err
	}
	for _, path := range paths {
		fx, err := check.ReadFixture(path)
		if err != nil {
			return s, cmdline.Usagef("%w", err)
		}
		fill(&fx)
		s.fixtures = append(s.fixtures, fx)
	}
	return s, nil
}

// measured is a report that has a score in percent.
type measured interface {
	WriteText(w io.Writer, file string) error
	WriteJSON(w io.Writer, file string) error
	Percent() float64
}

// finishReport prints the report. If the score is below --min, the exit code is 1.
func (s suite) finishReport(c *cli.Context, m measured) error {
	write := func(w io.Writer) error { return m.WriteJSON(w, s.file) }
	if !c.Bool("json") {
		write = proseReport("text", coverMarks, func(w io.Writer) error { return m.WriteText(w, s.file) })
	}
	if err := write(c.App.Writer); err != nil {
		return err
	}
	if m.Percent() < c.Float64("min") {
		return &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	return nil
}
