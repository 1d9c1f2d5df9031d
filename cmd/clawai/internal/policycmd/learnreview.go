package policycmd

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/text/term"

	"github.com/clawai/clawai/internal/ask/choose"
	"github.com/clawai/clawai/internal/check/learn"
	"github.com/clawai/clawai/policy"
)

// These are the possible answers about one rule.
const (
	answerTake   = "Take it"
	answerNarrow = "Narrow it"
	answerAsk    = "Make it ask"
	answerDrop   = "Drop it"
)

// reviewRules asks a person about each rule. If the person leaves, nothing is written. The default
// answer allows nothing: it drops a rule that would allow calls.
func (r *learnRun) reviewRules() error {
	if !r.c.Bool("interactive") {
		return nil
	}
	var taken []*learn.Rule
	for i, rule := range r.rules {
		kept, err := r.decideRule(i, rule)
		if errors.Is(err, choose.ErrLeft) {
			return &cmdline.ExitError{Code: cmdline.ExitInterrupted, Err: errors.New("left; nothing is written")}
		}
		if err != nil {
			return err
		}
		if kept != nil {
			taken = append(taken, kept)
		}
	}
	r.rules = taken
	return nil
}

func (r *learnRun) decideRule(i int, rule *learn.Rule) (*learn.Rule, error) {
	for {
		answers := []string{answerDrop, answerTake}
		narrower, narrows := rule.NarrowerRule()
		if narrows {
			answers = append(answers, answerNarrow)
		}
		asking, asks := rule.AskingRule()
		if asks && rule.Action == policy.Allow {
			answers = append(answers, answerAsk)
		}
		title := fmt.Sprintf("Rule %d of %d: %s", i+1, len(r.rules), learnedLine(rule))
		picked, err := choose.PickAnswer(r.c.Context, os.Stdin, os.Stdout, title, strings.Join(learnedDetails(rule), "\n"), answers)
		if err != nil {
			return nil, err
		}
		switch answers[picked] {
		case answerTake:
			return rule, nil
		case answerNarrow:
			rule = narrower
		case answerAsk:
			return asking, nil
		default:
			return nil, nil
		}
	}
}

// learnedLine returns a rule on one line, safe for a terminal.
func learnedLine(r *learn.Rule) string {
	s := fmt.Sprintf("%s %s %s", r.Action, r.Subject.RuleKey(), term.VisibleText(r.Name))
	if r.Server != "" {
		s += " on " + term.VisibleText(r.Server)
	}
	for _, c := range r.Conditions {
		s += " with " + term.VisibleText(c.Arg) + " = " + record.Short(strings.Join(c.Globs, " or "), 2*record.MaxText)
	}
	return s
}

// learnedDetails returns lines about the origin of a rule, and about other calls that the rule
// would allow.
func learnedDetails(r *learn.Rule) []string {
	lines := []string{"from " + r.DescribeEvidence()}
	if r.Above != nil {
		lines = append(lines, fmt.Sprintf("above line %d, which asks", r.Above.Pos.Line))
	}
	if beside := r.UnseenExample(); beside != "" {
		word := "also lets through"
		if r.Action == policy.Prompt {
			word = "also asks about"
		}
		lines = append(lines, word+": "+record.Short(beside, 2*record.MaxText))
	}
	return lines
}

// tellSkipped prints on standard error how many calls were skipped, by reason.
func (r *learnRun) tellSkipped() {
	n := r.l.Skipped
	all := slices.SortedFunc(maps.Keys(n), func(a, b string) int { return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b)) })
	if len(all) > 0 {
		fmt.Fprintln(cmdline.ProseWriter(r.c.App.ErrWriter), "Not learned from:")
	}
	for _, why := range all {
		fmt.Fprintf(cmdline.ProseWriter(r.c.App.ErrWriter), "  %s: %s\n", cmdline.CountText(n[why], "1 call", "%d calls"), record.Short(why, 2*record.MaxText))
	}
}

// learnedRule is one rule in the JSON output.
type learnedRule struct {
	Action   string              `json:"action"`
	Subject  string              `json:"subject"`
	Name     string              `json:"name"`
	Server   string              `json:"server"`
	Args     map[string][]string `json:"args,omitempty"`
	Open     []string            `json:"open,omitempty"`
	Class    string              `json:"class"`
	Calls    int                 `json:"calls"`
	Approved int                 `json:"approved"`
	Refused  int                 `json:"refused"`
	First    time.Time           `json:"first"`
	Last     time.Time           `json:"last"`
	Above    int                 `json:"above_line,omitempty"`
	Beside   string              `json:"beside,omitempty"`
}

func (r *learnRun) tellResult() error {
	if r.c.Bool("json") {
		doc := struct {
			Decisions int            `json:"decisions"`
			Rules     []learnedRule  `json:"rules"`
			Skipped   map[string]int `json:"skipped"`
			Policy    string         `json:"policy"`
			Fixtures  int            `json:"fixtures"`
		}{r.l.Seen, []learnedRule{}, r.l.Skipped, string(r.text), len(r.cases)}
		for _, rule := range r.rules {
			doc.Rules = append(doc.Rules, jsonRule(rule))
		}
		return cmdline.WriteJSON(r.c.App.Writer, doc)
	}
	w := cmdline.ProseWriter(r.c.App.ErrWriter)
	fmt.Fprintf(w, "Learned %s from %s:\n", cmdline.CountText(len(r.rules), "1 rule", "%d rules"), cmdline.CountText(r.l.Seen, "1 decision", "%d decisions"))
	for _, rule := range r.rules {
		fmt.Fprintf(w, "  %s\n", learnedLine(rule))
		for _, line := range learnedDetails(rule) {
			fmt.Fprintf(w, "      %s\n", line)
		}
	}
	r.tellSkipped()
	if dir := r.c.String("fixtures"); dir != "" {
		fmt.Fprintf(w, "Fixtures in %s:\n", term.VisibleText(dir))
		for _, f := range r.cases {
			fmt.Fprintf(w, "  %-6s  %s  (%s)\n", f.Expected, term.VisibleText(f.Name), f.What)
		}
	}
	if out := r.c.String("out"); out != "" {
		fmt.Fprintf(w, "Wrote %s. Read it before a proxy uses it.\n", term.VisibleText(out))
	}
	return nil
}

func jsonRule(r *learn.Rule) learnedRule {
	j := learnedRule{
		Action: r.Action.String(), Subject: r.Subject.RuleKey(), Name: r.Name, Server: r.Server, Open: r.Open, Class: r.Class.String(),
		Calls: r.Tally.Calls, Approved: r.Tally.Yes, Refused: r.Tally.No, First: r.Tally.First, Last: r.Tally.Last, Beside: r.UnseenExample(),
	}
	if r.Above != nil {
		j.Above = r.Above.Pos.Line
	}
	for _, c := range r.Conditions {
		if j.Args == nil {
			j.Args = map[string][]string{}
		}
		j.Args[c.Arg] = c.Globs
	}
	return j
}
