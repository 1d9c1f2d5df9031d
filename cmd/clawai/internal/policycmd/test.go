package policycmd

import (
	"os"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
)

func testCommand() *cli.Command {
	return &cli.Command{
		Name:      "test",
		Usage:     "judge fixtures by a policy and compare with what they expect",
		UsageText: "clawai policy test [--policy FILE] --fixture FILE... | --fixture-dir DIR [options]",
		Flags: slices.Concat(suiteFlags(), []cli.Flag{
			&cli.StringFlag{Name: "expect", Usage: "the `ACTION` every fixture must get, whatever it expects itself"},
			&cli.BoolFlag{Name: "watch", Usage: "run again after every change of the policy or a fixture"},
		}, reportFlags(check.FormatNames(true))),
		Action: runTest,
	}
}

func runTest(c *cli.Context) error {
	if err := nameOwnPolicy(c); err != nil {
		return err
	}
	format, err := formatOf(c, check.FormatNames(true))
	if err != nil {
		return err
	}
	if c.Bool("watch") {
		return watchTests(c, func() error { return testOnce(c, format) })
	}
	return testOnce(c, format)
}

// testOnce judges every fixture once and writes the report.
func testOnce(c *cli.Context, format string) error {
	run := check.Run{Policy: c.String("policy"), Start: time.Now()}
	o, fill, err := judgeOptions(c)
	if err != nil {
		return err
	}
	p, err := readPolicy(c.String("policy"), o)
	if err != nil {
		return tellBroken(c, format, err)
	}
	var expect *policy.Action
	if word := c.String("expect"); word != "" {
		action, err := policy.ParseAction(word)
		if err != nil {
			return cmdline.Usagef("--expect: %w", err)
		}
		expect = &action
	}
	paths, err := fixturePaths(c)
	if err != nil {
		return err
	}
	for _, path := range paths {
		run.Results = append(run.Results, judgeFile(p, path, c.String("server"), fill, expect))
	}
	if err := writeReport(c, proseReport(format, testMarks, writeTests(format, p, run))); err != nil {
		return err
	}
	return verdictOf(check.Summarize(run.Results))
}

// judgeOptions returns the options for judging: the home folder and the disk. The result fill is a
// function. It sets the time, the folder and the system in a fixture that does not have them.
func judgeOptions(c *cli.Context) (o policy.Options, fill func(*check.Fixture), err error) {
	var at time.Time
	cwd, system, err := placeFlags(c)
	if err != nil {
		return o, nil, err
	}
	o = policyfile.DraftOptions(c.String("home"))
	if root := c.String("root"); root != "" {
		if info, err := os.Stat(root); err != nil || !info.IsDir() {
			return o, nil, cmdline.Usagef("--root: %s is not a directory", root)
		}
		o.Disk = disk.RootedDisk(root)
	}
	if text := c.String("at"); text != "" {
		if at, err = time.Parse(time.RFC3339, text); err != nil {
			return o, nil, cmdline.Usagef("--at: %q is not a date and time with its offset; write 2026-01-31T09:00:00+01:00", text)
		}
	}
	return o, func(fx *check.Fixture) {
		if fx.At.IsZero() {
			fx.At = at
		}
		if fx.Cwd == "" {
			fx.Cwd = cwd
		}
		if fx.OS == "" {
			fx.OS = system
		}
	}, nil
}

// placeFlags returns the values of --cwd and --os.
func placeFlags(c *cli.Context) (cwd, system string, err error) {
	cwd, system = c.String("cwd"), c.String("os")
	switch {
	case cwd != "" && !policy.IsFolder(cwd):
		err = cmdline.Usagef("--cwd: %s is not a folder; write an absolute path, or one below ~/", cwd)
	case system != "" && !policy.IsOS(system):
		err = cmdline.Usagef("--os: %s is not a system; write windows, linux or darwin", system)
	}
	return cwd, system, err
}

// fixturePaths returns the files of --fixture and --fixture-dir.
func fixturePaths(c *cli.Context) ([]string, error) {
	paths := c.StringSlice("fixture")
	for _, dir := range c.StringSlice("fixture-dir") {
		found, err := check.FindFixtures(dir)
		if err != nil {
			return nil, cmdline.Usagef("%w", err)
		}
		paths = append(paths, found...)
	}
	if len(paths) == 0 {
		return nil, cmdline.Usagef("no fixture found; give --fixture FILE or a --fixture-dir with .json files in it")
	}
	return paths, nil
}

func judgeFile(p *policy.Policy, path, server string, fill func(*check.Fixture), expect *policy.Action) check.Result {
	fx, err := check.ReadFixture(path)
	if err != nil {
		return check.Result{Path: path, Err: err}
	}
	if expect != nil {
		fx.Expected, fx.ExpectedResult = expect, nil
	}
	fill(&fx)
	return check.ReportFixture(p, fx, server)
}

// verdictOf returns an error with the exit code. An unreadable file is worse than a mismatch,
// because the result is then unknown.
func verdictOf(s check.Summary) error {
	switch {
	case s.Unreadable > 0:
		return &cmdline.ExitError{Code: cmdline.ExitUsage}
	case s.Mismatched > 0:
		return &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	return nil
}

// namePolicy takes the argument of the command line as the value of --policy.
func namePolicy(c *cli.Context) error {
	args, err := cmdline.ParseArguments(c)
	switch {
	case err != nil:
		return err
	case len(args) == 0:
		return nil
	case len(args) > 1:
		return cmdline.Usagef("one policy at a time, not %s", cmdline.Quote(args))
	case c.IsSet("policy"):
		return cmdline.Usagef("--policy names a policy already; what is %s? A fixture is named with --fixture", cmdline.Quote(args))
	}
	return c.Set("policy", args[0])
}

// nameOwnPolicy is like namePolicy, but without an argument --policy becomes the person's own
// policy.
func nameOwnPolicy(c *cli.Context) error {
	if err := namePolicy(c); err != nil || c.String("policy") != "" {
		return err
	}
	path, _, err := OwnPolicy()
	if err != nil {
		return err
	}
	return c.Set("policy", path)
}

// readPolicy loads a policy for a test. If it fails, the exit code is 2, and the error has one line
// for each fault.
func readPolicy(path string, o policy.Options) (*policy.Policy, error) {
	src, err := readPolicyFile(path)
	if err != nil {
		return nil, err
	}
	return parsePolicy(path, src, o)
}

// readPolicyFile reads the text of a policy file that the command line names.
func readPolicyFile(path string) ([]byte, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, cmdline.Usagef("policy %s: %w", path, check.WithoutPath(err))
	}
	return src, nil
}

func parsePolicy(path string, src []byte, o policy.Options) (*policy.Policy, error) {
	p, err := policy.Parse(path, src, o)
	if err != nil {
		return nil, cmdline.Usagef("the policy does not load, so nothing was tested:\n%w", err)
	}
	return p, nil
}
