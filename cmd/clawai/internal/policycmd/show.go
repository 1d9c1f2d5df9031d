package policycmd

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/policytext"
)

func showCommand() *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "print a policy as a table: what is allowed, asked and refused, by server and tool",
		UsageText: "clawai policy show [--server NAME] [FILE]   (without FILE: your own policy)",
		Description: "The rules of what the policy extends stand in the table as its own do. For each tool,\n" +
			"the first line that applies decides. In parentheses: the arguments that a line looks at.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "server", Usage: "only the server `NAME`"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document"},
		},
		Action: runShow,
	}
}

func runShow(c *cli.Context) error {
	files, err := policyFiles(c)
	if err != nil {
		return err
	}
	if len(files) > 1 {
		return cmdline.Usagef("one policy at a time")
	}
	name, src, err := readNamed(files[0])
	if err != nil {
		return cmdline.Usagef("%w", err)
	}
	p, err := policy.Parse(name, src, policyfile.DraftOptions("/home/user"))
	if err != nil {
		return cmdline.Usagef("the policy does not load:\n%w", err)
	}
	sections := listSections(p.Sources(), c.String("server"))
	if c.Bool("json") {
		return cmdline.WriteJSON(c.App.Writer, struct {
			Servers []section `json:"servers"`
		}{sections})
	}
	width := cmdline.ScreenWidth(c.App.Writer)
	if width == 0 {
		width = 80
	}
	return cmdline.WriteProse(c.App.Writer, showMarks, func(w io.Writer) error {
		for i := range sections {
			if i > 0 {
				fmt.Fprintln(w)
			}
			sections[i].writeText(w, width)
		}
		return nil
	})
}

// section is the part of the output for servers with the same rules.
type section struct {
	Servers []string   `json:"servers"` // globs; empty for all servers that no other section names
	From    []string   `json:"from"`    // the files and profiles with the rules of this section
	Groups  []ruleList `json:"rules"`

	rules []*policy.Source
}

// ruleList has the rules about some tools or another subject, in the order in which the policy
// tries them.
type ruleList struct {
	On      string    `json:"on"` // one of call, reply or list
	Subject string    `json:"subject"`
	Names   []string  `json:"names"` // "*" for all names; empty for all names that no other ruleList has
	Lines   []ruleRow `json:"lines"`
}

type ruleRow struct {
	Verdict     string   `json:"verdict"`
	Description string   `json:"description"`
	Arguments   []string `json:"arguments"` // the arguments that the rule reads
	File        string   `json:"file"`
	Line        int      `json:"line"` // line of the rule; the first line if several rules are equal
}

// listSections returns the rules by server. Servers with the same rules share a section. The
// parameter only is the server to list. If it is "", listSections lists all servers, also those
// that no rule names.
func listSections(sources []policy.Source, only string) (all []section) {
	var names []string
	for i := range sources {
		names = append(names, sources[i].Servers...)
	}
	if names = dropRepeats(names); only != "" {
		names = []string{only}
	}
	seen := map[string]int{}
	for _, name := range names {
		s := section{rules: rulesOf(sources, name)}
		key := ""
		for _, r := range s.rules {
			key += fmt.Sprint(r.Index, " ")
		}
		if at, found := seen[key]; found {
			all[at].Servers = append(all[at].Servers, name)
			continue
		}
		seen[key] = len(all)
		s.Servers = []string{name}
		all = append(all, s)
	}
	if only == "" {
		all = append(all, section{Servers: []string{}, rules: rulesOf(sources, "")})
	}
	for i := range all {
		all[i].groupRules()
	}
	return slices.DeleteFunc(all, func(s section) bool { return len(s.rules) == 0 })
}

func dropRepeats(names []string) (once []string) {
	for _, name := range names {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once
}

// rulesOf returns the rules about a server. If server is "", it returns the rules that name no
// server.
func rulesOf(sources []policy.Source, server string) (rules []*policy.Source) {
	for i := range sources {
		if s := &sources[i]; s.Servers == nil || server != "" && matchesName(s.Servers, server) {
			rules = append(rules, s)
		}
	}
	return rules
}

// matchesName reports whether a name is equal to one of the globs, or matches one of them.
func matchesName(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		p, err := glob.Compile(g)
		return g == name || err == nil && p.Match(name)
	})
}

func (s *section) groupRules() {
	for _, r := range s.rules {
		if from := fileOf(r); !slices.Contains(s.From, from) {
			s.From = append(s.From, from)
		}
	}
	for _, on := range []policy.On{policy.OnCall, policy.OnReply, policy.OnList, policy.OnUpload} {
		for _, subject := range []policy.Subject{policy.ToolSubject, policy.ResourceSubject, policy.PromptSubject, policy.SamplingSubject, policy.ElicitationSubject, policy.MethodSubject, policy.NoSubject} {
			s.groupSubject(on, subject)
		}
	}
}

func fileOf(r *policy.Source) string {
	if r.From != "" {
		return r.From
	}
	return filepath.Base(r.Pos.File)
}

// groupSubject groups the names of a subject. Names with the same rules share a group. Rules about
// all names are in a first group if they are above all rules with names, and in a last group if they
// are below all of them.
func (s *section) groupSubject(on policy.On, subject policy.Subject) {
	var rules []*policy.Source
	var names []string
	first, last := -1, -1 // first and last index of the rules that are not about all names
	for _, r := range s.rules {
		if r.On != on || r.About != subject {
			continue
		}
		if !namesAll(r) {
			if first < 0 {
				first = len(rules)
			}
			last = len(rules)
			names = append(names, r.Names...)
		}
		rules = append(rules, r)
	}
	add := func(names []string, rules []*policy.Source) {
		if len(rules) > 0 {
			s.Groups = append(s.Groups, ruleList{on.String(), subject.RuleKey(), names, rowsOf(rules)})
		}
	}
	if first < 0 {
		add([]string{"*"}, rules)
		return
	}
	add([]string{"*"}, rules[:first])
	seen := map[string]int{} // index of a group in Groups, by the text of its rules
	for _, name := range dropRepeats(names) {
		var about []*policy.Source
		for _, r := range rules[first : last+1] {
			if namesAll(r) || matchesName(r.Names, name) {
				about = append(about, r)
			}
		}
		if len(s.Servers) > 0 && onlyRefused(about) && onlyRefused(rules[last+1:]) {
			continue // the last group covers this name
		}
		key := describeRows(rowsOf(about))
		if at, found := seen[key]; found {
			s.Groups[at].Names = append(s.Groups[at].Names, name)
			continue
		}
		seen[key] = len(s.Groups)
		add([]string{name}, about)
	}
	add([]string{}, rules[last+1:])
}

func describeRows(rows []ruleRow) (text string) {
	for _, row := range rows {
		text += fmt.Sprintf("%s %s %q\n", row.Verdict, row.Description, row.Arguments)
	}
	return text
}

// onlyRefused reports whether all rules are deny rules that name no server.
func onlyRefused(rules []*policy.Source) bool {
	return !slices.ContainsFunc(rules, func(r *policy.Source) bool { return r.Servers != nil || r.Action != policy.Deny })
}

// namesAll reports whether a rule is about every name of its subject.
func namesAll(r *policy.Source) bool {
	return r.CoversAllSubjects() || slices.ContainsFunc(r.Names, func(g string) bool { return strings.Trim(g, "*") == "" })
}

var comesBack = map[string]string{"reply": "what comes back", "list": "what it lists", "upload": "what goes to a model"}

// verdicts are words for the actions of rules. The first word is for calls. The second word is for
// replies and lists.
var verdicts = map[policy.Action][2]string{
	policy.Allow: {"allowed", "passed"}, policy.Deny: {"refused", "withheld"}, policy.Prompt: {"asked", "asked"},
	policy.Redact: {"taken out", "taken out"}, policy.Fence: {"fenced", "fenced"}, policy.Warn: {"warned", "warned"},
}

func rowsOf(rules []*policy.Source) (rows []ruleRow) {
	for _, r := range rules {
		word := verdicts[r.Action][0]
		if r.On != policy.OnCall {
			word = verdicts[r.Action][1]
		}
		if n := len(rows); n > 0 && r.Description != "" && rows[n-1].Verdict == word && rows[n-1].Description == r.Description {
			rows[n-1].addArguments(r)
			continue
		}
		row := ruleRow{Verdict: word, Description: r.Description, Arguments: []string{}, File: r.Pos.File, Line: r.Pos.Line}
		row.addArguments(r)
		if row.Description == "" {
			row.Description = describeConditions(r)
		}
		rows = append(rows, row)
	}
	return rows
}

// addArguments adds to the row the names of the arguments that the rule r checks.
func (row *ruleRow) addArguments(r *policy.Source) {
	for _, path := range r.ArgumentPaths() {
		name := strings.Join(path, ".")
		if policy.EveryArgument(path) {
			name = "any argument"
		}
		if !slices.Contains(row.Arguments, name) {
			row.Arguments = append(row.Arguments, name)
		}
	}
}

// describeConditions returns a text for a rule that has no description.
func describeConditions(r *policy.Source) string {
	var parts []string
	for _, a := range r.Args {
		parts = append(parts, strings.Join(a.Path, ".")+" "+policytext.OneOrList(policytext.QuoteAll(a.Globs)))
	}
	for _, c := range r.Calls {
		if c.Key != "server" {
			parts = append(parts, c.Key+" "+c.Text)
		}
	}
	if len(parts) == 0 {
		return "(no description)"
	}
	return strings.Join(parts, ", ")
}

func (s *section) writeText(w io.Writer, width int) {
	title := "Every other server"
	if len(s.Servers) > 0 {
		title = term.VisibleText(strings.Join(s.Servers, ", "))
	}
	writeWrapped(w, "", title+"  ("+term.VisibleText(strings.Join(s.From, ", "))+")", width)
	for i := range s.Groups {
		s.Groups[i].writeText(w, width)
	}
}

// maxNamed is the maximum number of arguments in a line.
const maxNamed = 3

func (g *ruleList) writeText(w io.Writer, width int) {
	title := strings.Join(g.Names, ", ")
	comes, isReply := comesBack[g.On]
	switch {
	case isReply && title != "" && title != "*":
		title = comes + " " + title
	case isReply:
		title = comes
	case title == "*":
		title = "every " + g.Subject
	case title == "":
		title = "any other " + g.Subject
	case g.Subject != "tool":
		title = g.Subject + " " + title
	}
	writeWrapped(w, "  ", term.VisibleText(title), width)
	for _, row := range g.Lines {
		text, named := row.Description, row.Arguments
		if len(named) > maxNamed {
			named = append(slices.Clone(named[:maxNamed-1]), fmt.Sprintf("%d more", len(named)-maxNamed+1))
		}
		if len(named) > 0 {
			text += " (" + strings.Join(named, ", ") + ")"
		}
		writeWrapped(w, "    "+cmdline.Pad(row.Verdict, 9)+"  ", term.VisibleText(text), width)
	}
}

// writeWrapped writes a text after a margin. If the text needs more lines, their margin is spaces.
func writeWrapped(w io.Writer, margin, text string, width int) {
	for i, line := range view.WrapWords(text, max(20, width-len(margin))) {
		if i == 1 {
			margin = strings.Repeat(" ", max(len(margin), 2))
		}
		fmt.Fprintln(w, margin+line)
	}
}
