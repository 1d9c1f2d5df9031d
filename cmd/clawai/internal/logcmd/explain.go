package logcmd

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policycmd"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/text/term"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/internal/check/explain"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/policy"
)

func explainCommand() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "tell why a recorded call was decided as it was, and whether it would be now",
		UsageText: "clawai log explain [options] RECORD",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "policy", Usage: "the policy `FILE` (default: yours, under the layers in force here)"},
			&cli.StringFlag{Name: "home", Usage: "what ~ means: `DIR` (default: your home)"},
			&cli.BoolFlag{Name: "all", Usage: "one line for every rule, also for rules about other things"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
		},
		Action: logExplain,
	}
}

// comparison holds a recorded decision, and the decision of a policy now.
type comparison struct {
	Record   string            `json:"record"`
	Time     time.Time         `json:"time"`
	Was      string            `json:"was"`      // decision of the rules: allow, deny, prompt
	Decided  string            `json:"decided"`  // effect: allow, deny
	OldRule  *ruleDoc          `json:"old_rule"` // null: no rule
	Reason   string            `json:"old_reason,omitempty"`
	Revision string            `json:"old_policy_revision,omitempty"`
	Policy   string            `json:"policy"`           // the file that decides now
	Layers   []string          `json:"layers,omitempty"` // the files of the layers above Policy
	Now      string            `json:"now"`              // allow, deny, prompt, or unknown
	Same     bool              `json:"same"`
	Why      replay.Why        `json:"unknown,omitempty"`        // reason for unknown
	LeftOut  []ruleDoc         `json:"rules_left_out,omitempty"` // rules that were left out, since they need data that is not recorded
	Explains *explain.Document `json:"explanation"`

	became string
}

type ruleDoc struct {
	File        string `json:"file"`
	Line        int    `json:"line"`
	Description string `json:"description,omitempty"`
}

// explainMarks color the decisions then and now, and the explanation between them.
var explainMarks = slices.Concat(cmdline.AnswerMarks(`^then: `), cmdline.AnswerMarks(`^now: `), policycmd.ExplainMarks,
	[]cmdline.Mark{{Pattern: `^(record \S+) of `, Color: cmdline.Bold}})

func logExplain(c *cli.Context) error {
	args, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	if len(args) != 1 {
		return cmdline.Usagef("log explain needs the id of one record, as a refusal names it; to see the last ones: clawai log -n 5 | cat")
	}
	dir, err := record.FindLogDir()
	if err != nil {
		return err
	}
	entry, err := record.FindDecision(dir, args[0])
	if err != nil {
		return err
	}
	call, why := replay.RebuildCall(entry)
	if why != "" {
		return cmdline.Usagef("record %s cannot be judged again: %s", term.VisibleText(args[0]), why)
	}
	path, layers := c.String("policy"), config.Layers{}
	if path == "" {
		if path, layers, err = policycmd.OwnPolicy(); err != nil {
			return err
		}
	}
	j, err := policycmd.ReplayJudge(c, path, layers)
	if err != nil {
		return err
	}
	d, why := j.JudgeCall(&call)
	rest, left, _ := j.CertainPolicy(&call)
	e := explain.DescribeCalls(rest, []policy.Call{call.Call})
	e.Revision = j.Policy().Revision()
	r := comparison{
		Record: entry.Record, Time: entry.Time, Was: entry.Policy, Decided: entry.Decision, Reason: entry.Reason, Policy: path,
		Revision: findRevision(dir, entry), became: outcomeText(entry), Now: d.Action.String(), Why: why, Same: why == "" && d.Action == call.Was,
	}
	if why != "" {
		r.Now = "unknown"
	}
	if entry.RuleLine > 0 {
		r.OldRule = &ruleDoc{entry.RuleFile, entry.RuleLine, entry.RuleText}
	}
	for _, layer := range j.Policy().Layers() {
		r.Layers = append(r.Layers, layer.FileName())
	}
	for i := range left {
		r.LeftOut = append(r.LeftOut, ruleDoc{left[i].Pos.File, left[i].Pos.Line, left[i].Description})
	}
	if c.Bool("json") {
		doc := e.Document()
		r.Explains = &doc
		return cmdline.WriteJSON(c.App.Writer, r)
	}
	return cmdline.WriteProse(c.App.Writer, explainMarks, func(w io.Writer) error { return r.printComparison(w, e, c.Bool("all")) })
}

// findRevision returns the revision of the policy at the time of a record, as its session
// recorded it; "" when it did not.
func findRevision(dir string, entry *event.Entry) string {
	revision := ""
	f := audit.Filter{Session: entry.Session, Kinds: []event.Kind{event.Start, event.Policy}}
	for e, err := range audit.Read(dir, f) {
		if err != nil || e.Session != entry.Session {
			continue
		}
		if e.Time.After(entry.Time) || e.Time.Equal(entry.Time) && e.Seq > entry.Seq {
			break
		}
		if strings.HasPrefix(e.Detail, "under ") {
			continue // the revision of a layer; the policy's revision includes it
		}
		if _, after, found := strings.Cut(e.Detail, "revision "); found && len(after) == 12 {
			revision = after
		}
	}
	return revision
}

func (r *comparison) printComparison(w io.Writer, e *explain.Explanation, all bool) error {
	fmt.Fprintf(w, "record %s of %s\n", term.VisibleText(r.Record), r.Time.Local().Format(time.DateTime))
	then := "then: " + record.Short(r.Was, record.MaxText)
	if r.OldRule != nil {
		then += ", by " + r.OldRule.renderRule()
	} else if r.Reason != "" {
		then += ": " + record.Short(r.Reason, 2*record.MaxText)
	}
	fmt.Fprintln(w, then+r.became)
	switch r.Revision {
	case "":
		fmt.Fprintf(w, "the record does not say which policy was in force; this is revision %s\n", e.Revision)
	case e.Revision:
		fmt.Fprintf(w, "the policy is the same, revision %s\n", e.Revision)
	default:
		fmt.Fprintf(w, "the policy was revision %s, and is %s\n", term.VisibleText(r.Revision), e.Revision)
	}
	if r.OldRule != nil && r.OldRule.File != r.Policy && !slices.Contains(r.Layers, r.OldRule.File) {
		fmt.Fprintf(w, "the rule of then stands in another file than %s, %s\n", term.VisibleText(r.Policy), r.askedText())
	}
	for i := range r.LeftOut {
		if i == 0 {
			fmt.Fprintln(w, "left out below, for they look at what is not in the record:")
		}
		fmt.Fprintf(w, "  %s\n", r.LeftOut[i].renderRule())
	}
	fmt.Fprintln(w)
	if err := e.WriteText(w, all); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", r.renderComparison())
	return err
}

// outcomeText describes what was done with a call, when the rules alone do not show it.
func outcomeText(e *event.Entry) string {
	reason := record.Short(e.Reason, 2*record.MaxText)
	switch {
	case e.Stage == string(gate.StageRate) && e.Decision == "deny":
		return "; a limit denied it: " + reason
	case record.IsObserved(e) && e.UnenforcedDecision() != e.Policy:
		return "; a limit would have denied it: " + reason
	case record.IsObserved(e) && e.Policy != e.Decision:
		return "; nothing was enforced"
	case e.Policy == "prompt" && e.Decision != "":
		return "; the answer was " + record.Short(e.Decision, record.MaxText)
	}
	return ""
}

// askedText names the policies that decide now.
func (r *comparison) askedText() string {
	if len(r.Layers) == 0 {
		return "which alone is asked now"
	}
	return "which is asked now with the layers above it"
}

// renderComparison describes whether the decision would be the same.
func (r *comparison) renderComparison() string {
	switch {
	case r.Why != "":
		return "now: not certain, because " + r.Why.String()
	case len(r.LeftOut) > 0 && r.Same:
		return "now: " + r.Now + ", as then, whatever the rules left out say"
	case len(r.LeftOut) > 0:
		return "now: " + r.Now + ", whatever the rules left out say; it was " + term.VisibleText(r.Was)
	case r.Same:
		return "now: " + r.Now + ", as then"
	}
	return "now: " + r.Now + "; it was " + term.VisibleText(r.Was)
}

func (r *ruleDoc) renderRule() string {
	s := fmt.Sprintf("%s:%d", term.VisibleText(r.File), r.Line)
	if r.Description != "" {
		s += fmt.Sprintf(" %q", record.Short(r.Description, record.MaxText))
	}
	return s
}
