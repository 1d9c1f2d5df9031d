package policycmd

import (
	"bytes"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/check/format"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/policy"
)

func fmtCommand() *cli.Command {
	return &cli.Command{
		Name:      "fmt",
		Usage:     "write policies in the canonical form",
		UsageText: "clawai policy fmt [--write | --check] [FILE|-]...   (without FILE: your own policy)",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "write", Aliases: []string{"w"}, Usage: "write the files instead of standard output"},
			&cli.BoolFlag{Name: "check", Usage: "print the names of files that would change, and fail if there are any"},
		},
		Action: runFmt,
	}
}

func runFmt(c *cli.Context) error {
	files, err := policyFiles(c)
	if err != nil {
		return err
	}
	if c.Bool("write") && c.Bool("check") {
		return cmdline.Usagef("--write changes files and --check does not: give one of them")
	}
	changed := false
	for _, path := range files {
		differs, err := formatFile(c, path)
		if err != nil {
			return err
		}
		changed = changed || differs
	}
	if changed && c.Bool("check") {
		return &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	return nil
}

// formatFile formats one file. changed is true if the text is different now. A policy that does not
// load is not changed.
func formatFile(c *cli.Context, path string) (changed bool, err error) {
	name, src, err := readNamed(path)
	if err != nil {
		return false, err
	}
	if _, err := policy.Parse(name, src, policyfile.DraftOptions("/home/user")); err != nil {
		return false, cmdline.Usagef("the policy does not load, so it is left as it is:\n%w", err)
	}
	out, err := format.Format(src)
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	changed = !bytes.Equal(src, out)
	switch {
	case c.Bool("check"):
		if changed {
			fmt.Fprintln(cmdline.ProseWriter(c.App.Writer), policy.FileName(name))
		}
	case c.Bool("write") && path != "-":
		if changed {
			return true, atomicfile.Write(path, out, atomicfile.Options{Old: src})
		}
	default:
		_, err = c.App.Writer.Write(out)
	}
	return changed, err
}
