package logcmd

import (
	"fmt"
	"io"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/courier"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/text/term"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/checkpoint"
	"github.com/clawai/clawai/internal/state/config"
)

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check that no record was changed, inserted or removed",
		UsageText: "clawai log verify [--json] [--head HASH]\nclawai log verify [--json] --gateway [--gateway-key KEY]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "head", Usage: "the `HASH` that an earlier verify printed and you kept elsewhere"},
			&cli.BoolFlag{Name: "gateway", Usage: "compare the record with what the team's centre holds of it, and with the checkpoints that it signed"},
			&cli.StringFlag{Name: "gateway-key", Usage: "the public `KEY` of the centre's checkpoints, in the place of the one it named at clawai enroll"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
		},
		Action: verifyLog,
	}
}

func verifyLog(c *cli.Context) error {
	if err := ownOptions(c); err != nil {
		return err
	}
	if c.Bool("gateway") {
		return verifyAtCentre(c)
	}
	if c.IsSet("gateway-key") {
		return cmdline.Usagef("--gateway-key is for --gateway; write: clawai log verify --gateway --gateway-key KEY")
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

// verifyAtCentre compares the record with its copy at the team's centre.
func verifyAtCentre(c *cli.Context) error {
	if c.IsSet("head") {
		return cmdline.Usagef("--head is for the record alone; run the command once with it, and once with --gateway")
	}
	if key := c.String("gateway-key"); c.IsSet("gateway-key") {
		if err := checkpoint.CheckKey(key); err != nil {
			return cmdline.Usagef("--gateway-key: %w; it is the text in checkpoint.key.pub at the centre", err)
		}
	}
	folders, err := config.ReadFolders()
	if err != nil {
		return err
	}
	is, err := courier.NewCourier(folders)
	if err != nil {
		return err
	}
	defer is.Close()
	report, err := is.Compare(c.Context, c.String("gateway-key"))
	if err != nil {
		return err
	}
	if c.Bool("json") {
		err = cmdline.WriteJSON(c.App.Writer, struct {
			Intact bool `json:"intact"`
			courier.Comparison
		}{len(report.Findings) == 0, report})
	} else {
		printComparison(cmdline.ProseWriter(c.App.Writer,
			cmdline.Mark{Pattern: `^(The same):`, Color: cmdline.Green},
			cmdline.Mark{Pattern: `^(FINDING|The record here and the centre differ)\b`, Color: cmdline.Red}), &report)
	}
	if err == nil && len(report.Findings) > 0 {
		err = &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	return err
}

func printComparison(w io.Writer, r *courier.Comparison) {
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note     %s\n", FindingText(n))
	}
	for _, f := range r.Findings {
		fmt.Fprintf(w, "FINDING  %s\n", FindingText(f))
	}
	if r.Checkpoint != nil {
		fmt.Fprintf(w, "The checkpoint of %s holds, and has %s.\n", r.Checkpoint.Made.Format("2006-01-02 15:04:05Z"), cmdline.CountText(r.Proved, "1 segment of this laptop", "%d segments of this laptop"))
	}
	if len(r.Findings) > 0 {
		fmt.Fprintf(w, "The record here and the centre differ: %s. Tell the owner of %s.\n", cmdline.CountText(len(r.Findings), "1 finding", "%d findings"), term.VisibleText(r.URL))
		return
	}
	fmt.Fprintf(w, "The same: %s, %d bytes, here and at %s.\n", cmdline.CountText(r.Segments, "1 segment", "%d segments"), r.Bytes, term.VisibleText(r.URL))
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

// FindingText returns a finding about the record as one line.
func FindingText(f audit.Finding) string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s", term.VisibleText(f.File), term.VisibleText(f.What))
	}
	return fmt.Sprintf("%s:%d: %s", term.VisibleText(f.File), f.Line, term.VisibleText(f.What))
}
