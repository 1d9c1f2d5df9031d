// Package policyfile reads policies for the commands. It sets the home folder, resolves extends,
// and plans how servers are started.
package policyfile

import (
	"fmt"
	"strconv"

	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/session/packs"
	"github.com/clawai/clawai/policy"
)

// PolicyOptions returns the options for reading a policy, with this home folder.
func PolicyOptions(home string) policy.Options {
	o := base.PolicyOptions(home)
	o.Pack = packs.Read
	return o
}

// DraftOptions returns the options for a policy that is only examined and not put into force. Such
// a policy may be an organisation's policy.
func DraftOptions(home string) policy.Options {
	o := PolicyOptions(home)
	o.Draft = true
	return o
}

// CountRules returns the numbers of rules by action, as a text.
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
