package policycmd

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/ask/remember"
	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

func updateCommand() *cli.Command {
	return &cli.Command{
		Name:      "update",
		Usage:     "pin the starter policies as this clawai has them, after you have seen what changes",
		UsageText: "clawai policy update [--policy FILE] [PROFILE...] [--yes]",
		Description: "An [[extends]] is pinned to a text of its profile, so that another clawai changes no\n" +
			"rule. Shows which calls are answered in another way with the new texts, and asks.\n" +
			"To take it back: clawai policy undo",
		Flags:  editFlags(),
		Action: runUpdate,
	}
}

// updated is one [[extends]] table whose pinned text differs from the text in this clawai.
type updated struct {
	profile, was, is string // the fields was and is have the old and the new digest
}

func runUpdate(c *cli.Context) error {
	names, err := cmdline.ParseArguments(c)
	if err != nil {
		return err
	}
	e, src, err := newUpdate(c)
	if err != nil {
		return err
	}
	next, all, err := updateProfiles(e.file, src, names)
	switch {
	case err != nil:
		return err
	case len(all) == 0:
		e.say("Nothing to update: what %s extends is what this clawai has.", term.VisibleText(e.file))
		return nil
	}
	for _, u := range all {
		e.say("profile %s: %.12s is pinned, and this clawai has %.12s", u.profile, u.was, u.is)
	}
	after, err := policy.Parse(e.file, next, e.writer.Options)
	if err != nil {
		return cmdline.Usagef("nothing was written: the policy would not load with the new texts:\n%w", err)
	}
	if before, err := policy.Parse(e.file, src, e.writer.Options); err != nil {
		e.say("What changes cannot be shown, as the policy does not load with the texts that are pinned:\n%v", err)
	} else if err := cmdline.WriteProse(c.App.Writer, diffMarks, diff.ComparePolicies(before, after).WriteText); err != nil {
		return err
	}
	for _, line := range listMoved(src, e, after) {
		e.say("careful    %s", line)
	}
	if (c.Bool("yes") || e.hasTerminal()) && len(all) > 0 {
		if err := policyfile.KeepProfiles(e.file, next); err != nil {
			return fmt.Errorf("nothing was written: %w", err)
		}
	}
	if err := e.writePlan(remember.NewPlan(src, next, ""), "Pin these texts?", append([]string{"policy", "update"}, names...)); err != nil {
		return err
	}
	e.say("Written. To take it back: clawai policy undo")
	return nil
}

// listMoved returns warnings about rules of the owner that an update would move. Such a rule has
// the key "above", which names a rule of the extended text by its description. In the new text,
// another rule may have this description. The owner's rule would then stand above that other rule.
// The lines are safe for a terminal. listMoved returns nil if the policy does not load with the
// pinned texts.
func listMoved(src []byte, e *policyEdit, after *policy.Policy) (lines []string) {
	before, err := policy.Parse(e.file, src, e.writer.Options)
	if err != nil {
		return nil
	}
	was, is := rulesBelow(before), rulesBelow(after)
	for _, line := range slices.Sorted(maps.Keys(was)) {
		if is[line] != "" && was[line] != is[line] {
			lines = append(lines, fmt.Sprintf("the rule on line %d of %s stands above %s, and would stand above %s: see whether it is still meant there",
				line, term.VisibleText(e.file), term.VisibleText(was[line]), term.VisibleText(is[line])))
		}
	}
	return lines
}

// rulesBelow finds the owner's rules between two rules of the same extended text. For each of them,
// it describes the extended rule directly below. The key of the map is the line of the owner's
// rule.
func rulesBelow(p *policy.Policy) map[int]string {
	all := map[int]string{}
	var between []int // lines of the owner's rules after the latest extended rule
	above := ""
	for _, s := range p.Sources() {
		if s.From == "" {
			between = append(between, s.Pos.Line)
			continue
		}
		for _, line := range between {
			if s.From == above {
				all[line] = fmt.Sprintf("%q of %s, which says %v of %s %s%s", s.Description, s.From, s.Action, s.Subject.RuleKey(), strings.Join(s.Names, ", "), argsText(s.Args))
			}
		}
		between, above = nil, s.From
	}
	return all
}

// argsText returns the conditions on arguments as a text.
func argsText(args []policy.ArgSource) (text string) {
	for _, a := range args {
		text += fmt.Sprintf(" with %s %s", strings.Join(a.Path, "."), strings.Join(a.Globs, ", "))
	}
	return text
}

// newUpdate reads the policy file. The file may fail to load because of a pinned text.
func newUpdate(c *cli.Context) (*policyEdit, []byte, error) {
	folders, err := config.ReadFolders()
	if err != nil {
		return nil, nil, err
	}
	path := c.String("policy")
	if path == "" {
		path = folders.PolicyFile()
	} else if path, err = filepath.Abs(path); err != nil {
		return nil, nil, err
	}
	src, err := readPolicyFile(path)
	if err != nil {
		return nil, nil, err
	}
	writer := session.NewRuleWriter(path, policyfile.PolicyOptions(folders.Home), folders, cmdline.ViewOptions(folders))
	return &policyEdit{c: c, folders: folders, file: path, writer: writer}, src, nil
}

// updateProfiles returns the text of a policy in which profiles have the digests of their texts in
// this clawai. The parameter names lists the profiles to update. If it is empty, updateProfiles
// updates all profiles.
func updateProfiles(file string, src []byte, names []string) (next []byte, all []updated, err error) {
	pinned := map[string]bool{}
	var edits []policytext.Edit
	doc, err := policytext.ReadDocument(src)
	if err != nil {
		return nil, nil, cmdline.Usagef("policy %s does not load; see all with: clawai policy check", file)
	}
	for _, x := range policy.Extensions(file, src) {
		if !x.InPlace || x.Profile == "" || x.SHA256 == "" {
			continue
		}
		pinned[x.Profile] = true
		text, err := fixtures.ReadProfile(x.Profile)
		if err != nil || base.DigestOf(text) == x.SHA256 || len(names) > 0 && !slices.Contains(names, x.Profile) {
			continue
		}
		u := updated{x.Profile, x.SHA256, base.DigestOf(text)}
		all = append(all, u)
		edits = append(edits, doc.SetExtensionKey(x.Pos.Line, "sha256", policytext.Quote(u.is))...)
	}
	for _, name := range names {
		if !pinned[name] {
			return nil, nil, cmdline.Usagef("no [[extends]] of %s pins a profile %q", term.VisibleText(file), name)
		}
	}
	return policytext.ApplyEdits(src, edits...), all, nil
}
