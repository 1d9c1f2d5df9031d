package doctorcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/wrapcmd"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

// checkWrappers returns a finding for each server with a wrapper that does not protect it. One more
// finding names all servers without a wrapper. That finding is only a warning, because the owner
// may have left these servers out on purpose.
func checkWrappers(p *machine) (all []finding) {
	if p.foldersErr != nil {
		return nil
	}
	f, err := wrapcmd.FindServers()
	if err != nil {
		return []finding{{Health: broken, Text: "the clients' files cannot be looked at: " + err.Error(), Fix: "clawai status"}}
	}
	var bare []string
	for i := range f.Places {
		place := &f.Places[i]
		if place.Err != nil {
			all = append(all, finding{Health: doubtful, Text: f.ShortPath(place.Path) + ": " + place.Err.Error(),
				Fix: "correct the file; which of its servers are behind clawai is not known"})
		}
		if place.HasMark() && len(place.Entries) > 0 {
			all = append(all, finding{Health: doubtful, Text: f.ShortPath(place.Path) + " starts with a byte order mark, which " + place.Row.Name + " may not read",
				Fix: "save the file as UTF-8 without a byte order mark"})
		}
		for _, e := range place.Entries {
			state, why := f.Judge.EntryState(place, e)
			text := fmt.Sprintf("%q in %s is %s: %s", e.Name, f.ShortPath(place.Path), state, why)
			switch state {
			case wrap.Bare:
				if !slices.Contains(bare, e.Name) {
					bare = append(bare, e.Name)
				}
			case wrap.Drifted:
				all = append(all, finding{Health: broken, Text: text, Fix: fixDrift(&f, place, e, why)})
			case wrap.Observed:
				all = append(all, finding{Health: doubtful, Text: text, Fix: "clawai wrap " + strings.Join(wrapcmd.NameWords([]string{e.Name}), " ") + ", to enforce the policy"})
			}
		}
	}
	for _, text := range f.HubTrouble() {
		all = append(all, finding{Health: broken, Text: text, Fix: "clawai unwrap; clawai status says what is where"})
	}
	if len(bare) > 0 {
		all = append(all, finding{Health: doubtful, Text: cmdline.CountText(len(bare), "1 server is", "%d servers are") + " not behind clawai: " + cmdline.JoinNames(bare),
			Fix: "clawai wrap " + strings.Join(wrapcmd.NameWords(bare), " ") + "; clawai status says where they are"})
	}
	if all == nil {
		all = healthyFinding("%s as wrap writes them", cmdline.CountText(f.JudgeStatus().Counts[wrap.Wrapped], "1 wrapper stands", "%d wrappers stand"))
	}
	return all
}

// fixDrift returns what mends an entry that is not as wrap writes it. The parameter why says how it
// differs. If wrap does not edit the entry, only an edit by hand helps.
func fixDrift(f *wrapcmd.Found, place *wrap.ConfigFile, e client.Entry, why string) string {
	again := "clawai wrap " + strings.Join(wrapcmd.NameWords([]string{e.Name}), " ")
	err := f.Judge.CheckWrap(place, e)
	if err == nil {
		return again
	}
	fix := "correct the entry by hand"
	if next := strings.TrimPrefix(strings.TrimPrefix(err.Error(), why), "; "); next != "" {
		fix += ": " + next
	}
	return fix + "; then: " + again
}
