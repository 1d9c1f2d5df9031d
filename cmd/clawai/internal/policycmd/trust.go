package policycmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/ask/choose"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
)

func trustCommand() *cli.Command {
	return &cli.Command{
		Name:      "trust",
		Usage:     "put a project's .clawai/policy.toml in force, as it is now; it can only tighten yours",
		UsageText: "clawai policy trust [DIR] [--yes | --remove] | FILE [--yes] | --list [--json]",
		Description: "FILE is a policy that lost rules or its end mark, or is gone, while proxies run. They keep its\n" +
			"last good text: trusting the file puts it in force as it is now.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "yes", Usage: "ask nothing"},
			&cli.BoolFlag{Name: "remove", Usage: "end the trust, whether the file is still there or not"},
			&cli.BoolFlag{Name: "list", Usage: "list the projects that are trusted"},
			&cli.BoolFlag{Name: "json", Usage: "with --list: print one JSON document"},
		},
		Action: runTrust,
	}
}

func runTrust(c *cli.Context) error {
	args, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	folders, err := config.ReadFolders()
	if err != nil {
		return err
	}
	switch {
	case c.Bool("list"):
		return listTrusted(c, folders.State)
	case c.Bool("json"):
		return cmdline.Usagef("--json goes with --list")
	}
	dir := "."
	switch len(args) {
	case 0:
	case 1:
		dir = args[0]
	default:
		return cmdline.Usagef("one project at a time; write: clawai policy trust [DIR]")
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if info, err := os.Stat(dir); len(args) == 1 && filepath.Ext(dir) == ".toml" && (err != nil || !info.IsDir()) {
		if c.Bool("remove") {
			return cmdline.Usagef("--remove ends the trust in a project; name its folder")
		}
		return confirmPolicy(c, folders, dir)
	}
	p, err := config.FindProject(folders.State, dir)
	if err != nil {
		return cmdline.Usagef("%w", err)
	}
	if p.Path == "" {
		return cmdline.Usagef("neither %s nor a folder above it has a .clawai/policy.toml", term.VisibleText(dir))
	}
	if c.Bool("remove") {
		return endTrust(cmdline.ProseWriter(c.App.Writer), folders.State, p)
	}
	return trustProject(c, folders, p)
}

func trustProject(c *cli.Context, folders config.Folders, p config.Project) error {
	shown := term.VisibleText(p.Path)
	switch {
	case p.Text == nil:
		return cmdline.Usagef("%s is gone; the text that you trusted stays in force until: clawai policy trust %s --remove",
			shown, term.VisibleText(cmdline.Quote([]string{filepath.Dir(filepath.Dir(p.Path))})))
	case p.Trusted != nil && bytes.Equal(p.Text, p.Trusted):
		fmt.Fprintf(cmdline.ProseWriter(c.App.Writer), "%s is trusted already, since %s.\n", shown, p.Since.Local().Format(time.DateTime))
		return nil
	}
	o := policyfile.PolicyOptions(folders.Home)
	o.Layer = "project"
	o.Extend = func(x policy.Extension) (string, []byte, error) {
		if x.File != "" {
			return "", nil, errors.New("a project's policy extends no files: what they hold would not be part of what you trust")
		}
		return base.ReadExtension(x)
	}
	o.Pack = func(policy.PackFile) (policy.Pack, error) {
		return nil, errors.New("a project's policy has no packs: what they hold would not be part of what you trust")
	}
	rules, err := policy.Parse(p.Path, p.Text, o)
	if err != nil {
		return cmdline.Usagef("it does not load, and was not trusted:\n%w", err)
	}
	printText(cmdline.ProseWriter(c.App.Writer), p.Text)
	fmt.Fprintf(cmdline.ProseWriter(c.App.Writer), "%s: %s. A project's policy denies and asks; what it allows, yours has to allow.\n", shown, policyfile.CountRules(rules))
	if p.Trusted != nil {
		fmt.Fprintf(cmdline.ProseWriter(c.App.Writer), "It has changed since you trusted it on %s.\n", p.Since.Local().Format(time.DateTime))
	}
	if err := askToTrust(c, "Trust it?"); err != nil {
		return err
	}
	if err := config.TrustProject(folders.State, p.Path, p.Text, time.Now()); err != nil {
		return fmt.Errorf("nothing was trusted: %w", err)
	}
	fmt.Fprintln(cmdline.ProseWriter(c.App.Writer), "Trusted, with this text: a change of the file counts when you trust it again.")
	return nil
}

// printText prints the text of a file in a form that is safe for a terminal.
func printText(w io.Writer, text []byte) {
	for line := range strings.Lines(string(text)) {
		fmt.Fprintf(w, "  %s\n", term.VisibleText(strings.TrimRight(line, "\r\n")))
	}
}

// askToTrust asks the person whether to continue. With --yes it does not ask. If it returns an
// error, the command must end.
func askToTrust(c *cli.Context, question string) error {
	return cmdline.ConfirmAction(c, question, "Nothing was trusted.", choose.HasTerminal(os.Stdin, os.Stdout))
}

func endTrust(w io.Writer, state string, p config.Project) error {
	ended, err := config.DistrustProject(state, p.Path)
	switch {
	case err != nil:
		return fmt.Errorf("nothing was changed: %w", err)
	case !ended:
		fmt.Fprintf(w, "%s was not trusted.\n", term.VisibleText(p.Path))
	default:
		fmt.Fprintf(w, "%s is not trusted any more.\n", term.VisibleText(p.Path))
	}
	return nil
}

// trustedDoc is one trusted project in the JSON output.
type trustedDoc struct {
	Path  string `json:"path"`  // path of the project's policy
	Since string `json:"since"` // RFC 3339, UTC
	State string `json:"state"` // the state of the file: same, changed, gone or unknown
}

var trustedStates = map[string]string{"gone": "  (the file is gone)", "changed": "  (the file has changed since)"}

func listTrusted(c *cli.Context, state string) error {
	known, err := config.ListProjects(state)
	if err != nil {
		return cmdline.Usagef("%w", err)
	}
	list := []trustedDoc{}
	for _, path := range slices.Sorted(maps.Keys(known)) {
		d := trustedDoc{Path: path, Since: known[path].UTC().Format(time.RFC3339), State: "same"}
		p, err := config.FindProject(state, filepath.Dir(filepath.Dir(path)))
		switch {
		case err != nil || p.Path != path:
			d.State = "unknown"
		case p.Text == nil:
			d.State = "gone"
		case !bytes.Equal(p.Text, p.Trusted):
			d.State = "changed"
		}
		list = append(list, d)
	}
	if c.Bool("json") {
		return cmdline.WriteASCIIJSON(c.App.Writer, struct {
			Trusted []trustedDoc `json:"trusted"`
		}{list})
	}
	if len(list) == 0 {
		fmt.Fprintln(cmdline.ProseWriter(c.App.Writer), "No project's policy is trusted.")
	}
	for _, d := range list {
		fmt.Fprintf(cmdline.ProseWriter(c.App.Writer), "%s  %s%s\n", known[d.Path].Local().Format(time.DateTime), term.VisibleText(d.Path), trustedStates[d.State])
	}
	return nil
}
