// Package doctorcmd is "clawai doctor": one check after the other, each with a fix.
package doctorcmd

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/term"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/internal/config"
)

// Command is "clawai doctor".
func Command() *cli.Command {
	return &cli.Command{
		Name:      "doctor",
		Usage:     "check this installation and say how to mend what is broken",
		UsageText: "clawai doctor [--json]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
		},
		Action: runDoctor,
	}
}

// Health is how a finding stands. Only broken makes the command fail.
type health string

const (
	healthy  health = "ok"
	doubtful health = "warning" // works, and may surprise
	broken   health = "broken"  // something of the product does not work, or does not protect
)

// finding is one thing a check has to say.
type finding struct {
	Check  string `json:"check"`
	Health health `json:"health"`
	Text   string `json:"text"`
	Fix    string `json:"fix,omitempty"` // what to do or to run, when not healthy

	Setting *settingDoc `json:"setting,omitempty"` // what the text says of one setting
	Channel *channelDoc `json:"rung,omitempty"`    // or of one channel
}

// diagnosis is what --json prints.
type diagnosis struct {
	OK       bool      `json:"ok"` // nothing is broken
	Findings []finding `json:"findings"`
}

func runDoctor(c *cli.Context) error {
	if err := cmdline.NoArguments(c); err != nil {
		return err
	}
	p := machine{ctx: c.Context}
	p.folders, p.foldersErr = config.Dirs()
	d := diagnosis{OK: true, Findings: []finding{}}
	for _, check := range checks {
		for _, f := range check.look(&p) {
			f.Check = check.name
			d.OK = d.OK && f.Health != broken
			d.Findings = append(d.Findings, f)
		}
	}
	var err error
	if c.Bool("json") {
		err = cmdline.WriteJSON(c.App.Writer, d)
	} else {
		err = d.print(c.App.Writer)
	}
	if err == nil && !d.OK {
		err = &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	return err
}

// print prints a line for each finding and one below it for what to do.
func (d diagnosis) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range d.Findings {
		fmt.Fprintf(t, "%s\t%s\t%s\n", f.Health, f.Check, term.Text(f.Text))
		if f.Fix != "" {
			fmt.Fprintf(t, "\t\tfix: %s\n", term.Text(f.Fix))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	verdict := "Nothing is broken."
	if n := d.count(broken); n > 0 {
		verdict = fmt.Sprintf("%d broken.", n)
	}
	if n := d.count(doubtful); n == 1 {
		verdict += " 1 warning."
	} else if n > 1 {
		verdict += fmt.Sprintf(" %d warnings.", n)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", verdict)
	return err
}

func (d diagnosis) count(h health) int {
	return len(slices.DeleteFunc(slices.Clone(d.Findings), func(f finding) bool { return f.Health != h }))
}
