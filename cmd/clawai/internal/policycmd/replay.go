package policycmd

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/text/term"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
)

func replayCommand() *cli.Command {
	return &cli.Command{
		Name:      "replay",
		Usage:     "judge recorded calls by another policy and show what would change",
		UsageText: "clawai policy replay [--policy FILE] [options]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "policy", Usage: "the policy `FILE` that is to judge (default: yours, under the layers in force here)"},
			&cli.StringFlag{Name: "since", Usage: "only records not older than `TIME`: 2h, 7d, 2026-01-31, or RFC 3339"},
			&cli.StringFlag{Name: "server", Usage: "only the server `NAME` (a glob)"},
			&cli.IntFlag{Name: "examples", Value: 5, Usage: "show up to `N` calls of each kind of change"},
			&cli.StringFlag{Name: "home", Usage: "what ~ means: `DIR` (default: your home)"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
		},
		Action: runReplay,
	}
}

func runReplay(c *cli.Context) error {
	if err := namePolicy(c); err != nil {
		return err
	}
	if c.Int("examples") < 0 {
		return cmdline.Usagef("--examples: %d is not a number of calls", c.Int("examples"))
	}
	path, layers := c.String("policy"), config.Layers{}
	if path == "" {
		var err error
		if path, layers, err = OwnPolicy(); err != nil {
			return err
		}
	}
	j, err := ReplayJudge(c, path, layers)
	if err != nil {
		return err
	}
	home, err := homeFlag(c)
	if err != nil {
		return err
	}
	records, dir, err := recordedDecisions(c)
	if err != nil {
		return err
	}
	done := cmdline.ShowProgress("Judging the record again")
	r, err := replay.Run(j, audit.Read(dir, withAnswers(records)), c.Int("examples"))
	done()
	if err != nil {
		return cmdline.Usagef("the record in %s: %w", dir, err)
	}
	if c.Bool("json") {
		err = cmdline.WriteJSON(c.App.Writer, r)
	} else {
		err = cmdline.WriteProse(c.App.Writer, replayMarks, func(w io.Writer) error { return tellReplay(w, r, home) })
	}
	if err != nil {
		return err
	}
	return replayVerdict(r, dir)
}

// ReplayJudge reads the policy that judges the recorded calls again. It reads this policy as a
// proxy on this machine would.
func ReplayJudge(c *cli.Context, path string, layers config.Layers) (*replay.Judge, error) {
	home, err := homeFlag(c)
	if err != nil {
		return nil, err
	}
	return NewReplayJudge(path, home, layers, cmdline.ProseWriter(c.App.ErrWriter))
}

// NewReplayJudge is like ReplayJudge, but for the given home folder. It writes notes about the
// layers to the writer in the parameter warn.
func NewReplayJudge(path, home string, layers config.Layers, warn io.Writer) (*replay.Judge, error) {
	src, err := readPolicyFile(path)
	if err != nil {
		return nil, err
	}
	o, err := addHideDenied(proxyOptions(home))
	if err != nil {
		return nil, err
	}
	above, notes, err := layers.LoadAbove(o)
	if err != nil {
		return nil, cmdline.Usagef("nothing was judged: %w", err)
	}
	for _, note := range notes {
		fmt.Fprintf(warn, "clawai: %s\n", note)
	}
	o.Above = above
	j, err := replay.NewJudge(path, src, o)
	if err != nil {
		return nil, cmdline.Usagef("the policy does not load, so nothing was judged:\n%w", err)
	}
	return j, nil
}

// homeFlag returns the value of --home. Without this flag it returns the home folder of this
// account.
func homeFlag(c *cli.Context) (string, error) {
	if home := c.String("home"); home != "" {
		return home, nil
	}
	folders, err := config.ReadFolders()
	return folders.Home, err
}

// proxyOptions returns the options of a proxy on this machine. The working directory is not set,
// because the record does not have it. The disk is today's disk.
func proxyOptions(home string) policy.Options {
	o := policyfile.DraftOptions(home)
	o.Disk = disk.SystemDisk()
	return o
}

// addHideDenied adds the setting for hidden tools from config.toml, as a proxy on this machine
// would.
func addHideDenied(o policy.Options) (policy.Options, error) {
	folders, err := config.ReadFolders()
	if err == nil {
		o.HideDenied, err = config.LoadHideDenied(folders)
	}
	if err != nil {
		return o, cmdline.Usagef("%w", err)
	}
	return o, nil
}

// withAnswers extends a filter for decisions, so that it also selects the records of the replies.
func withAnswers(f audit.Filter) audit.Filter {
	f.Kinds = append(f.Kinds, event.Outcome, event.Listed, event.Passed)
	return f
}

// recordedDecisions returns the filter of --since and --server, and the folder of the record.
func recordedDecisions(c *cli.Context) (f audit.Filter, dir string, err error) {
	f.Kinds = []event.Kind{event.Decision}
	if f.Server, err = cmdline.GlobFlag(c, "server"); err != nil {
		return f, "", err
	}
	if f.Since, err = cmdline.TimeFlag(c, "since", time.Now()); err != nil {
		return f, "", err
	}
	dir, err = record.FindLogDir()
	return f, dir, err
}

// replayVerdict returns an error with the exit code. A damaged record is worse than a changed
// decision, because the result is then incomplete.
func replayVerdict(r *replay.Report, dir string) error {
	switch {
	case r.Decisions == 0:
		return cmdline.Usagef("no recorded decision matches in %s, so nothing was compared", dir)
	case r.Damaged > 0:
		return cmdline.Usagef("%d places of the record cannot be read; see: clawai log verify", r.Damaged)
	case r.HasChanges():
		return &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	return nil
}

var replayTitles = map[replay.Class]string{
	replay.NewlyAllowed: "Newly allowed", replay.NewlyAsked: "Newly asked", replay.NewlyDenied: "Newly denied",
	replay.NotJudged: "Not judged",

	replay.NewlyWarned: "Newly warned of", replay.NewlyFenced: "Newly fenced", replay.NewlyRedacted: "Newly redacted",
	replay.NewlyWithheld: "Newly withheld",
}

func tellReplay(out io.Writer, r *replay.Report, home string) error {
	w := bufio.NewWriter(out)
	tellClasses(w, replay.Classes(), "", r.Counts, r.Examples, home)
	if r.Answers != nil {
		tellClasses(w, replay.AnswerClasses(), "Answers, ", r.Answers.Counts, r.Answers.Examples, home)
	}
	if r.Decisions == 0 {
		return w.Flush()
	}
	days := r.First.Local().Format(time.DateOnly)
	if last := r.Last.Local().Format(time.DateOnly); last != days {
		days += " to " + last
	}
	fmt.Fprintf(w, "%s of %s, %s", cmdline.CountText(r.Decisions, "1 decision", "%d decisions"), cmdline.CountText(r.Sessions, "1 session", "%d sessions"), days)
	if r.Observed > 0 {
		fmt.Fprintf(w, " (%d only observed)", r.Observed)
	}
	fmt.Fprintf(w, ": %d unchanged, %d newly allowed, %d newly asked, %d newly denied, %d not judged\n",
		r.Counts[replay.Unchanged], r.Counts[replay.NewlyAllowed], r.Counts[replay.NewlyAsked],
		r.Counts[replay.NewlyDenied], r.Counts[replay.NotJudged])
	tellWhys(w, r.NotJudged)
	if a := r.Answers; a != nil {
		fmt.Fprintln(w, a.SummarizeAnswers())
		tellWhys(w, a.NotJudged)
	}
	return w.Flush()
}

func tellWhys(w io.Writer, counts map[replay.Why]int) {
	for _, why := range replay.Whys() {
		if n := counts[why]; n > 0 {
			fmt.Fprintf(w, "  not judged, %d: %s\n", n, why)
		}
	}
}

// tellClasses prints the calls with a changed decision, and the calls that were not judged.
func tellClasses(w io.Writer, classes []replay.Class, of string, counts map[replay.Class]int, examples []replay.Example, home string) {
	for _, class := range classes {
		title, n := replayTitles[class], counts[class]
		if title == "" || n == 0 {
			continue
		}
		if of != "" {
			title = of + strings.ToLower(title)
		}
		fmt.Fprintf(w, "%s: %d\n", title, n)
		left := n
		for i := range examples {
			if examples[i].Class == class {
				fmt.Fprint(w, replayExample(&examples[i], home))
				left--
			}
		}
		if left > 0 && left < n {
			fmt.Fprintf(w, "  and %d more or of the same call\n", left)
		}
		fmt.Fprintln(w)
	}
}

// replayExample returns one call as a text that is safe for a terminal: name, arguments, and the
// decisions then and now.
func replayExample(x *replay.Example, home string) string {
	what := []string{record.Short(x.Method, record.MaxText)}
	for _, name := range x.Names {
		if name != x.Method {
			what = append(what, record.Short(name, record.MaxText))
		}
	}
	if x.Server != "" {
		what = append(what, "on "+record.Short(x.Server, 24))
	}
	args := ""
	if x.Args != "" {
		args = "    " + record.Short(strings.NewReplacer(`"`+home+`/`, `"~/`, `"`+home+`"`, `"~"`).Replace(x.Args), record.MaxText) + "\n"
	}
	if len(x.Finds) > 0 {
		args += "    found " + strings.Join(x.Finds, ", ") + "\n"
	}
	then := x.Was + " " + renderRulePlace(x.OldRule)
	now := x.Why.String()
	if x.Class != replay.NotJudged {
		now = x.Is + " " + renderRulePlace(x.NewRule)
		if x.Reason != "" {
			now += "  " + record.Short(x.Reason, record.MaxText)
		}
	}
	return fmt.Sprintf("  %s  %s  %s\n%s    %s -> %s\n", x.Time.Local().Format(time.DateTime), term.VisibleText(x.Record),
		strings.Join(what, " "), args, then, now)
}

func renderRulePlace(p *check.RuleRef) string {
	if p == nil {
		return "(no rule)"
	}
	s := fmt.Sprintf("%s:%d", term.VisibleText(p.File), p.Line)
	if p.Description != "" {
		s += fmt.Sprintf(" %q", record.Short(p.Description, record.MaxText))
	}
	return s
}
