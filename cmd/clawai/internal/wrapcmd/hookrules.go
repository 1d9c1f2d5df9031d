package wrapcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

// hookRules has the starter's rules for the agents' own tools. If the policy allows none of an
// agent's own tools, a new hook would refuse them all. Then these rules are added to the policy.
type hookRules struct {
	path          string
	before, after []byte // text of the policy without the rules, and with them
	rules         string
	count         int
	agents        []string // names of the agents, for a person
	policy        *policy.Policy
}

// missingRules returns the rules that the existing policy lacks for the new hooks, or nil if it
// lacks none.
func (r *wrapRun) missingRules(changes []wrap.Change) (*hookRules, error) {
	if r.op != wrap.Wrap || r.rules == nil || r.Judge.Observe {
		return nil, nil
	}
	var shut []string
	for _, c := range changes {
		if c.Hook != nil && openFor(r.rules.Sources(), client.Entry{Name: c.Hook.HookWord()}, ownTools) != opened {
			shut = append(shut, c.Hook.Name)
		}
	}
	if len(shut) == 0 {
		return nil, nil
	}
	m := &hookRules{path: r.folders.PolicyFile(), agents: dropRepeats(shut)}
	err := m.insertRules(r.rules, r.folders.Home)
	for _, c := range changes {
		if err == nil && c.Hook != nil && openFor(m.policy.Sources(), client.Entry{Name: c.Hook.HookWord()}, ownTools) != opened {
			err = fmt.Errorf("the starter has none for %s", c.Hook.Name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("no rule of %s opens the tools of %s, which would all be refused, and rules cannot be put there: %w; put them there by hand (clawai policy init --profile %s --output -), or watch first (--observe)",
			r.ShortPath(m.path), strings.Join(m.agents, ", "), err, ownTools)
	}
	return m, nil
}

// insertRules makes the new text of the policy. standing is the present policy. The rules go above
// the rule that refuses all other tool calls. Without such a rule, they go at the end.
func (m *hookRules) insertRules(standing *policy.Policy, home string) (err error) {
	info, err := os.Lstat(m.path)
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return errors.New("it is a symlink")
	case info.Mode().Perm()&0o200 == 0:
		return errors.New("it is read-only")
	}
	if m.before, err = os.ReadFile(m.path); err != nil {
		return err
	}
	if m.rules, err = ownToolRules(m.path, m.before); err != nil {
		return err
	}
	named := strings.Contains(m.rules, fixtures.Folders)
	// The table of folders is added later, because it must be above all rules.
	m.rules = strings.Replace(m.rules, fixtures.Folders, "", 1)
	refusesTools := func(s policy.Source) bool { return s.Subject == policy.ToolSubject && s.RefusesTheRest() }
	if i := slices.IndexFunc(standing.Sources(), refusesTools); i >= 0 {
		m.after, err = standing.InsertAbove(m.before, standing.Sources()[i].Rule, m.rules)
	} else {
		m.after = append(append(slices.Clip(m.before), "\n\n"...), m.rules...)
	}
	if err != nil {
		return err
	}
	for _, list := range []struct{ name, element string }{{"projects", defaultFolder}, {"reads", "${projects}"}} {
		if named && !slices.ContainsFunc(standing.Folders(), func(l policy.FolderList) bool { return l.Name == list.name && l.From == "" }) {
			m.after, _ = policytext.AddPair(m.after, "folders", policytext.Pair{Key: list.name, Value: policytext.FormatList([]string{policytext.Quote(list.element)})})
		}
	}
	if m.policy, err = policy.Parse(m.path, m.after, policyfile.PolicyOptions(home)); err != nil {
		return err
	}
	m.count = len(m.policy.Rules()) - len(standing.Rules())
	return nil
}

// ownToolRules returns the starter's rules for the agents' own tools, as text for the policy.
// Usually the text is an [[extends]] table. A policy with a list (extends = [...]) cannot also have
// such a table, so for this policy the text has the rules themselves.
func ownToolRules(path string, src []byte) (string, error) {
	for _, x := range policy.Extensions(path, src) {
		if !x.InPlace {
			return fixtures.ProfileRules(ownTools)
		}
	}
	return extendOwnTools()
}

// extendOwnTools returns the [[extends]] table of the starter policy with rules for the agents' own
// tools.
func extendOwnTools() (string, error) {
	rules, err := policyfile.ExtendProfile(ownTools, nil)
	return "# The tools that agents bring along\n" + rules, err
}

// tellRules prints the rules that the policy gets. verb says whether the rules are written yet.
func (m *hookRules) tellRules(r *wrapRun, verb string) {
	if m == nil {
		return
	}
	fmt.Fprintf(r.prose, "%s %s: %s for the tools of %s, of the starter %s. Without them each would be refused.\n",
		verb, r.ShortPath(m.path), cmdline.CountText(m.count, "1 rule", "%d rules"), strings.Join(m.agents, ", "), ownTools)
	fmt.Fprintln(r.prose, "  "+builtInTools)
}

// builtInTools is a text for the person about what these rules allow.
const builtInTools = "Built-in tools read below your home, write in your folders, build and test; keys stay shut, and you are asked about the rest."

// writeRules writes the rules into the policy. If m is nil, it does nothing.
func (m *hookRules) writeRules(r *wrapRun) error {
	if m == nil {
		return nil
	}
	if err := policyfile.KeepProfiles(m.path, m.after); err != nil {
		return fmt.Errorf("nothing was written: %w", err)
	}
	if err := atomicfile.Write(m.path, m.after, atomicfile.Options{Old: m.before}); err != nil {
		return fmt.Errorf("nothing was written: %s: %w", r.ShortPath(m.path), err)
	}
	r.rules = m.policy
	return nil
}
