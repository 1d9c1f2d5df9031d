package policycmd

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/lint"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
)

func lintCommand() *cli.Command {
	return &cli.Command{
		Name:      "lint",
		Usage:     "find rules that do not do what they seem to",
		UsageText: "clawai policy lint [options] [--policy FILE | FILE...]   (without FILE: your own policy)",
		Flags: slices.Concat(reportFlags(check.FormatNames(false)), []cli.Flag{
			&cli.StringSliceFlag{Name: "policy", Usage: "the policy `FILE` (repeatable)"},
			&cli.StringSliceFlag{Name: "layer", Usage: "a `FILE` above the policy, for findings about both (repeatable; without FILE: the layers in force here)"},
			&cli.StringFlag{Name: "severity", Value: string(check.Warning), Usage: "the lowest `WEIGHT` that is reported and fails: error, warning, note"},
			&cli.BoolFlag{Name: "record", Usage: "compare with the tools and arguments in the record"},
			&cli.StringFlag{Name: "home", Value: "/home/user", Usage: "what ~ means, the same on every machine: `DIR`"},
		}),
		Action: runLint,
	}
}

func runLint(c *cli.Context) error {
	names, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	files := append(c.StringSlice("policy"), names...)
	layers := config.Layers{}
	if len(files) == 0 {
		if files, err = policyFiles(c); err != nil {
			return err
		}
		if _, layers, err = OwnPolicy(); err != nil {
			return err
		}
	}
	layers.More = c.StringSlice("layer")
	format, err := formatOf(c, check.FormatNames(false))
	if err != nil {
		return err
	}
	least := check.Severity(c.String("severity"))
	if !slices.Contains(check.Severities(), least) {
		return cmdline.UnknownWord("--severity", "weight", string(least), []string{"error", "warning", "note"})
	}
	var o lint.Options
	if c.Bool("record") {
		if o, err = declaredInRecord(c); err != nil {
			return err
		}
	}
	above, notes, err := layers.LoadAbove(lintOptions(c.String("home")))
	if err != nil {
		return cmdline.Usagef("a layer does not load; to look at the policy alone, write clawai policy lint FILE:\n%w", err)
	}
	for _, note := range notes {
		fmt.Fprintf(cmdline.ProseWriter(c.App.ErrWriter), "clawai: %s\n", note)
	}
	var all []lint.Linted
	for _, path := range files {
		l, err := lintFile(path, c.String("home"), above, o)
		if err != nil {
			return err
		}
		all = append(all, l)
	}
	if err := writeReport(c, proseReport(format, lintMarks, writeLinted(format, all, least))); err != nil {
		return err
	}
	for _, l := range all {
		if l.HasFailed(least) {
			return &cmdline.ExitError{Code: cmdline.ExitFailed}
		}
	}
	return nil
}

// lintOptions returns the options for reading the linted policy. They are the same on every machine.
func lintOptions(home string) policy.Options {
	o := policyfile.DraftOptions(home)
	o.Disk = disk.PlainDisk()
	return o
}

func lintFile(path, home string, above []*policy.Policy, o lint.Options) (lint.Linted, error) {
	name, src, err := readNamed(path)
	if err != nil {
		return lint.Linted{}, cmdline.Usagef("%w", err)
	}
	where := lintOptions(home)
	p, err := policy.Parse(name, src, where)
	if err == nil && len(above) > 0 {
		where.Above = above
		o.Whole, err = policy.Parse(name, src, where)
	}
	if err != nil {
		return lint.Linted{}, cmdline.Usagef("the policy does not load:\n%w", err)
	}
	o.File = name
	return lint.Linted{File: name, Revision: p.Revision(), Report: lint.Run(p, src, o)}, nil
}

func writeLinted(format string, all []lint.Linted, least check.Severity) func(io.Writer) error {
	switch format {
	case "json":
		return func(w io.Writer) error { return lint.WriteJSON(w, all, least) }
	case "text":
		return func(w io.Writer) error {
			for _, l := range all {
				if err := l.WriteText(w, l.File, least); err != nil {
					return err
				}
			}
			return nil
		}
	}
	var findings []check.Finding
	for _, l := range all {
		findings = append(findings, l.AtLeast(least)...)
	}
	return writeFindings(format, lint.DescribeTool(cmdline.Version), findings)
}

// declaredInRecord reads two things from the record: the tools that servers have declared, and the
// names of the arguments in calls.
func declaredInRecord(c *cli.Context) (lint.Options, error) {
	o := lint.Options{Servers: map[string][]string{}, Arguments: map[string][]string{}}
	dir, err := record.FindLogDir()
	if err != nil {
		return o, err
	}
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return o, cmdline.Usagef("--record: there is no record yet in %s", dir)
	}
	arguments := map[string]map[string]int{}
	_, err = record.ShowEach(audit.Read(dir, audit.Filter{Kinds: []event.Kind{event.Listed, event.Decision}}), func(e *event.Entry) error {
		switch {
		case e.Kind == event.Listed && e.Method == "tools/list":
			if server := e.Server; server != "" {
				o.Servers[server] = append(o.Servers[server], e.Declared...)
			}
		case e.Kind == event.Decision && e.Subject == policy.ToolSubject.RuleKey() && len(e.Names) == 1:
			tool := e.Names[0]
			gjson.ParseBytes(e.Args).ForEach(func(key, _ gjson.Result) bool {
				if arguments[tool] == nil {
					arguments[tool] = map[string]int{}
				}
				arguments[tool][key.String()]++
				return true
			})
		}
		return nil
	}, c.App.ErrWriter)
	for server, names := range o.Servers {
		slices.Sort(names)
		o.Servers[server] = slices.Compact(names)
	}
	for tool, names := range arguments {
		o.Arguments[tool] = mostUsedSpellings(names)
	}
	return o, err
}

// mostUsedSpellings returns the names in uses, which maps each name to the number of its uses. If
// some names differ only in upper and lower case, it returns only the name with the most uses,
// because the others are probably mistakes.
func mostUsedSpellings(uses map[string]int) []string {
	best := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		folded := strings.ToLower(name)
		if now, found := best[folded]; !found || uses[name] > uses[now] || uses[name] == uses[now] && name == folded {
			best[folded] = name
		}
	}
	return slices.Sorted(maps.Values(best))
}
