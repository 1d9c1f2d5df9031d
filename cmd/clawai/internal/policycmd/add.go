package policycmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/ask/remember"
	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/internal/check/widen"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// AddCommand returns "clawai policy add". findServers returns the servers in the clients' files
// that a starter policy is about.
func AddCommand(findServers func(profile string) ([]string, error)) *cli.Command {
	return &cli.Command{
		Name:      "add",
		Usage:     "add a starter policy to yours",
		UsageText: "clawai policy add PROFILE [--server NAME...] [--yes]",
		Description: "Shows the [[extends]] of the starter policy, where it goes, what it opens and what it\n" +
			"asks about, and asks. Without --server, its rules are about the servers of your\n" +
			"clients that it is for. The starters are: clawai policy init --list\n" +
			"To take it back: clawai policy undo",
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "server", Usage: "the `NAME` of a server that the rules are about, as your client has it (repeatable)"},
		}, editFlags()...),
		Action: func(c *cli.Context) error { return runAdd(c, findServers) },
	}
}

func runAdd(c *cli.Context, findServers func(string) ([]string, error)) error {
	args, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	if len(args) != 1 {
		return cmdline.Usagef("policy add needs one PROFILE; the starter policies are: clawai policy init --list")
	}
	a, servers := Addition{Profile: args[0], Command: []string{"policy", "add", args[0]}}, c.StringSlice("server")
	known := slices.Concat(fixtures.ListProfiles(), fixtures.ListTiers())
	i := slices.IndexFunc(known, func(p fixtures.Profile) bool { return p.Name == a.Profile })
	if i < 0 {
		var names []string
		for _, p := range known {
			names = append(names, p.Name)
		}
		return cmdline.UnknownWord("policy add", "profile", a.Profile, names)
	}
	for _, name := range servers {
		if err := CheckNameable(name); err != nil {
			return cmdline.Usagef("--server: %v", err)
		}
		a.Command = append(a.Command, "--server", name)
	}
	if len(servers) == 0 && known[i].Server != "" && a.Profile != agentsProfile {
		if servers, err = findServers(a.Profile); err != nil {
			return err
		}
		if len(servers) == 0 {
			return cmdline.Usagef("nothing was written: no client's file has a server that %s is for (%s); say which server is one: clawai policy add %[1]s --server NAME", a.Profile, known[i].Server)
		}
	}
	a.Servers = servers
	return AddRules(c, a)
}

// agentsProfile is the starter policy with rules about the agents' own tools.
const agentsProfile = "coding-agent"

// replyProfile is the starter policy with the rules about replies. All starters share these rules.
const replyProfile = "default"

// Addition is an addition to a policy: a starter policy for some servers, or rules.
type Addition struct {
	Profile string // the starter policy; "" if there are only Rules
	// Servers are the servers that the rules are about. If Servers is empty, the rules of Profile
	// name their own servers.
	Servers []string
	Rules   string   // text of further rules; each rule names the servers of Servers
	Folders []string // folders to add to the list that starter policies use, spelled as in rules
	Command []string // the command that writes this addition, without --yes
}

// AddRules shows an addition to the person, asks, and writes it into the owner's policy.
func AddRules(c *cli.Context, a Addition) error {
	e, err := newPolicyEdit(c, "")
	if err != nil {
		return err
	}
	src, err := readPolicyFile(e.file)
	if err != nil {
		return err
	}
	old, err := policy.Parse(e.file, src, e.writer.Options)
	if err != nil {
		return cmdline.Usagef("nothing was written: %w", err)
	}
	p := &addition{Addition: a, file: e.file, old: old, options: e.writer.Options, next: src}
	there, err := p.apply()
	switch {
	case err != nil:
		return cmdline.Usagef("nothing was written: %w", err)
	case there != "":
		e.say("Nothing to add: %s", there)
		return nil
	}
	now, err := policy.Parse(e.file, p.next, e.writer.Options)
	if err != nil {
		return cmdline.Usagef("nothing was written: the policy would not load: %w", err)
	}
	done := cmdline.ShowProgress("Trying what the rules would open")
	report := diff.ComparePolicies(old, now)
	changes := report.Changes
	// ComparePolicies has found no change, but ShowRules may still find examples of changed
	// decisions.
	if len(changes) == 0 {
		for _, server := range p.Servers {
			changes = append(changes, widen.ShowRules(old, now, server)...)
		}
	}
	done()
	if err := p.checkChanges(report, changes); err != nil {
		return cmdline.Usagef("nothing was written: %w", err)
	}
	e.showAddition(p, report, changes, now)
	if c.Bool("yes") || e.hasTerminal() {
		if err := policyfile.KeepProfiles(e.file, p.next); err != nil {
			return fmt.Errorf("nothing was written: %w", err)
		}
	}
	if err := e.writePlan(remember.NewPlan(src, p.next, p.text), "Write this?", a.Command); err != nil {
		return err
	}
	e.say("Written. To take it back: clawai policy undo")
	return nil
}

// addition puts an Addition into the text of a policy.
type addition struct {
	Addition
	file    string
	old     *policy.Policy
	options policy.Options
	next    []byte
	text    string   // the text that is inserted
	at      int      // offset of the field text in the field next
	more    []string // other lines of the policy that change
}

// apply makes the new text of the policy. If the policy already contains the addition, apply
// changes nothing, and the result there is a text that says where the addition is. Otherwise the
// result there is "".
func (p *addition) apply() (there string, err error) {
	extends := policy.Extensions(p.file, p.next)
	if slices.ContainsFunc(extends, func(x policy.Extension) bool { return !x.InPlace }) && p.Profile != "" {
		return "", fmt.Errorf("the policy extends others by a list: put %q into it", "profile:"+p.Profile)
	}
	p.addFolders()
	if p.Profile != "" {
		if there, err = p.addProfile(extends); there != "" || err != nil {
			return there, err
		}
		if p.Rules != "" {
			p.Rules = "\n" + p.Rules
		}
	}
	if p.text += p.Rules; p.text != "" {
		p.next, p.at = policytext.InsertForServers(p.next, p.Servers, p.endOfCalls(), p.text)
	}
	if p.Profile != "" && !isTier(p.Profile) && len(p.Servers) > 0 {
		p.coverReplies()
	}
	return "", nil
}

func isTier(name string) bool {
	return slices.ContainsFunc(fixtures.ListTiers(), func(t fixtures.Profile) bool { return t.Name == name })
}

// addProfile adds an [[extends]] table for the starter policy. If the policy already has such a
// table, addProfile adds the servers to this table.
func (p *addition) addProfile(extends []policy.Extension) (there string, err error) {
	for _, x := range extends {
		if x.Profile != p.Profile {
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(p.Servers), func(name string) bool { return matchesServer(x.Servers(), name) })
		if x.Servers() == nil || len(missing) == 0 {
			return fmt.Sprintf("%s extends %s already, at line %d.", term.VisibleText(p.file), p.Profile, x.Pos.Line), nil
		}
		return "", p.addServers(x, missing)
	}
	if p.text, err = policyfile.ExtendProfile(p.Profile, p.Servers); err != nil {
		return "", err
	}
	all := slices.Concat(fixtures.ListProfiles(), fixtures.ListTiers())
	summary := all[slices.IndexFunc(all, func(f fixtures.Profile) bool { return f.Name == p.Profile })].Summary
	p.text = "# " + strings.ToUpper(summary[:1]) + summary[1:] + "\n" + p.text
	return "", nil
}

func matchesServer(globs []string, name string) bool { return slices.Contains(globs, name) }

// addServers adds servers to the list in an [[extends]] table of the policy.
func (p *addition) addServers(x policy.Extension, names []string) error {
	doc, err := policytext.ReadDocument(p.next)
	if err != nil {
		return err
	}
	value := policytext.OneOrList(policytext.QuoteAll(append(slices.Clone(x.Servers()), names...)))
	edits := doc.SetExtensionKey(x.Pos.Line, "server", value)
	if len(edits) == 0 {
		return errors.New("the [[extends]] cannot be read")
	}
	p.next = policytext.ApplyEdits(p.next, edits...)
	p.more = append(p.more, fmt.Sprintf("server = %s  (of %s)", value, x))
	return nil
}

// coverReplies adds the servers to the [[extends]] table with the rules about replies. It does this
// only if the policy has such a table for other servers.
func (p *addition) coverReplies() {
	for _, x := range policy.Extensions(p.file, p.next) {
		missing := slices.DeleteFunc(slices.Clone(p.Servers), func(name string) bool { return matchesServer(x.Servers(), name) })
		if x.InPlace && x.Profile == replyProfile && x.Servers() != nil && len(missing) > 0 {
			// After an error, the replies of these servers are not checked. The preview does not
			// claim that they are checked.
			_ = p.addServers(x, missing)
			return
		}
	}
}

// addFolders adds the folders to the list of folders that starter policies use.
func (p *addition) addFolders() {
	const table, list = "folders", "projects"
	var before []string
	for _, l := range p.old.Folders() {
		if l.Name != list {
			continue
		}
		before = append(before, l.Folders...)
		p.Folders = slices.DeleteFunc(slices.Clone(p.Folders), func(folder string) bool { return slices.Contains(l.Folders, folder) })
		if l.From != "" || len(p.Folders) == 0 {
			continue
		}
		for _, folder := range p.Folders {
			if next, _, found := policytext.AppendElement(p.next, table, list, policytext.Quote(folder)); found {
				p.next = next
			}
			p.more = append(p.more, list+" of [folders] gets "+policytext.Quote(folder))
		}
		return
	}
	if len(p.Folders) == 0 {
		return
	}
	value := policytext.FormatList(policytext.QuoteAll(append(before, p.Folders...)))
	p.next, _ = policytext.AddPair(p.next, table, policytext.Pair{Key: list, Value: value})
	p.more = append(p.more, "[folders] "+list+" = "+value)
}

// othersInFolders returns the other servers whose rules use this list of folders.
func (p *addition) othersInFolders(now *policy.Policy) (names []string) {
	for _, s := range now.Sources() {
		if slices.Contains(s.FolderNames, "projects") && s.Action != policy.Deny {
			names = append(names, s.Servers...)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return slices.Contains(p.Servers, name) })
}

// endOfCalls returns the offset of the first table after the rules that allow calls. This is the
// table with the rules about replies, or the rule that refuses all other calls. It returns -1 if
// the policy has neither of them.
func (p *addition) endOfCalls() int {
	line := 0
	for _, x := range policy.Extensions(p.file, p.next) {
		if x.InPlace && isTier(x.Profile) && line == 0 {
			line = x.Pos.Line
		}
	}
	if now, err := policy.Parse(p.file, p.next, p.options); err == nil && line == 0 {
		for _, s := range now.Sources() {
			if s.RefusesTheRest() {
				line = s.Pos.Line
			}
		}
	}
	if line == 0 {
		return -1
	}
	at := 0
	for range line - 1 {
		at += strings.IndexByte(string(p.next[at:]), '\n') + 1
	}
	return at + strings.IndexByte(string(p.next[at:]), '[')
}

// checkChanges returns an error for an addition that changes no decision, or that allows a call
// that a rule of the owner denies.
func (p *addition) checkChanges(report *diff.Report, changes []diff.Change) error {
	if len(changes)+len(report.Doubts) == 0 && (report.Replies == nil || len(report.Replies.Changes) == 0) {
		return errors.New("it would change the answer to no call")
	}
	sources := p.old.Sources()
	for i := range changes {
		c := &changes[i]
		if c.Old.Action != policy.Deny || c.New.Action == policy.Deny || c.Old.Rule == nil {
			continue
		}
		if s := &sources[c.Old.Rule.Index]; !s.RefusesTheRest() {
			return fmt.Errorf("it would open what the rule at %s denies: put that rule higher up first", renderRule(s.Pos.File, s.Pos.Line, s.Description))
		}
	}
	return nil
}

// showAddition prints the new text and its place in the policy. It also prints which calls the text
// allows, and which calls stay refused.
func (e *policyEdit) showAddition(p *addition, report *diff.Report, changes []diff.Change, now *policy.Policy) {
	if p.text != "" {
		e.say("This goes into %s, at line %d:", term.VisibleText(e.file), 1+strings.Count(string(p.next[:p.at]), "\n"))
		e.say("")
		printText(cmdline.ProseWriter(e.c.App.Writer), []byte(p.text))
		e.say("")
	}
	for _, line := range p.more {
		e.say("changes    %s", term.VisibleText(line))
	}
	if others := p.othersInFolders(now); len(p.Folders) > 0 && len(others) > 0 {
		e.say("careful    the rules of %s name this list, too, and open the same folders", cmdline.JoinNames(others))
	}
	e.showChanges(changes)
	denied := 0
	for _, s := range now.Sources() {
		if s.From == "profile:"+p.Profile && s.Action == policy.Deny && s.Subject != policy.NoSubject {
			if denied == 0 {
				e.say("It stays refused")
			}
			if denied++; denied <= maxDenied {
				e.say("  by  %s", renderRule(s.Pos.File, s.Pos.Line, s.Description))
			}
		}
	}
	if denied > maxDenied {
		e.say("  and by %d more rules", denied-maxDenied)
	}
	e.say("What no rule names stays as it was. Of all calls: %s", report.Summary())
	e.say("")
}

// maxDenied is the maximum number of printed rules that still deny calls.
const maxDenied = 5
