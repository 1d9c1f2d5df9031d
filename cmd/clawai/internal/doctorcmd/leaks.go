package doctorcmd

import (
	"fmt"
	"maps"
	"slices"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/leaks"
	"github.com/clawai/clawai/policy"
)

// shownLeaks is how many are told of; --json has all.
const shownLeaks = 5

// checkLeaks names the servers of one client that together let out what is yours. What
// nothing is known of could do all of it, and is counted apart.
func checkLeaks(p *machine) []finding {
	rules, f := p.rulesAndServers()
	if rules == nil {
		return nil
	}
	byClient := f.ByClient()
	ways, bare := []leaks.Leak(nil), false
	unknown, open := map[string]bool{}, map[string]bool{}
	for _, client := range slices.Sorted(maps.Keys(byClient)) {
		for _, l := range leaks.Of(byClient[client], rules) {
			if !slices.Contains(ways, l) {
				ways = append(ways, l)
			}
			for _, s := range byClient[client] {
				bare = bare || !s.Wrapped && slices.Contains([]string{l.Source.Server, l.Data.Server, l.Sink.Server}, s.Name)
			}
		}
		for _, s := range byClient[client] {
			said := slices.ContainsFunc(rules.Trusts(), func(t policy.TrustTable) bool { return t.Server == s.Name })
			unknown[s.Name] = unknown[s.Name] || s.Known == nil && !said
			open[s.Name] = open[s.Name] || s.Known != nil && !said
		}
	}
	return leakFindings(ways, bare, rules.Flow(), chosen(unknown), chosen(open))
}

func chosen(names map[string]bool) []string {
	maps.DeleteFunc(names, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(names))
}

func leakFindings(ways []leaks.Leak, bare bool, level policy.Level, unknown, open []string) (all []finding) {
	text := cmdline.Count(len(ways), "1 way", "%d ways") + " in which a stranger's text could carry out what is yours"
	switch {
	case len(ways) == 0:
		all = fine("no servers of a client that are known make a way out together")
	case level >= policy.Ask && !bare:
		all = fine("%s, each asked about or refused ([flow] level = %q)", text, level)
		all[0].Leaks = ways
	default:
		fix := `write [flow] level = "ask" into the policy: the last call is asked about (docs/flow.md)`
		if bare {
			fix += ", behind clawai wrap"
		}
		if len(open) > 0 {
			fix += "; tables to begin with: clawai doctor --tables"
		}
		all = []finding{{Health: doubtful, Text: text, Fix: fix, Leaks: ways}}
	}
	if len(unknown) > 0 && level != policy.Off {
		all = append(all, finding{Health: doubtful,
			Text: cmdline.Count(len(unknown), "of 1 server nothing is known", "of %d servers nothing is known") + ", so everything is taken for granted: " + quoted(unknown),
			Fix:  "say in [server.NAME] tables what they do (docs/flow.md)"})
	}
	return all
}

// lines are the first of the ways, for people.
func lines(ways []leaks.Leak) (all []string) {
	for i, l := range ways {
		if i == shownLeaks {
			return append(all, fmt.Sprintf("and %d more: clawai doctor --json", len(ways)-shownLeaks))
		}
		all = append(all, l.String())
	}
	return all
}
