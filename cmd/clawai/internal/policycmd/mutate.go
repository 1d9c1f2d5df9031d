package policycmd

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/check/cover"
	"github.com/clawai/clawai/internal/state/atomicfile"
)

func mutateCommand() *cli.Command {
	return &cli.Command{
		Name:      "mutate",
		Usage:     "change the policy in every small way, and show which change no fixture notices",
		UsageText: "clawai policy mutate [--policy FILE] --fixture FILE... | --fixture-dir DIR [options]",
		Flags: append(suiteFlags(),
			&cli.Float64Flag{Name: "min", Value: 100, Usage: "fail when fewer than this many `PERCENT` of the changes are noticed"},
			&cli.PathFlag{Name: "write", Usage: "save a fixture for each change that is not noticed to `DIR`"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"}),
		Action: func(c *cli.Context) error {
			s, err := readSuite(c)
			if err != nil {
				return err
			}
			done := cmdline.ShowProgress("Changing the rules one by one")
			mutation, err := cover.Mutate(s.policy, s.file, s.src, s.fixtures, s.options)
			done()
			if err != nil {
				return err
			}
			if dir := c.Path("write"); dir != "" {
				n, err := saveFixtures(dir, mutation.Survivors())
				if err != nil {
					return err
				}
				fmt.Fprintf(cmdline.ProseWriter(c.App.ErrWriter), "clawai: fixtures written to %s: %d; they expect what the policy says now, so read them\n", dir, n)
			}
			return s.finishReport(c, mutation)
		},
	}
}

// saveFixtures writes the fixtures of survivors to files with new names. It writes equal fixtures
// only once. It returns the number of files.
func saveFixtures(dir string, survivors []cover.Outcome) (int, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	saved := map[string]bool{}
	for _, o := range survivors {
		if o.Fixture == nil || saved[string(o.Fixture.Text)] {
			continue
		}
		saved[string(o.Fixture.Text)] = true
		path := freeName(dir, o.Fixture.Name)
		if err := atomicfile.Write(path, o.Fixture.Text, atomicfile.Options{Mode: 0o644}); err != nil {
			return 0, err
		}
	}
	return len(saved), nil
}

func freeName(dir, name string) string {
	path := filepath.Join(dir, name+".json")
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); err != nil {
			return path
		}
		path = filepath.Join(dir, fmt.Sprintf("%s-%d.json", name, n))
	}
}
