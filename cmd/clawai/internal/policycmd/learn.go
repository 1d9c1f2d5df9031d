package policycmd

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/ask/choose"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/learn"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
)

func learnCommand() *cli.Command {
	return &cli.Command{
		Name:      "learn",
		Usage:     "propose rules for what the record shows again and again",
		UsageText: "clawai policy learn [options] > FILE\nclawai policy learn --policy FILE --out FILE [options]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "policy", Usage: "keep the policy `FILE` and add to it (default: a new one)"},
			&cli.StringFlag{Name: "out", Usage: "write to `FILE`: a new one, or the one of --policy (default: standard output)"},
			&cli.StringFlag{Name: "fixtures", Usage: "write fixtures for the rules into the folder `DIR`"},
			&cli.StringFlag{Name: "since", Usage: "only records not older than `TIME`: 30d, 2026-01-31, or RFC 3339"},
			&cli.StringFlag{Name: "server", Usage: "only the server `NAME` (a glob)"},
			&cli.StringFlag{Name: "observed", Value: "reads", Usage: "the `MODE` for calls that were only watched (--observe): reads (allow what only reads), allow (also what writes), prompt (ask)"},
			&cli.IntFlag{Name: "min-count", Value: 3, Usage: "learn from at least `N` calls"},
			&cli.Float64Flag{Name: "min-share", Value: 0.9, Usage: "at least this `PART` of your answers must be yes"},
			&cli.BoolFlag{Name: "links", Usage: "ask the disk where links lead (where.<name>.under): for servers on this machine"},
			&cli.BoolFlag{Name: "interactive", Usage: "go through the rules one by one at the terminal"},
			&cli.StringFlag{Name: "home", Usage: "what ~ means: `DIR` (default: your home)"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document: the rules, what was left out, the policy"},
		},
		Action: runLearn,
	}
}

// learnRun is one run of clawai policy learn.
type learnRun struct {
	c     *cli.Context
	o     learn.Options
	l     *learn.Learner
	dir   string
	rules []*learn.Rule
	text  []byte
	cases []learn.Fixture
}

func runLearn(c *cli.Context) error {
	if err := cmdline.NoArguments(c); err != nil {
		return err
	}
	r := &learnRun{c: c}
	for _, step := range []func() error{r.readOptions, r.readRecord, r.reviewRules, r.composePolicy, r.checkRecord, r.writePolicy} {
		if err := step(); err != nil {
			return err
		}
	}
	return r.tellResult()
}

var observedModes = map[string]learn.Trust{"prompt": learn.AskAlways, "reads": learn.AllowReads, "allow": learn.AllowActs}

func (r *learnRun) readOptions() error {
	c := r.c
	trust, ok := observedModes[c.String("observed")]
	switch {
	case !ok:
		return cmdline.UnknownWord("--observed", "mode", c.String("observed"), []string{"prompt", "reads", "allow"})
	case c.Int("min-count") < 1:
		return cmdline.Usagef("--min-count: %d is not a number of calls", c.Int("min-count"))
	case !(c.Float64("min-share") > 0.5 && c.Float64("min-share") <= 1):
		return cmdline.Usagef("--min-share: %v is not between 0.5 and 1", c.Float64("min-share"))
	case c.Bool("interactive") && (c.String("out") == "" || c.Bool("json")):
		return cmdline.Usagef("--interactive takes the screen: give --out FILE for the policy, and no --json")
	case c.Bool("interactive") && !choose.HasTerminal(os.Stdin, os.Stdout):
		return cmdline.Usagef("--interactive needs a terminal; without it the rules are written as they are")
	}
	home, err := homeFlag(c)
	if err != nil {
		return err
	}
	folders, err := config.ReadFolders()
	if err != nil {
		return err
	}
	r.o = learn.Options{
		ParseOptions: proxyOptions(home), Own: []string{folders.Config, folders.State}, Now: time.Now(),
		MinCount: c.Int("min-count"), MinShare: c.Float64("min-share"), Observed: trust, Links: c.Bool("links"),
	}
	if path := c.String("policy"); path != "" {
		src, err := readPolicyFile(path)
		if err != nil {
			return err
		}
		r.o.File, r.o.Policy = path, append([]byte{}, src...)
	}
	if r.l, err = learn.New(r.o); err != nil {
		return cmdline.Usagef("the policy does not load, so nothing can be added to it:\n%w", err)
	}
	return r.checkTarget()
}

// checkTarget checks --out before the work begins, so that the command does not fail at the end.
func (r *learnRun) checkTarget() error {
	out := r.c.String("out")
	if out == "" {
		return nil
	}
	there, err := os.Stat(out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return cmdline.Usagef("--out %s: %w", out, check.WithoutPath(err))
	}
	if r.o.Policy != nil {
		if known, err := os.Stat(r.o.File); err == nil && os.SameFile(known, there) {
			return nil
		}
	}
	return cmdline.Usagef("--out %s: there is a file already, and it is not the policy that is extended; it is left as it is", out)
}

// readRecord reads the record. It returns an error if a part cannot be read, because that part may
// have denials.
func (r *learnRun) readRecord() error {
	f, dir, err := recordedDecisions(r.c)
	if err != nil {
		return err
	}
	r.dir, f.Kinds = dir, learn.Kinds()
	for e, err := range audit.Read(dir, f) {
		if err != nil {
			return cmdline.Usagef("the record in %s cannot be read whole, so nothing is learned from it: %w; see: clawai log verify", dir, err)
		}
		if err := r.l.Add(&e); err != nil {
			return err
		}
	}
	if r.l.Seen == 0 {
		if r.c.Bool("json") {
			if err := r.tellResult(); err != nil {
				return err
			}
		}
		return cmdline.Usagef("no recorded decision matches in %s, so there is nothing to learn from; to watch a server: clawai wrap SERVER --observe", dir)
	}
	r.rules = r.l.Propose()
	return nil
}

func (r *learnRun) composePolicy() error {
	if len(r.rules) == 0 {
		if r.c.Bool("json") {
			if err := r.tellResult(); err != nil {
				return err
			}
		} else {
			r.tellSkipped()
		}
		return errors.New("nothing was learned, and nothing is written")
	}
	var err error
	if r.text, err = r.l.Compose(r.rules); err != nil {
		return err
	}
	r.cases, err = r.l.Fixtures(r.text, r.rules)
	return err
}

// checkRecord checks the new policy against the whole record. A call that a rule denied must stay
// denied.
func (r *learnRun) checkRecord() error {
	if r.o.Policy == nil {
		return nil // Propose has checked this already
	}
	before, err := replay.NewJudge(r.o.File, r.o.Policy, r.o.ParseOptions)
	if err != nil {
		return err
	}
	after, err := replay.NewJudge(r.o.File, r.text, r.o.ParseOptions)
	if err != nil {
		return err
	}
	for e, err := range audit.Read(r.dir, audit.Filter{Kinds: []event.Kind{event.Decision}}) {
		if err == nil {
			err = learn.CheckRecord(before, after, &e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *learnRun) writePolicy() error {
	if dir := r.c.String("fixtures"); dir != "" {
		if err := r.writeFixtures(dir); err != nil {
			return err
		}
	}
	out := r.c.String("out")
	switch {
	case out == "" && r.c.Bool("json"):
		return nil
	case out == "":
		_, err := r.c.App.Writer.Write(r.text)
		return err
	}
	if there, err := os.ReadFile(out); err == nil {
		if !bytes.Equal(there, r.o.Policy) {
			return fmt.Errorf("%s has changed meanwhile; nothing is written", out)
		}
		return atomicfile.Write(out, r.text, atomicfile.Options{Old: there})
	}
	return WriteNew(out, r.text, false)
}

// writeFixtures writes each fixture to a separate file. If one of the files exists, it writes
// nothing and returns an error.
func (r *learnRun) writeFixtures(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return cmdline.Usagef("--fixtures %s: %w", dir, check.WithoutPath(err))
	}
	for _, f := range r.cases {
		path := filepath.Join(dir, f.Name)
		if _, err := os.Lstat(path); err == nil {
			return cmdline.Usagef("--fixtures: %s is there already; it is left as it is (give another folder)", path)
		}
	}
	for _, f := range r.cases {
		if err := WriteNew(filepath.Join(dir, f.Name), f.JSON, false); err != nil {
			return err
		}
	}
	return nil
}
