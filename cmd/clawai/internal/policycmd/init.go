package policycmd

import (
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
	"github.com/clawai/clawai/internal/atomicfile"
	"github.com/clawai/clawai/internal/config"
)

func initCommand() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "write a starter policy",
		UsageText: "clawai policy init --profile NAME... [--output FILE] [--force]\nclawai policy init --list",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "profile", Usage: "the `NAME` of a starter policy (repeatable: in one file)"},
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
		if len(names) > 0 || c.String("output") != "" || c.Bool("force") {
			return cmdline.Usagef("--list goes with --json only")
		}
		return listProfiles(c)
	}
	src, err := starter(names)
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
	w, err := writeStarter(c, src)
	if err != nil {
		return err
	}
	w.Profiles = names
	if c.Bool("json") {
		return cmdline.WriteJSON(c.App.Writer, w)
	}
	return w.tell(c.App.Writer)
}

func listProfiles(c *cli.Context) error {
	if c.Bool("json") {
		return cmdline.WriteJSON(c.App.Writer, fixtures.Profiles())
	}
	for _, p := range fixtures.Profiles() {
		fmt.Fprintf(c.App.Writer, "%-11s %-63s %s\n", p.Name, p.Summary, p.Server)
	}
	return nil
}

// starter is the text of the profiles, or a usage error that lists what there is.
func starter(names []string) ([]byte, error) {
	var known []string
	for _, p := range fixtures.Profiles() {
		known = append(known, p.Name)
	}
	all := strings.Join(known, ", ")
	if len(names) == 0 {
		return nil, cmdline.Usagef("--profile is missing; one of %s (see: clawai policy init --list)", all)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, cmdline.Usagef("--profile: there is no profile %q; one of %s", name, all)
		}
	}
	return fixtures.Policy(names...)
}

// Starter is a starter policy on disk.
type Starter struct {
	Path     string   `json:"path"`
	Profiles []string `json:"profiles"`
	Rules    int      `json:"rules"`
	Revision string   `json:"revision"`

	own bool // it lies where the proxy looks by itself
}

// writeStarter writes the policy where the user wants it and loads it from there
// as the proxy would.
func writeStarter(c *cli.Context, src []byte) (Starter, error) {
	folders, err := config.Dirs()
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
	loaded, err := config.LoadPolicyFor(w.Path, policyfile.Options(folders.Home))
	if err != nil {
		return Starter{}, fmt.Errorf("the policy is written and the proxy would not take it: %w", err)
	}
	w.Rules, w.Revision = len(loaded.Policy.Rules()), loaded.Policy.Revision()
	return w, nil
}

// WriteNew writes the file; without force never over anything, a symlink included.
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

// tell says what was written and what to do with it.
func (w Starter) tell(out io.Writer) error {
	watch := "clawai wrap SERVER --observe"
	if !w.own { // clients start clawai with the usual policy
		watch = "clawai proxy --observe --policy " + cmdline.Quote([]string{w.Path}) + " --server NAME -- COMMAND..."
	}
	_, err := fmt.Fprintf(out, `Wrote %s: %s, revision %s.

Next:
  1. Put your own folders, branches and sites in: the comments say where.
  2. See what it would do while nothing is enforced:
     %s
     clawai log --decision deny
  3. Enforce it: the same without --observe.
`, w.Path, cmdline.Count(w.Rules, "1 rule", "%d rules"), w.Revision, watch)
	return err
}
