package doctorcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/cmd/clawai/internal/wrapcmd"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/glob"
)

// checkRules compares the policy's rules with the clients' servers. It finds rules about servers
// that no client has, and servers that no rule allows.
func checkRules(p *machine) (all []finding) {
	rules, f := p.rulesAndServers()
	if rules == nil {
		return nil
	}
	servers := f.ServerNames()
	if len(servers) == 0 {
		return healthyFinding("no client has a server that they could be about")
	}
	agents := builtin.ListClients() // rules about the agents' own tools have these names as servers
	var patterns []string
	places := map[string][]string{}
	for _, s := range rules.Sources() {
		for _, pattern := range s.Servers {
			g, err := glob.Compile(pattern)
			if pattern == "*" || err != nil || slices.ContainsFunc(servers, g.Match) || slices.Contains(agents, pattern) {
				continue
			}
			if places[pattern] == nil {
				patterns = append(patterns, pattern)
			}
			places[pattern] = append(places[pattern], fmt.Sprintf("%s:%d", f.ShortPath(s.Pos.File), s.Pos.Line))
		}
	}
	for _, pattern := range patterns {
		all = append(all, finding{
			Health: doubtful,
			Text: fmt.Sprintf("%s about the server %q, which no client has (%s)",
				cmdline.CountText(len(places[pattern]), "a rule is", "%d rules are"), pattern, strings.Join(places[pattern], ", ")),
			Fix: "correct the name (clawai status lists the servers), or take them out",
		})
	}
	closed, elsewhere := f.FindUnruled(rules.Sources())
	for _, name := range closed {
		all = append(all, noRulesFinding(name, "no rule opens %q: every call of it is refused"))
	}
	for _, name := range elsewhere {
		all = append(all, noRulesFinding(name, "no rule names %q: what the rules without a server do not open of it is refused"))
	}
	if all == nil {
		all = healthyFinding("every rule is about a server that is there, and every server behind clawai has rules")
	}
	return all
}

// rulesAndServers returns the policy and the clients' servers. If one of them cannot be read, it
// returns nil for both; other checks report this.
func (p *machine) rulesAndServers() (*policy.Policy, *wrapcmd.Found) {
	if p.foldersErr != nil {
		return nil, nil
	}
	loaded, err := config.LoadPolicyFor(p.folders.PolicyFile(), policyfile.PolicyOptions(p.folders.Home))
	if err != nil {
		return nil, nil
	}
	f, err := wrapcmd.FindServers()
	if err != nil {
		return nil, nil
	}
	return loaded.Policy, &f
}

func noRulesFinding(name, text string) finding {
	words := strings.Join(wrapcmd.NameWords([]string{name}), " ")
	return finding{Health: doubtful, Text: fmt.Sprintf(text, name),
		Fix: "write rules for it, or watch it first: clawai wrap --observe " + words + ", and then: clawai policy learn"}
}
