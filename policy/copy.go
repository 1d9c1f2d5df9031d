package policy

import (
	"slices"

	"github.com/clawai/clawai/policy/policytext"
)

// RuleCopy holds the differences between a rule and its copy.
type RuleCopy struct {
	Args        []ArgSource // new globs for conditions of the rule
	Under       []string    // new folders for every constraint "under"; nil keeps the old ones
	Except      []ArgSource // exceptions to add to the copy
	Server      string      // the only server of the copy; "" keeps the rule's servers
	Description string
}

// CopyRule returns the TOML of a copy of the rule r. The changes in c are made in the copy;
// everything else stays.
func (p *Policy) CopyRule(r Rule, c RuleCopy) string {
	rule := p.sources[r.Index]
	rule.Description = c.Description
	rule.args = slices.Clone(rule.args)
	for i := range rule.args {
		for _, a := range c.Args {
			if slices.Equal(a.Path, rule.args[i].path) {
				rule.args[i].globs, rule.args[i].written = a.Globs, nil
			}
		}
	}
	rule.where = slices.Clone(rule.where)
	for i := range rule.where {
		if c.Under != nil && rule.where[i].key.name == "under" {
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
		own := &rule.not.args[at]
		if own.globs = slices.Concat(own.globs, a.Globs); own.written != nil {
			own.written = slices.Concat(own.written, a.Globs)
		}
	}
	if c.Server != "" {
		rule.setCondition(serverKey, Stated{Text: policytext.Quote(c.Server), Globs: []string{c.Server}})
	}
	return rule.formatTOML()
}
