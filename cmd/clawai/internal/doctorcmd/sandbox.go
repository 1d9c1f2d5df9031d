package doctorcmd

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/cmd/clawai/internal/wrapcmd"
	"github.com/clawai/clawai/internal/cage"
	"github.com/clawai/clawai/internal/cage/hosts"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/installed"
	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/hostlist"
	"github.com/clawai/clawai/proxy/stdio"
	"github.com/clawai/clawai/wrap/client"
)

// checkSandboxes builds each server's sandbox around a program that does nothing. It reports which
// restrictions work on this machine.
func checkSandboxes(p *machine) (all []finding) {
	if p.foldersErr != nil {
		return nil
	}
	loaded, err := policyfile.LoadHere(p.folders)
	if err != nil {
		return nil // another check reports this error
	}
	names := policyfile.CagedServers(loaded.Policy)
	f, err := wrapcmd.FindServers()
	if err == nil {
		all = append(all, checkOtherCages(p, loaded, &f)...)
	}
	for _, name := range names {
		plan, fault := policyfile.PlanCageBy(loaded, p.folders, policyfile.CagedServer{Name: name, Command: idle})
		all = append(all, trySandbox(name, plan, fault)...)
		all = append(all, refusedHosts(p, name, plan)...)
		if err != nil {
			continue // another check reports this error
		}
		if !slices.Contains(f.ServerNames(), name) {
			all = append(all, finding{Health: doubtful, Text: fmt.Sprintf("[server.%s.sandbox] is about a server that no client has", name),
				Fix: "correct the name (clawai status lists the servers), or take the table out"})
		}
		all = append(all, checkInstalled(p, &f, name, plan)...)
	}
	return all
}

// checkOtherCages returns findings about servers with a sandbox that is not from the policy. It is
// from the client's file, or from the server's own command.
func checkOtherCages(p *machine, loaded *config.Loaded, f *wrapcmd.Found) (all []finding) {
	for i := range f.Places {
		for _, e := range f.Places[i].Entries {
			if within := servers.FindSandboxer(append([]string{e.Command}, e.Args...)); within != "" {
				all = append(all, describeOwnCage(e.Name, within, loaded.Policy.CageLevel(e.Name) > policy.CageOff || len(e.Sandbox) > 0))
			}
			if len(e.Sandbox) > 0 {
				all = append(all, tryClientSandbox(p, loaded, f.Places[i].Row.Name, e)...)
			}
		}
	}
	return dropTwice(all)
}

// describeOwnCage returns a finding about a server whose own command starts it in a sandbox. clawai
// still judges the calls of this server.
func describeOwnCage(name, within string, caged bool) finding {
	if caged {
		return finding{Health: doubtful, Text: fmt.Sprintf("%q is run by %s, which makes a cage of its own, and it has a sandbox of clawai's, in which no other can be made", name, within),
			Fix: "start the server without " + within + ", or take its sandbox out"}
	}
	return finding{Health: healthy, Text: fmt.Sprintf("%q is run by %s: its calls are judged outside of that cage, of which clawai does not know what it shuts", name, within)}
}

// tryClientSandbox builds the sandbox that the client's file has for this server, and reports the
// result.
func tryClientSandbox(p *machine, loaded *config.Loaded, who string, e client.Entry) []finding {
	switch {
	case e.Wrapped == nil:
		return healthyFinding("%s starts %q in a sandbox of its own; clawai wrap moves that inside, so that the calls are judged", who, e.Name)
	case slices.ContainsFunc(e.Sandbox, func(rule string) bool { return strings.Contains(rule, "${") }):
		return healthyFinding("%q: its client's sandbox has places that only %s fills in, so it is not built here; clawai log has how the last start was shut in", e.Name, who)
	}
	plan, err := policyfile.PlanCageBy(loaded, p.folders, policyfile.CagedServer{Name: e.Name, Command: idle, Client: e.Sandbox})
	return trySandbox(e.Name, plan, err)
}

// checkInstalled returns findings about the installation of a server, or about its download if
// there is no installation.
func checkInstalled(p *machine, f *wrapcmd.Found, name string, plan *cage.Plan) (all []finding) {
	store, shown := installed.NewStore(p.folders.State), cmdline.Quote([]string{name})
	for i := range f.Places {
		for _, e := range f.Places[i].Entries {
			if e.Name != name || e.Kind != client.Stdio || e.Unclear {
				continue
			}
			command, _ := wrapcmd.LaunchCommand(e)
			m, err := policyfile.CheckInstalled(store, name, command)
			passed, _ := policyfile.DescribePassed(store, name, command)
			switch {
			case err != nil:
				all = append(all, finding{Health: broken, Text: err.Error(), Fix: "or start it again as its client's entry says: clawai sandbox install " + shown + " --remove"})
			case m != nil:
				all = append(all, healthyFinding("%q: %s@%s is started in place of %s, from %s", name, m.Package, m.Version, m.Launcher, store.Folder(m))...)
			case passed != "":
				all = append(all, finding{Health: doubtful, Text: fmt.Sprintf("%q: %s", name, passed), Fix: "write the entry as npx, or take the installation away: clawai sandbox install " + shown + " --remove"})
			case servers.DownloadsItself(command[0]) && plan != nil && plan.Spec.Enforce && !plan.Spec.Network:
				fix := "install it once: clawai sandbox install " + shown
				if d, ok := servers.ParseDownload(command); !ok || d.Launcher != "npx" {
					fix = "install it once by hand, and start the installed program (docs/sandbox.md)"
				}
				all = append(all, finding{Health: doubtful, Text: fmt.Sprintf("%q is started by %s, which needs the registry and its cache, and writes there", name, filepath.Base(command[0])), Fix: fix})
			}
		}
	}
	return dropTwice(all)
}

// dropTwice removes each finding that has the text of an earlier one, because several entries of
// one server lead to equal findings.
func dropTwice(all []finding) (rest []finding) {
	for _, one := range all {
		if !slices.ContainsFunc(rest, func(o finding) bool { return o.Text == one.Text }) {
			rest = append(rest, one)
		}
	}
	return rest
}

// idle is a command that does nothing.
var idle = []string{"true"}

func trySandbox(name string, plan *cage.Plan, err error) (all []finding) {
	const fix = "see docs/sandbox.md for what each step needs"
	if plan == nil && err == nil {
		return []finding{{Health: doubtful, Text: fmt.Sprintf("%q runs without a sandbox: level = \"off\"", name), Fix: `write level = "try" or "enforce" in its table`}}
	}
	if err == nil {
		var child *stdio.Child
		if child, err = stdio.Start(stdio.Options{Args: idle, Cage: plan}); err == nil {
			_ = child.Close(context.Background())
			text := fmt.Sprintf("%q: %s", name, cage.Describe(plan, child.Cage()))
			if len(child.Cage().Weaker) > 0 {
				return []finding{{Health: doubtful, Text: text, Fix: fix}}
			}
			for _, note := range plan.Notes {
				all = append(all, finding{Health: doubtful, Text: fmt.Sprintf("%q: %s", name, note), Fix: "correct the table, or make it"})
			}
			return append(healthyFinding("%s", text), all...)
		}
	}
	return []finding{{Health: broken, Text: fmt.Sprintf("%q is not started from this folder: %v", name, err), Fix: fix}}
}

// shownHosts is the maximum number of hosts that the finding about a server names.
const shownHosts = 5

// refusedHosts returns a finding about hosts that a server tried to reach in the last week but its
// sandbox refused.
func refusedHosts(p *machine, name string, plan *cage.Plan) (all []finding) {
	if plan == nil {
		return nil
	}
	counts := map[string]int{}
	records := audit.Read(filepath.Join(p.folders.State, "audit"), audit.Filter{Kinds: []event.Kind{event.Chatter}, Since: time.Now().AddDate(0, 0, -replayedDays)})
	for e, err := range records {
		if err != nil {
			break // the check of the record reports this error
		}
		r, ok := hosts.ParseDetail(e.Detail)
		if e.Server != name || e.Code != hosts.EventCode || !ok || r.Reason != hosts.NotListed {
			continue
		}
		if target, err := hostlist.ParseTarget(r.Host); err == nil && !plan.Hosts.Opens(target) && !plan.Spec.Network {
			counts[target.String()]++
		}
	}
	asked := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	for _, host := range asked[:min(len(asked), shownHosts)] {
		all = append(all, finding{Health: doubtful, Text: fmt.Sprintf("%q asked for %s in the last %d days, which its sandbox does not open", name, host, replayedDays),
			Fix: fmt.Sprintf("if it needs that: clawai sandbox open %s --net %s", cmdline.Quote([]string{name}), host)})
	}
	return all
}
