package doctorcmd

import (
	"maps"
	"slices"

	"github.com/clawai/clawai/cmd/clawai/internal/leaks"
	"github.com/clawai/clawai/policy"
)

// checkLeaks names the servers of one client that together can leak your data. It lists unknown
// servers separately, because they may do anything.
func checkLeaks(p *machine) (all []finding) {
	rules, f := p.rulesAndServers()
	if rules == nil {
		return nil
	}
	byClient := f.ByClient()
	ways, bare := []leaks.Leak(nil), false
	unknown, open := map[string]bool{}, map[string]bool{}
	for _, client := range slices.Sorted(maps.Keys(byClient)) {
		for _, l := range leaks.FindLeaks(byClient[client], rules) {
			if !slices.Contains(ways, l) {
				ways = append(ways, l)
			}
			for _, s := range byClient[client] {
				bare = bare || !s.Wrapped && slices.Contains([]string{l.Source.Server, l.Data.Server, l.Sink.Server}, s.Name)
			}
		}
		for _, s := range byClient[client] {
			said := slices.ContainsFunc(rules.TrustTables(), func(t policy.TrustTable) bool { return t.Server == s.Name })
			unknown[s.Name] = unknown[s.Name] || s.Known == nil && !said
			open[s.Name] = open[s.Name] || s.Known != nil && !said
		}
	}
	for _, a := range leaks.Advise(ways, bare, rules.FlowLevel(), selectedNames(unknown), selectedNames(open)) {
		f := finding{Health: healthy, Text: a.Text, Fix: a.Fix, Leaks: a.Leaks}
		if a.Fix != "" {
			f.Health = doubtful
		}
		all = append(all, f)
	}
	return all
}

func selectedNames(names map[string]bool) []string {
	maps.DeleteFunc(names, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(names))
}
