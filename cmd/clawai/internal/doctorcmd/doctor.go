// Package doctorcmd implements "clawai doctor". It runs checks in sequence. Each problem that it
// finds has advice on how to fix it.
package doctorcmd

import (
	"github.com/clawai/clawai/cmd/clawai/internal/canary"
	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/leaks"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/internal/state/config"
)

// Command returns "clawai doctor".
func Command() *cli.Command {
	return &cli.Command{
		Name:      "doctor",
		Usage:     "check this installation and say how to mend what is broken",
		UsageText: "clawai doctor [--all] [--json]\nclawai doctor --hooks [--json]\nclawai doctor --canary CLIENT [--json]\nclawai doctor --live CLIENT [--json]\nclawai doctor --tables",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "a line for each check, also where all is well"},
			&cli.BoolFlag{Name: "hooks", Usage: "only the hooks of clients, in detail: which versions are here, and when a hook last fired"},
			&cli.StringFlag{Name: "canary", Usage: "start `CLIENT` once (one of those that docs/hooks.md names), without its account and with a scripted model on this machine, and see whether its hook stops what a policy denies"},
			&cli.StringFlag{Name: "live", Usage: "the same for `CLIENT` without its hook, behind clawai llm-proxy: see whether its calls come there and what is denied does not run"},
			&cli.BoolFlag{Name: "tables", Usage: "only print, for the policy, what is known of servers without a [server.NAME] table"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
		},
		Action: runDoctor,
	}
}

// health is the state of a finding. Only broken gives doctor an exit code other than 0.
type health string

const (
	healthy  health = "ok"
	doubtful health = "warning" // works, but may surprise the person
	broken   health = "broken"  // a part of clawai does not work or does not protect
)

// finding is one result of a check.
type finding struct {
	Check  string `json:"check"`
	Health health `json:"health"`
	Text   string `json:"text"`
	Fix    string `json:"fix,omitempty"` // advice on a finding that is not healthy: an action or a command

	Setting *settingDoc `json:"setting,omitempty"` // set if the finding is about one setting
	Channel *channelDoc `json:"rung,omitempty"`    // set if the finding is about one channel
	// Leaks is set if the finding is about servers that can leak data together.
	Leaks []leaks.Leak `json:"leaks,omitempty"`

	Canary *canary.Result `json:"canary,omitempty"` // set if a client was tried
}

// diagnosis is the output of --json.
type diagnosis struct {
	OK       bool      `json:"ok"` // true if no finding is broken
	Findings []finding `json:"findings"`
}

func runDoctor(c *cli.Context) error {
	if err := cmdline.NoArguments(c); err != nil {
		return err
	}
	p := machine{ctx: c.Context, hooks: c.Bool("hooks")}
	p.folders, p.foldersErr = config.ReadFolders()
	if c.Bool("tables") {
		if c.Bool("all") || c.Bool("hooks") || c.Bool("json") || c.IsSet("canary") || c.IsSet("live") {
			return cmdline.Usagef("--tables goes with no other flag")
		}
		return printTables(c.App.Writer, &p)
	}
	look := checks
	tries := ""
	for _, name := range []string{"canary", "live"} {
		if !c.IsSet(name) {
			continue
		}
		if c.Bool("all") || c.Bool("hooks") || tries != "" {
			return cmdline.Usagef("--%s goes with --json alone", name)
		}
		tries = name
	}
	switch tries {
	case "live":
		h, err := liveHooks(&p, c.String("live"))
		if err != nil {
			return err
		}
		look = []check{{"live", func(p *machine) []finding { return runLive(p.ctx, h) }}}
	case "canary":
		h, why, err := hooksOf(&p, c.String("canary"))
		if err != nil {
			return err
		}
		look = []check{{"canary", func(p *machine) []finding { return runCanary(p.ctx, h, why) }}}
	}
	d := diagnosis{OK: true, Findings: []finding{}}
	for _, check := range look {
		if p.hooks && check.name != "hooks" {
			continue
		}
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
		err = d.printFindings(c.App.Writer, c.Bool("all") || p.hooks || tries != "")
	}
	if err == nil && !d.OK {
		err = &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	return err
}
