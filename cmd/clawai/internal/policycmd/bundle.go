package policycmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/bundled"
	"github.com/clawai/clawai/internal/session/packs"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/policy"
)

func bundleCommand() *cli.Command {
	return &cli.Command{
		Name:      "bundle",
		Usage:     "make, sign and verify the rules of a team, as its laptops take them",
		UsageText: "clawai policy bundle COMMAND [options]",
		Description: "A bundle is one file: a policy, its packs, its fixtures and a counter, with signatures. It only tightens\n" +
			"the policy of a laptop, and it holds rules alone (docs/team.md).",
		Subcommands: []*cli.Command{
			{
				Name:      "key",
				Usage:     "make the pair of keys that signs and verifies bundles",
				UsageText: "clawai policy bundle key NAME --output FILE   (the secret key; FILE.pub is the public one)",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "the `FILE` for the secret key; it must not exist"},
				},
				Action: runBundleKey,
			},
			{
				Name:      "make",
				Usage:     "make a bundle of a policy, its packs and its fixtures, if these pass",
				UsageText: "clawai policy bundle make --policy FILE (--counter N | --after BUNDLE) --output FILE [options]",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "policy", Usage: "the policy `FILE`, with its packs beside it"},
					&cli.StringSliceFlag{Name: "fixture", Usage: "a fixture `FILE` (repeatable)"},
					&cli.StringSliceFlag{Name: "fixture-dir", Usage: "a `DIR` with fixtures, .json (repeatable)"},
					&cli.Uint64Flag{Name: "counter", Usage: "the number `N` of the bundle; laptops never go back to a smaller one"},
					&cli.StringFlag{Name: "after", Usage: "the last `BUNDLE`: the counter is one more than its"},
					&cli.StringFlag{Name: "key", Usage: "sign it with the secret key in this `FILE`"},
					&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "the `FILE` to write"},
				},
				Action: runBundleMake,
			},
			{
				Name:      "sign",
				Usage:     "add a signature to a bundle",
				UsageText: "clawai policy bundle sign --key FILE BUNDLE",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "key", Usage: "the secret key in this `FILE`"},
				},
				Action: runBundleSign,
			},
			{
				Name:      "verify",
				Usage:     "check a bundle as a laptop does: signature, policy, fixtures",
				UsageText: "clawai policy bundle verify --key FILE... BUNDLE",
				Flags: []cli.Flag{
					&cli.StringSliceFlag{Name: "key", Usage: "the public key in this `FILE` (repeatable: one of them must have signed)"},
					&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
				},
				Action: runBundleVerify,
			},
		},
	}
}

// maxKey is the maximum size of a file with a key, in bytes.
const maxKey = 4096

func runBundleKey(c *cli.Context) error {
	args, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	to := c.String("output")
	if len(args) != 1 || to == "" {
		return cmdline.Usagef("name the key and its file; write: clawai policy bundle key team.example --output team.key")
	}
	secret, public, err := bundle.NewKey(args[0])
	if err != nil {
		return cmdline.Usagef("%w", err)
	}
	// The secret key is never overwritten. If it were lost, nobody could sign a new bundle that
	// laptops accept.
	for _, f := range []struct {
		path, text string
		mode       fs.FileMode
	}{{to, secret, 0o600}, {to + ".pub", public, 0o644}} {
		if err := createFile(f.path, f.text+"\n", f.mode); err != nil {
			return err
		}
	}
	out := cmdline.ProseWriter(c.App.Writer)
	fmt.Fprintf(out, "%s signs: keep it where only who signs can read it.\n%s verifies: %s\n", policy.FileName(to), policy.FileName(to+".pub"), public)
	return nil
}

func createFile(path, text string, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return cmdline.Usagef("%s is there already; a key is never replaced, so name another file", policy.FileName(path))
	}
	if err != nil {
		return cmdline.Usagef("%w", err)
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func runBundleMake(c *cli.Context) error {
	if err := cmdline.NoArguments(c); err != nil {
		return err
	}
	path, to := c.String("policy"), c.String("output")
	if path == "" || to == "" {
		return cmdline.Usagef("name the policy and the file to write; write: clawai policy bundle make --policy FILE --counter 1 --output FILE")
	}
	b := bundle.Bundle{Created: time.Now()}
	var err error
	if b.Counter, err = bundleCounter(c); err != nil {
		return err
	}
	src, err := readPolicyFile(path)
	if err != nil {
		return err
	}
	if b.Files, err = bundleFiles(c, path, src); err != nil {
		return err
	}
	text, err := bundle.Write(b)
	if err != nil {
		return cmdline.Usagef("%w", err)
	}
	trial, err := tryBundle(&b, path)
	if err != nil {
		return cmdline.Usagef("no bundle was made: %w", err)
	}
	if err := trial.Err(); err != nil {
		return &cmdline.ExitError{Code: cmdline.ExitFailed, Err: fmt.Errorf("no bundle was made: %w", err)}
	}
	if name := c.String("key"); name != "" {
		if text, err = signWith(text, name); err != nil {
			return err
		}
	}
	if err := atomicfile.Write(to, text, atomicfile.Options{Mode: 0o644}); err != nil {
		return err
	}
	out := cmdline.ProseWriter(c.App.Writer)
	fmt.Fprintf(out, "%s: counter %d, %s, %s.\n", policy.FileName(to), b.Counter, policyfile.CountRules(trial.Rules), fixturesText(trial.Summary))
	if c.String("key") == "" {
		fmt.Fprintf(out, "It is not signed yet: clawai policy bundle sign --key FILE %s\n", cmdline.Quote([]string{to}))
	}
	return nil
}

func fixturesText(s check.Summary) string {
	return cmdline.CountText(s.Fixtures, "one fixture passes", "%d fixtures pass")
}

func bundleCounter(c *cli.Context) (uint64, error) {
	after := c.String("after")
	if c.IsSet("counter") == (after != "") {
		return 0, cmdline.Usagef("give the bundle's number with --counter N, or the bundle before it with --after BUNDLE")
	}
	if after == "" {
		return c.Uint64("counter"), nil
	}
	src, err := cmdline.ReadNamed(after, bundle.MaxSize)
	if err != nil {
		return 0, cmdline.Usagef("--after: %w", err)
	}
	last, err := bundle.ReadUnsigned(src)
	if err != nil {
		return 0, cmdline.Usagef("--after: %s: %w", policy.FileName(after), err)
	}
	return last.Counter + 1, nil
}

// bundleFiles returns the files of a bundle: the policy, the packs next to the policy, and the
// fixtures.
func bundleFiles(c *cli.Context, path string, src []byte) ([]bundle.File, error) {
	files := []bundle.File{{Name: bundle.PolicyName, Text: src}}
	packs, err := bundle.PackNames(src)
	if err != nil {
		return nil, cmdline.Usagef("no bundle was made: %w", err)
	}
	add := func(name, path string) error {
		text, err := cmdline.ReadNamed(path, bundle.MaxSize)
		if err != nil {
			return cmdline.Usagef("%w", err)
		}
		files = append(files, bundle.File{Name: name, Text: text})
		return nil
	}
	for _, name := range packs {
		if err := add(name, filepath.Join(filepath.Dir(path), name)); err != nil {
			return nil, err
		}
	}
	for _, name := range c.StringSlice("fixture") {
		if err := add(bundle.FixtureName(filepath.Base(name)), name); err != nil {
			return nil, err
		}
	}
	for _, dir := range c.StringSlice("fixture-dir") {
		found, err := check.FindFixtures(dir)
		if err != nil {
			return nil, cmdline.Usagef("%w", err)
		}
		if len(found) == 0 {
			return nil, cmdline.Usagef("%s has no fixtures, which are .json files", policy.FileName(dir))
		}
		for _, name := range found {
			below, err := filepath.Rel(dir, name)
			if err != nil {
				return nil, err
			}
			if err := add(bundle.FixtureName(filepath.ToSlash(below)), name); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// tryBundle tests a bundle in the same way as a laptop does before it puts the bundle into force.
func tryBundle(b *bundle.Bundle, path string) (*bundled.Outcome, error) {
	folders, err := config.ReadFolders()
	if err != nil {
		return nil, err
	}
	return bundled.Try(nil, b, path, policyfile.PolicyOptions(folders.Home), packs.ParsePack)
}

// signWith signs a bundle with the secret key in a file. The parameter name is the path of this
// file. It returns an error if other users can read that file.
func signWith(text []byte, name string) ([]byte, error) {
	key, err := config.ReadSecret(name)
	if err != nil {
		return nil, cmdline.Usagef("--key: %w", err)
	}
	if text, err = bundle.Sign(text, string(key)); err != nil {
		return nil, cmdline.Usagef("--key %s: %w", policy.FileName(name), err)
	}
	return text, nil
}

func runBundleSign(c *cli.Context) error {
	name, old, err := readBundle(c)
	if err != nil {
		return err
	}
	if c.String("key") == "" {
		return cmdline.Usagef("name the secret key; write: clawai policy bundle sign --key FILE BUNDLE")
	}
	text, err := signWith(old, c.String("key"))
	if err != nil {
		return err
	}
	if err := atomicfile.Write(name, text, atomicfile.Options{Old: old}); err != nil {
		return err
	}
	fmt.Fprintf(cmdline.ProseWriter(c.App.Writer), "%s is signed.\n", policy.FileName(name))
	return nil
}

// readBundle reads the bundle that the command line names.
func readBundle(c *cli.Context) (name string, src []byte, err error) {
	args, err := cmdline.ParseArguments(c)
	if err != nil {
		return "", nil, err
	}
	if len(args) != 1 {
		return "", nil, cmdline.Usagef("name one bundle; write: clawai policy bundle %s --key FILE BUNDLE", c.Command.Name)
	}
	if src, err = cmdline.ReadNamed(args[0], bundle.MaxSize); err != nil {
		return "", nil, cmdline.Usagef("%w", err)
	}
	return args[0], src, nil
}

// bundleDoc is the output of "policy bundle verify --json".
type bundleDoc struct {
	Counter  uint64   `json:"counter"`
	Created  string   `json:"created"` // RFC 3339, UTC
	Signers  []string `json:"signers"`
	Revision string   `json:"revision"`
	Files    []string `json:"files"`
	Fixtures int      `json:"fixtures"`
	Problems []string `json:"problems"`
}

func runBundleVerify(c *cli.Context) error {
	name, src, err := readBundle(c)
	if err != nil {
		return err
	}
	var keys []string
	for _, file := range c.StringSlice("key") {
		text, err := cmdline.ReadNamed(file, maxKey)
		if err != nil {
			return cmdline.Usagef("--key: %w", err)
		}
		keys = append(keys, strings.Fields(string(text))...)
	}
	if len(keys) == 0 {
		return cmdline.Usagef("name the public key of who signs; write: clawai policy bundle verify --key FILE BUNDLE")
	}
	b, signers, err := bundle.Read(src, keys)
	if err != nil {
		return &cmdline.ExitError{Code: cmdline.ExitFailed, Err: fmt.Errorf("%s: %w", policy.FileName(name), err)}
	}
	trial, err := tryBundle(&b, bundle.PolicyName)
	if err != nil {
		return &cmdline.ExitError{Code: cmdline.ExitFailed, Err: fmt.Errorf("%s: %w", policy.FileName(name), err)}
	}
	doc := bundleDoc{b.Counter, b.Created.Format(time.RFC3339), signers, trial.Rules.Revision(), []string{}, trial.Summary.Fixtures, append([]string{}, trial.Problems...)}
	for _, f := range b.Files {
		doc.Files = append(doc.Files, f.Name)
	}
	if c.Bool("json") {
		if err := cmdline.WriteASCIIJSON(c.App.Writer, doc); err != nil {
			return err
		}
	} else {
		out := cmdline.ProseWriter(c.App.Writer)
		fmt.Fprintf(out, "%s: counter %d, made %s, signed by %s, revision %s\n%s, %s, %s\n", policy.FileName(name), doc.Counter, doc.Created, strings.Join(signers, ", "),
			doc.Revision, policyfile.CountRules(trial.Rules), cmdline.CountText(len(b.Packs()), "one pack", "%d packs"), cmdline.CountText(doc.Fixtures, "one fixture", "%d fixtures"))
		for _, problem := range doc.Problems {
			fmt.Fprintf(out, "  %s\n", problem)
		}
	}
	if len(doc.Problems) > 0 {
		return &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	return nil
}
