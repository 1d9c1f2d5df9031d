package logcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/policy"
)

// filterFlags returns the flags that choose records. All commands of clawai log have them.
func filterFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "server", Usage: "only the server `NAME` (a glob)"},
		&cli.StringFlag{Name: "tool", Usage: "only calls of the tool `NAME` (a glob)"},
		&cli.StringFlag{Name: "decision", Usage: "only `allow`, deny, or prompt (the rules wanted a person)"},
		&cli.StringFlag{Name: "rule", Usage: "only what the `RULE` decided: policy.toml:7, or its description (a glob)"},
		&cli.StringFlag{Name: "find", Usage: "only messages in which the `KIND` was found (secret, hidden, ...; \"*\" is any)"},
		&cli.StringFlag{Name: "who", Usage: "only calls of the person `NAME` (a glob)"},
		&cli.StringFlag{Name: "agent", Usage: "only calls of the agent `NAME` (a glob), where it is sure"},
		&cli.StringFlag{Name: "since", Usage: "only what is not older than `TIME`: 10m, 2h, 3d, 2026-01-31, or RFC 3339"},
		&cli.StringFlag{Name: "until", Usage: "only what is older than `TIME`, as with --since"},
		&cli.StringFlag{Name: "session", Usage: "only the session `ID`, or sessions whose id begins with it"},
	}
}

// commonFilter parses the flags of filterFlags.
func commonFilter(c *cli.Context, now time.Time) (f audit.Filter, err error) {
	if f.Server, err = cmdline.GlobFlag(c, "server"); err != nil {
		return f, err
	}
	if f.Tool, err = cmdline.GlobFlag(c, "tool"); err != nil {
		return f, err
	}
	if f.Who, err = cmdline.GlobFlag(c, "who"); err != nil {
		return f, err
	}
	if f.Agent, err = cmdline.GlobFlag(c, "agent"); err != nil {
		return f, err
	}
	if f.Rule, err = ruleFlag(c); err != nil {
		return f, err
	}
	f.Decision, f.Session, f.Find = c.String("decision"), c.String("session"), c.String("find")
	if f.Find != "" && f.Find != "*" && !policy.IsKind(f.Find) {
		return f, cmdline.UnknownWord("--find", "kind", f.Find, append(policy.FindingKinds(), "*"))
	}
	switch f.Decision {
	case "", "allow", "deny", "prompt":
	default:
		return f, cmdline.UnknownWord("--decision", "decision", f.Decision, []string{"allow", "deny", "prompt"})
	}
	if f.Since, err = cmdline.TimeFlag(c, "since", now); err != nil {
		return f, err
	}
	if f.Until, err = cmdline.TimeFlag(c, "until", now); err != nil {
		return f, err
	}
	if !f.Until.IsZero() && !f.Since.Before(f.Until) {
		return f, cmdline.Usagef("--until %s is not after --since %s: no record lies between", c.String("until"), c.String("since"))
	}
	return f, nil
}

// ruleFlag parses --rule: the place of a rule, or its description. The place is FILE:LINE, and FILE
// may be only the name of the file.
func ruleFlag(c *cli.Context) (func(*event.Entry) bool, error) {
	match, err := cmdline.GlobFlag(c, "rule")
	if match == nil {
		return nil, err
	}
	home, _ := os.UserHomeDir() // without a home folder, no path begins with ~
	return func(e *event.Entry) bool {
		place := fmt.Sprintf("%s:%d", e.RuleFile, e.RuleLine)
		if rest, ok := strings.CutPrefix(place, home+string(filepath.Separator)); ok && home != "" && match("~/"+filepath.ToSlash(rest)) {
			return true
		}
		return match(place) || match(filepath.Base(place)) || match(e.RuleText)
	}, nil
}

// logFilter parses the flags of filterFlags, and the flags that only clawai log has.
func logFilter(c *cli.Context, now time.Time) (f audit.Filter, err error) {
	if f, err = commonFilter(c, now); err != nil {
		return f, err
	}
	if c.Bool("follow") && !f.Until.IsZero() {
		return f, cmdline.Usagef("--follow has no end that --until could be; give one of them")
	}
	for _, word := range c.StringSlice("kind") {
		kind, err := record.ParseKind(word)
		if err != nil {
			return f, err
		}
		f.Kinds = append(f.Kinds, kind)
	}
	f.Record, f.Last = c.String("record"), c.Int("limit")
	if f.Last < 0 || c.IsSet("limit") && f.Last == 0 {
		return f, cmdline.Usagef("--limit: %d is not a number of records", f.Last)
	}
	// The JSON output has all records, also the first record of each file, so that a program can
	// verify it. The text output has one line for each call and its reply.
	f.Headers, f.Replies = c.Bool("json"), !c.Bool("json") && len(f.Kinds) == 0
	return f, nil
}
