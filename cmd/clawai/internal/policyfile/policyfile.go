// Package policyfile says how a command reads a policy: for which home, and what an
// entry of extends leads to.
package policyfile

import (
	"fmt"
	"strconv"

	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/session/packs"
	"github.com/clawai/clawai/policy"
)

// PolicyOptions says where a policy is read for, as far as its home does.
func PolicyOptions(home string) policy.Options {
	o := base.PolicyOptions(home)
	o.Pack = packs.Read
	return o
}

// CountRules says how many rules there are of each action.
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
