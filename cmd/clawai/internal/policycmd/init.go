package policycmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

func initCommand() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "write a starter policy",
		UsageText: "clawai policy init --profile NAME... [--server NAME...] [--output FILE] [--force]\nclawai policy init --list",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "profile", Usage: "the `NAME` of a starter policy (repeatable: in one file)"},
			&cli.StringSliceFlag{Name: "server", Usage: "the `NAME` of the server that the rules are about, as your client has it (repeatable; default: every server)"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "the `FILE` to write, - for standard output (default: policy.toml in the configuration folder)"},
			&cli.BoolFlag{Name: "force", Usage: "replace a policy that is there"},
			&cli.BoolFlag{Name: "list", Usage: "list the profiles"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
		},
		Action: runInit,
	}
}

func runInit(c *cli.Context) error {
	if err := cmdline.NoArguments(c); err != nil {
		return err
	}
	names := c.StringSlice("profile")
	if c.Bool("list") {
		if len(names) > 0 || len(c.StringSlice("server")) > 0 || c.String("output") != "" || c.Bool("force") {
			return cmdline.Usagef("--list goes with --json only")
		}
		return listProfiles(c)
	}
	src, err := starterText(names, c.StringSlice("server"))
	if err != nil {
		return err
	}
	if c.String("output") == "-" {
		if c.Bool("json") || c.Bool("force") {
			return cmdline.Usagef("--output - prints the policy and nothing else")
		}
		_, err := c.App.Writer.Write(src)
		return err
	}
	if onlyTiers(names) {
		return cmdline.Usagef("--profile %s judges what comes back and opens no call: name a starter beside it, or write --output - and copy its rules into a policy", names[0])
	}
	w, err := writeStarter(c, src)
	if err != nil {
		return err
	}
	w.Profiles = names
	if c.Bool("json") {
		return cmdline.WriteJSON(c.App.Writer, w)
	}
	return w.tellNext(cmdline.ProseWriter(c.App.Writer))
}

func listProfiles(c *cli.Context) error {
	if c.Bool("json") {
		return cmdline.WriteJSON(c.App.Writer, slices.Concat(fixtures.ListProfiles(), fixtures.ListTiers()))
	}
	w := cmdline.ProseWriter(c.App.Writer)
	for _, p := range fixtures.ListProfiles() {
		fmt.Fprintf(w, "%-19s  %s (%s)\n", p.Name, p.Summary, p.Server)
	}
	for _, p := range fixtures.ListTiers() {
		fmt.Fprintf(w, "%-19s  %s (any server)\n", p.Name, p.Summary)
	}
	return nil
}

func onlyTiers(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		return !slices.ContainsFunc(fixtures.ListTiers(), func(p fixtures.Profile) bool { return p.Name == name })
	})
}

// starterText returns the text of the profiles, for the given servers or for all. For an unknown
// profile it returns an error that lists the known profiles.
func starterText(names, servers []string) ([]byte, error) {
	var known []string
	for _, p := range slices.Concat(fixtures.ListProfiles(), fixtures.ListTiers()) {
		known = append(known, p.Name)
	}
	if len(names) == 0 {
		return nil, cmdline.Usagef("--profile is missing; one of %s (see: clawai policy init --list)", strings.Join(known, ", "))
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, cmdline.UnknownWord("--profile", "profile", name, known)
		}
	}
	src, err := fixtures.ComposePolicy(names...)
	if err != nil {
		return nil, cmdline.Usagef("--profile: %v", err)
	}
	if len(servers) == 0 {
		return src, nil
	}
	rules, closed := bytes.CutSuffix(src, []byte(fixtures.Closing))
	for _, server := range servers {
		if err := CheckNameable(server); err != nil {
			return nil, cmdline.Usagef("--server: %v", err)
		}
	}
	about, err := policytext.ForServers(rules, servers)
	if closed {
		about = append(about, fixtures.Closing...)
	}
	return about, err
}

// CheckNameable returns an error if no rule can be about this server alone, for example because the
// name has a glob character.
func CheckNameable(name string) error {
	src := policytext.WriteRule(policytext.StringPair("action", "deny"), policytext.StringPair("server", name), policytext.StringPair("tool", "*"))
	if _, err := policy.Parse("", []byte(src), policy.Options{}); err != nil || strings.ContainsAny(name, "*?") {
		return fmt.Errorf("server %s: no rule can speak of this name alone; give it another one", term.VisibleValue(name))
	}
	return nil
}

// Starter is a starter policy on disk.
type Starter struct {
	Path     string   `json:"path"`
	Profiles []string `json:"profiles"`
	Rules    int      `json:"rules"`
	Revision string   `json:"revision"`

	own bool // the proxy finds the file without --policy
}

// writeStarter writes a starter policy to the file that the user wants. Then it loads the policy
// from there as the proxy would.
func writeStarter(c *cli.Context, src []byte) (Starter, error) {
	folders, err := config.ReadFolders()
	if err != nil {
		return Starter{}, err
	}
	w := Starter{Path: c.String("output")}
	if w.Path == "" {
		w.Path, w.own = folders.PolicyFile(), true
		if err := config.PrivateFolder(folders.Config); err != nil {
			return Starter{}, fmt.Errorf("cannot write a policy: %w", err)
		}
	} else if w.Path, err = filepath.Abs(w.Path); err != nil {
		return Starter{}, err
	}
	if err := WriteNew(w.Path, src, c.Bool("force")); err != nil {
		return Starter{}, err
	}
	loaded, err := config.LoadPolicyFor(w.Path, policyfile.PolicyOptions(folders.Home))
	if err != nil {
		return Starter{}, fmt.Errorf("the policy is written and the proxy would not take it: %w", err)
	}
	w.Rules, w.Revision = len(loaded.Policy.Rules()), loaded.Policy.Revision()
	return w, nil
}

// WriteNew writes a file. Without force it never replaces anything, not even a symbolic link.
func WriteNew(path string, src []byte, force bool) error {
	if force {
		return atomicfile.Write(path, src, atomicfile.Options{Mode: 0o600})
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("there is a policy at %s already; it is left as it is (look at the new one with --output -, or replace it with --force)", path)
	}
	if err != nil {
		return fmt.Errorf("cannot write a policy: %w", err)
	}
	_, err = f.Write(src)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(path))
	}
	return nil
}

// tellNext prints what was written, and the next steps for the user.
func (w Starter) tellNext(out io.Writer) error {
	watch := "clawai wrap SERVER --observe"
	if !w.own { // clients start clawai without --policy, so they would not use this file
		watch = "clawai proxy --observe --policy " + cmdline.Quote([]string{w.Path}) + " --server NAME -- COMMAND..."
	}
	_, err := fmt.Fprintf(out, `Wrote %s: %s, revision %s.

Next:
  1. Put your own folders, branches and sites in: the comments say where.
  2. See what it would do while nothing is enforced:
     %s
     clawai log --decision deny
  3. Enforce it: the same without --observe.
`, w.Path, cmdline.CountText(w.Rules, "1 rule", "%d rules"), w.Revision, watch)
	return err
}
