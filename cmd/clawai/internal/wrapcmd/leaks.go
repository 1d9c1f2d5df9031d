package wrapcmd

import (
	"fmt"
	"maps"
	"slices"

	"github.com/clawai/clawai/cmd/clawai/internal/leaks"
	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/wrap"
)

// ByClient returns the servers of each client, because one session can use all servers of a client.
func (f *Found) ByClient() map[string][]leaks.ClientServer {
	all := map[string][]leaks.ClientServer{}
	for i := range f.Places {
		place := &f.Places[i]
		for _, e := range place.Entries {
			state, _ := f.Judge.EntryState(place, e)
			command := []string(nil)
			if e.Command != "" {
				command = append([]string{e.Command}, e.Args...)
			}
			all[place.Row.Client] = append(all[place.Row.Client], leaks.ClientServer{Name: e.Name, Known: flow.RecogniseServer(command, e.URL), Wrapped: state == wrap.Wrapped})
		}
	}
	return all
}

// tellLeaks prints a leak that the newly wrapped servers make possible. It prints nothing if the
// flow level of the policy is already ask or stricter.
func (r *wrapRun) tellLeaks(changes []wrap.Change) {
	if r.op != wrap.Wrap || r.hooks || r.models || r.Judge.Observe || r.rules != nil && r.rules.FlowLevel() >= policy.Ask {
		return
	}
	type server struct{ client, name string }
	now := map[server]bool{}
	for _, c := range changes {
		for _, e := range c.Edits {
			now[server{e.Row.Client, e.Entry.Name}] = true
		}
	}
	var ways []leaks.Leak
	byClient := r.ByClient()
	for _, client := range slices.Sorted(maps.Keys(byClient)) {
		behind := slices.DeleteFunc(byClient[client], func(s leaks.ClientServer) bool { return !s.Wrapped && !now[server{client, s.Name}] })
		for _, l := range leaks.FindLeaks(behind, r.rules) {
			of := func(s leaks.Step) bool { return now[server{client, s.Server}] }
			if (of(l.Source) || of(l.Data) || of(l.Sink)) && !slices.Contains(ways, l) {
				ways = append(ways, l)
			}
		}
	}
	if len(ways) == 0 {
		return
	}
	more, tables := "", ", and the tables that clawai doctor --tables prints"
	if len(ways) > 1 {
		more = fmt.Sprintf(" (one of %d ways)", len(ways))
	}
	if r.rules != nil && len(r.rules.TrustTables()) > 0 {
		tables = ""
	}
	fmt.Fprintf(r.prose, "A stranger's text could make the agent send out your private data: %s%s.\n", term.VisibleText(ways[0].String()), more)
	fmt.Fprintf(r.prose, "  To be asked about that: [flow] level = \"ask\" in %s%s (docs/flow.md)\n", r.ShortPath(r.folders.PolicyFile()), tables)
}
