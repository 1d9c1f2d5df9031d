package policycmd

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/policy"
)

// reportFlags returns the flags for the format and the file of a report.
func reportFlags(formats []string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "format", Value: formats[0], Usage: "the `FORM` of the report: " + strings.Join(formats, ", ")},
		&cli.BoolFlag{Name: "json", Usage: "the same as --format json"},
		&cli.PathFlag{Name: "output", Usage: "write the report to `FILE`, whole or not at all"},
	}
}

func formatOf(c *cli.Context, formats []string) (string, error) {
	format := c.String("format")
	if c.Bool("json") {
		if c.IsSet("format") && format != "json" {
			return "", cmdline.Usagef("--json and --format %s say two things", format)
		}
		format = "json"
	}
	if !slices.Contains(formats, format) {
		return "", cmdline.UnknownWord("--format", "form", format, formats)
	}
	return format, nil
}

// writeReport writes a report to standard output or to the file of --output.
func writeReport(c *cli.Context, write func(io.Writer) error) error {
	path := c.Path("output")
	if path == "" {
		return write(c.App.Writer)
	}
	var out bytes.Buffer
	if err := write(&out); err != nil {
		return err
	}
	return atomicfile.Write(path, out.Bytes(), atomicfile.Options{Mode: 0o644})
}

// proseReport returns a function that writes a report. If the format is text, the function adds
// colors and breaks lines at the terminal's width.
func proseReport(format string, marks []cmdline.Mark, write func(io.Writer) error) func(io.Writer) error {
	if format != "text" {
		return write
	}
	return func(w io.Writer) error { return cmdline.WriteProse(w, marks, write) }
}

// writeTests returns a function that writes the report of a test run in a format.
func writeTests(format string, p *policy.Policy, run check.Run) func(io.Writer) error {
	run.Version = cmdline.Version
	run.Revision = p.Revision()
	run.Duration = time.Since(run.Start)
	return func(w io.Writer) error {
		switch format {
		case "json":
			return check.WriteJSON(w, p, run.Results)
		case "text":
			return check.WriteText(w, run.Results)
		}
		return check.FindFormat(format).WriteTests(w, run)
	}
}

// tellBroken reports the errors in a policy, if the format can contain findings. It returns err, or
// the error of writing the report.
func tellBroken(c *cli.Context, format string, err error) error {
	var broken policy.Errors
	if f := check.FindFormat(format); !errors.As(err, &broken) || f == nil || f.Findings == nil {
		return err
	}
	if writeErr := writeReport(c, writeFindings(format, loading, loadFindings(broken))); writeErr != nil {
		return writeErr
	}
	return err
}

// loading is the tool that the findings name if a policy does not load.
var loading = check.Tool{Name: "clawai policy check", Version: cmdline.Version, Kinds: []check.FindingKind{{
	Code: policyError, Summary: "The policy does not load.", Why: "A policy that does not load allows nothing.",
}}}

const policyError = "policy-error"

func loadFindings(broken policy.Errors) []check.Finding {
	var out []check.Finding
	for _, e := range broken {
		out = append(out, check.Finding{Code: policyError, Severity: check.Error, Pos: e.Pos, Message: e.Msg, Fix: e.Hint})
	}
	return out
}

// writeFindings returns a function that writes findings. The format must be able to contain
// findings.
func writeFindings(format string, tool check.Tool, findings []check.Finding) func(io.Writer) error {
	return func(w io.Writer) error { return check.FindFormat(format).Findings(w, tool, findings) }
}
