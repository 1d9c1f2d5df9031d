// Package policyfile reads policies for commands: it sets the home folder, resolves entries of extends,
// and plans how servers are started.
package policyfile

import (
	"fmt"
	"strconv"

	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/session/packs"
	"github.com/clawai/clawai/policy"
)

// PolicyOptions returns the options for reading a policy with this home.
func PolicyOptions(home string) policy.Options {
	o := base.PolicyOptions(home)
	o.Pack = packs.Read
	return o
}

// DraftOptions returns the options for a policy that is only examined, not put into force, and that may be
// an organisation's.
func DraftOptions(home string) policy.Options {
	o := PolicyOptions(home)
	o.Draft = true
	return o
}

// CountRules returns the number of rules of each action, as text.
func CountRules(p *policy.Policy) string {
	counts := map[policy.Action]int{}
	for _, r := range p.Rules() {
		counts[r.Action]++
	}
	total := len(p.Rules())
	if total == 0 {
		return "no rules: everything is refused"
	}
	noun := " rules"
	if total == 1 {
		noun = " rule"
	}
	return strconv.Itoa(total) + noun + fmt.Sprintf(" (%d allow, %d prompt, %d deny)",
		counts[policy.Allow], counts[policy.Prompt], counts[policy.Deny])
}
