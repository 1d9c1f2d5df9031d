package logcmd

import (
	"errors"
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

// comparison has a recorded decision, and the decision of the present policy about the same call.
type comparison struct {
	Record   string     `json:"record"`
	Time     time.Time  `json:"time"`
	Was      string     `json:"was"`      // the decision of the rules then: allow, deny or prompt
	Decided  string     `json:"decided"`  // what happened to the call then: allow or deny
	OldRule  *ruleDoc   `json:"old_rule"` // the rule that decided then; null if no rule decided
	Reason   string     `json:"old_reason,omitempty"`
	Labels   []string   `json:"old_labels,omitempty"` // the labels of the session that led to a question or a refusal then
	Revision string     `json:"old_policy_revision,omitempty"`
	Policy   string     `json:"policy"`           // the policy file that is asked now
	Layers   []string   `json:"layers,omitempty"` // the files of the layers above that policy
	Now      string     `json:"now"`              // the decision now: allow, deny, prompt or unknown
	Same     bool       `json:"same"`
	Why      replay.Why `json:"unknown,omitempty"` // the reason for unknown
	// Reply is the server's answer to the call, if a rule looked at the answer.
	Reply *replyDoc `json:"reply,omitempty"`
	// LeftOut has the rules that were not asked now, because they need data that is not in the
	// record.
	LeftOut  []ruleDoc         `json:"rules_left_out,omitempty"`
	Explains *explain.Document `json:"explanation"`

	finds    []string // findings in the arguments
	open     string   // the command that would allow the call; "" for none
	became   string
	revision string // revision of the present policy
}

type ruleDoc struct {
	File        string `json:"file"`
	Line        int    `json:"line"`
	Description string `json:"description,omitempty"`
}

// replyDoc is the recorded decision of the rules about a server's answer.
type replyDoc struct {
	Record   string   `json:"record"`
	Decision string   `json:"decision"`
	Code     string   `json:"code"`
	Reason   string   `json:"reason,omitempty"`
	Rule     *ruleDoc `json:"rule"`
	Found    []string `json:"found,omitempty"`
	Altered  []string `json:"altered,omitempty"`
	Release  bool     `json:"releasable"` // true if clawai release can let the next answer to the same call through
}

// explainMarks color the decision then, the decision now, and the explanation.
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
	path, layers := c.String("policy"), config.Layers{}
	if path == "" {
		if path, layers, err = policycmd.OwnPolicy(); err != nil {
			return err
		}
	}
	judge := func() (*replay.Judge, error) { return policycmd.ReplayJudge(c, path, layers) }
	r, e, err := compareDecision(dir, entry, path, judge)
	if err != nil {
		return err
	}
	r.Reply = newReplyDoc(record.FindReply(dir, entry, args[0]))
	if c.Bool("json") {
		doc := e.Document()
		r.Explains = &doc
		return cmdline.WriteJSON(c.App.Writer, r)
	}
	return cmdline.WriteProse(c.App.Writer, explainMarks, func(w io.Writer) error { return r.printComparison(w, e, c.Bool("all")) })
}

// ExplainDecision explains a recorded decision like log explain, with the owner's policy. The
// result why has lines about the decisions then and now. The result rules has lines with the answer
// of each rule. The parameter dir is the folder of the record.
func ExplainDecision(dir string, entry *event.Entry) (why, rules []string, err error) {
	folders, err := config.ReadFolders()
	if err != nil {
		return nil, nil, err
	}
	path, layers, err := policycmd.OwnPolicy()
	if err != nil {
		return nil, nil, err
	}
	judge := func() (*replay.Judge, error) { return policycmd.NewReplayJudge(path, folders.Home, layers, io.Discard) }
	r, e, err := compareDecision(dir, entry, path, judge)
	if err != nil {
		return nil, nil, err
	}
	r.Reply = newReplyDoc(record.FindReply(dir, entry, entry.Record))
	var head, body strings.Builder
	if err := errors.Join(r.printDecisions(&head), e.WriteText(&body, false)); err != nil {
		return nil, nil, err
	}
	why = append(splitLines(head.String()), r.renderComparison())
	return why, splitLines(body.String()), nil
}

// newReplyDoc returns the recorded decision about a reply, or nil if no rule looked at the reply.
func newReplyDoc(e *event.Entry) *replyDoc {
	if e == nil || e.Stage == "" {
		return nil
	}
	d := &replyDoc{Record: e.Record, Decision: e.Decision, Code: e.Code, Reason: e.Reason, Found: e.Finds, Altered: e.Altered, Release: record.CanRelease(e)}
	if e.RuleLine > 0 {
		d.Rule = &ruleDoc{e.RuleFile, e.RuleLine, e.RuleText}
	}
	return d
}

// printReply writes what happened to the answer: withheld, released or altered. If clawai release
// can let the next answer to the same call through, printReply also writes this command.
func (d *replyDoc) printReply(w io.Writer) {
	what := "was withheld"
	switch {
	case d.Code == gate.CodeReleased:
		what = "was released"
	case d.Decision == "allow":
		what = "was altered"
	}
	fmt.Fprintf(w, "its answer, record %s, %s", term.VisibleText(d.Record), what)
	if d.Rule != nil {
		fmt.Fprint(w, ", by "+d.Rule.renderRule())
	}
	if d.Reason != "" {
		fmt.Fprint(w, ": "+record.Short(d.Reason, 2*record.MaxText))
	}
	fmt.Fprintln(w)
	printList(w, "  found    ", d.Found)
	printList(w, "  changed  ", d.Altered)
	if d.Release {
		fmt.Fprintf(w, "  to let the next answer to the same call through, once: clawai release %s\n", term.VisibleText(d.Record))
	}
}

func printList(w io.Writer, label string, all []string) {
	if len(all) > 0 {
		fmt.Fprintln(w, label+record.Short(strings.Join(all, ", "), 10*record.MaxText))
	}
}

func splitLines(text string) []string { return strings.Split(strings.TrimRight(text, "\n"), "\n") }

// compareDecision judges a recorded call again. The parameter judge is a function that returns the
// replay.Judge for this, and the parameter path is the file of its policy.
func compareDecision(dir string, entry *event.Entry, path string, judge func() (*replay.Judge, error)) (*comparison, *explain.Explanation, error) {
	call, why := replay.RebuildCall(entry)
	if why != "" {
		return nil, nil, cmdline.Usagef("record %s cannot be judged again: %s", term.VisibleText(entry.Record), why)
	}
	j, err := judge()
	if err != nil {
		return nil, nil, err
	}
	d, why := j.JudgeCall(&call)
	rest, left, _ := j.CertainPolicy(&call)
	e := explain.DescribeCalls(rest, []policy.Call{call.Call})
	e.Revision = j.Policy().Revision()
	r := &comparison{
		Record: entry.Record, Time: entry.Time, Was: entry.Policy, Decided: entry.Decision, Reason: entry.Reason, Labels: entry.Labels.LabelWords(), Policy: path,
		finds: entry.Finds, Revision: findRevision(dir, entry), became: outcomeText(entry), revision: e.Revision, Now: d.Action.String(), Why: why, Same: why == "" && d.Action == call.Was,
	}
	if why != "" {
		r.Now = "unknown"
	}
	if record.CanOpen(entry) && entry.Decision == "deny" {
		r.open = "clawai policy allow --from " + term.VisibleText(entry.Record)
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
	return r, e, nil
}

// findRevision returns the revision of the policy at the time of a record. It reads the other
// records of the same session. It returns "" if the session has not recorded a revision.
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
			continue // the revision of a layer; the revision of the policy includes it
		}
		if _, after, found := strings.Cut(e.Detail, "revision "); found && len(after) == 12 {
			revision = after
		}
	}
	return revision
}

func (r *comparison) printComparison(w io.Writer, e *explain.Explanation, all bool) error {
	if err := r.printDecisions(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if err := e.WriteText(w, all); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", r.renderComparison())
	return err
}

// printDecisions writes the earlier decision and its policy. It also names the rules that cannot be
// asked now.
func (r *comparison) printDecisions(w io.Writer) error {
	fmt.Fprintf(w, "record %s of %s\n", term.VisibleText(r.Record), r.Time.Local().Format(time.DateTime))
	then := "then: " + record.Short(r.Was, record.MaxText)
	if r.OldRule != nil {
		then += ", by " + r.OldRule.renderRule()
	} else if r.Reason != "" {
		then += ": " + record.Short(r.Reason, 2*record.MaxText)
	}
	fmt.Fprintln(w, then+r.became)
	printList(w, "  labels   ", r.Labels)
	printList(w, "  found    ", r.finds)
	if r.open != "" {
		fmt.Fprintln(w, "  to open it: "+r.open)
	}
	if r.Reply != nil {
		r.Reply.printReply(w)
	}
	switch r.Revision {
	case "":
		fmt.Fprintf(w, "the record does not say which policy was in force; this is revision %s\n", r.revision)
	case r.revision:
		fmt.Fprintf(w, "the policy is the same, revision %s\n", r.revision)
	default:
		fmt.Fprintf(w, "the policy was revision %s, and is %s\n", term.VisibleText(r.Revision), r.revision)
	}
	if r.OldRule != nil && r.OldRule.File != r.Policy && !slices.Contains(r.Layers, r.OldRule.File) {
		fmt.Fprintf(w, "the rule that decided then is in another file than %s, %s\n", term.VisibleText(r.Policy), r.askedText())
	}
	for i := range r.LeftOut {
		if i == 0 {
			fmt.Fprintln(w, "left out below, for they look at what is not in the record:")
		}
		if _, err := fmt.Fprintf(w, "  %s\n", r.LeftOut[i].renderRule()); err != nil {
			return err
		}
	}
	return nil
}

// outcomeText says what happened to a call. It returns "" if the decision of the rules already says
// this.
func outcomeText(e *event.Entry) string {
	reason := record.Short(e.Reason, 2*record.MaxText)
	switch {
	case e.Stage == string(gate.StageRate) && e.Decision == "deny":
		return "; a limit denied it: " + reason
	case e.IsObserved() && e.UnenforcedDecision() != e.Policy:
		return "; a limit would have denied it: " + reason
	case e.IsObserved() && e.Policy != e.Decision:
		return "; nothing was enforced"
	case e.Policy == "prompt" && e.Decision != "":
		return "; the answer was " + record.Short(e.Decision, record.MaxText)
	}
	return ""
}

// askedText returns a text about the policies that are asked now.
func (r *comparison) askedText() string {
	if len(r.Layers) == 0 {
		return "which alone is asked now"
	}
	return "which is asked now with the layers above it"
}

// renderComparison compares the decision now with the decision then, as a text.
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
