package logcmd

import (
	"fmt"
	"io"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/text/term"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/internal/state/audit"
)

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check that no record was changed, inserted or removed",
		UsageText: "clawai log verify [--json] [--head HASH]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "head", Usage: "the `HASH` that an earlier verify printed and you kept elsewhere"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
		},
		Action: verifyLog,
	}
}

func verifyLog(c *cli.Context) error {
	if err := ownOptions(c); err != nil {
		return err
	}
	dir, err := record.FindLogDir()
	if err != nil {
		return err
	}
	report, err := audit.Verify(dir, c.String("head"), audit.Retention{})
	if err != nil {
		return err
	}
	if c.Bool("json") {
		err = cmdline.WriteJSON(c.App.Writer, struct {
			Intact bool `json:"intact"`
			audit.Verification
		}{report.IsIntact(), report})
	} else {
		printReport(cmdline.ProseWriter(c.App.Writer,
			cmdline.Mark{Pattern: `^(Intact):`, Color: cmdline.Green},
			cmdline.Mark{Pattern: `^(FINDING|The record is not intact)\b`, Color: cmdline.Red}), &report)
	}
	if err == nil && !report.IsIntact() {
		err = &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	return err
}

func printReport(w io.Writer, r *audit.Verification) {
	if r.Head == "" && r.Segments == 0 && r.IsIntact() {
		fmt.Fprintln(w, "No records yet.")
		return
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note     %s\n", FindingText(n))
	}
	for _, f := range r.Findings {
		fmt.Fprintf(w, "FINDING  %s\n", FindingText(f))
	}
	if !r.IsIntact() {
		fmt.Fprintf(w, "The record is not intact: %s in %s of %s.\n",
			cmdline.CountText(len(r.Findings), "1 finding", "%d findings"), cmdline.CountText(r.Segments+1, "1 file", "%d files"), cmdline.CountText(int(r.Records), "1 record", "%d records"))
		return
	}
	fmt.Fprintf(w, "Intact: %s in %s, %d bytes.\n", cmdline.CountText(int(r.Records), "1 record", "%d records"), cmdline.CountText(r.Segments, "1 file", "%d files"), r.Bytes)
	fmt.Fprintf(w, "Kept elsewhere, this hash pins every file closed so far (clawai log verify --head HASH):\n%s\n", r.Head)
}

// FindingText returns a finding about the record on one line.
func FindingText(f audit.Finding) string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s", term.VisibleText(f.File), term.VisibleText(f.What))
	}
	return fmt.Sprintf("%s:%d: %s", term.VisibleText(f.File), f.Line, term.VisibleText(f.What))
}
