package doctorcmd

import (
	"fmt"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/wrapcmd"
	"github.com/clawai/clawai/wrap"
)

// checkWrappers tells of servers whose wrapper does not protect them. That a server
// has none is its owner's choice, and clawai status tells it.
func checkWrappers(p *machine) (all []finding) {
	if p.foldersErr != nil {
		return nil
	}
	f, err := wrapcmd.Find()
	if err != nil {
		return []finding{{Health: broken, Text: "the clients' files cannot be looked at: " + err.Error(), Fix: "clawai status"}}
	}
	for i := range f.Places {
		place := &f.Places[i]
		if place.Err != nil {
			all = append(all, finding{Health: doubtful, Text: f.Short(place.Path) + ": " + place.Err.Error(),
				Fix: "correct the file; which of its servers are behind clawai is not known"})
		}
		for _, e := range place.Entries {
			state, why := f.Judge.State(place, e)
			text := fmt.Sprintf("%q in %s is %s: %s", e.Name, f.Short(place.Path), state, why)
			switch state {
			case wrap.Drifted:
				all = append(all, finding{Health: broken, Text: text, Fix: "clawai wrap " + strings.Join(wrapcmd.NameWords([]string{e.Name}), " ")})
			case wrap.Observed:
				all = append(all, finding{Health: doubtful, Text: text, Fix: "clawai wrap " + strings.Join(wrapcmd.NameWords([]string{e.Name}), " ") + ", to enforce the policy"})
			}
		}
	}
	if all == nil {
		all = fine("%s as wrap writes them", cmdline.Count(f.Status().Counts[wrap.Wrapped], "1 wrapper stands", "%d wrappers stand"))
	}
	return all
}
