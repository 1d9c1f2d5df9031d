package policy

import (
	"slices"

	"github.com/clawai/clawai/policy/policytext"
)

// RuleCopy tells in what a copy of a rule differs from the rule.
type RuleCopy struct {
	Args        []ArgSource // new globs of conditions that the rule has
	Under       []string    // new folders of every constraint "under"
	Except      []ArgSource // exceptions that the copy has as well
	Server      string      // the only server that the copy is about; "" for the rule's servers
	Description string
}

// CopyRule returns the TOML of a copy of a rule of the policy. It keeps everything that the copy
// does not change.
func (p *Policy) CopyRule(r Rule, c RuleCopy) string {
	rule := p.sources[r.Index]
	rule.Description = c.Description
	rule.args = slices.Clone(rule.args)
	for i := range rule.args {
		for _, a := range c.Args {
			if slices.Equal(a.Path, rule.args[i].path) {
				rule.args[i].globs = a.Globs
			}
		}
	}
	rule.where = slices.Clone(rule.where)
	for i := range rule.where {
		if rule.where[i].key.name == "under" {
			rule.where[i].text = func() string { return policytext.FormatList(policytext.QuoteAll(c.Under)) }
		}
	}
	rule.not.args = slices.Clone(rule.not.args)
	for _, a := range c.Except {
		at := slices.IndexFunc(rule.not.args, func(own argSource) bool { return slices.Equal(own.path, a.Path) })
		if at < 0 {
			rule.not.args = append(rule.not.args, argSource{path: a.Path, globs: a.Globs})
			continue
		}
		rule.not.args[at].globs = slices.Concat(rule.not.args[at].globs, a.Globs)
	}
	if c.Server != "" {
		rule.setCondition(serverKey, Stated{Text: policytext.Quote(c.Server), Globs: []string{c.Server}})
	}
	return rule.formatTOML()
}
