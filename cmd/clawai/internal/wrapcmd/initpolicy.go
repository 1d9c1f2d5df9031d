package wrapcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

// initMode is what shall become of calls from the first minute on.
type initMode string

const (
	modeObserve initMode = "observe" // nothing is enforced, all is recorded
	modeAsk     initMode = "ask"     // what no rule knows is asked for
	modeStrict  initMode = "strict"  // it is refused
)

var initModes = []initMode{modeObserve, modeAsk, modeStrict}

// starterPlan is the policy that fits some servers.
type starterPlan struct {
	mode         initMode
	servers      map[string]*servers.KnownServer // by name; nil when nobody knows it
	told         map[string][]toldTool           // by name, of those that nobody knows: the tools that they list
	profiles     []string                        // in the order of fixtures.ListProfiles
	known        []catalogued                    // in the order of the catalogue
	agents       bool                            // hooks have clients' own tools judged
	home         string                          // what ~ means
	folders      []string                        // what stands in the place of ~/projects; none when that stays
	askedServers []string                        // names of filesystem servers that may work in further folders: they are asked about
	text         []byte
}

// planStarter picks the rules by what the servers are. A name that means a known
// server in one file and another one elsewhere counts as unknown: rules see only the
// name.
func planStarter(mode initMode, targets []wrap.Target, told map[string][]toldTool, home string) (starterPlan, error) {
	p := starterPlan{mode: mode, servers: map[string]*servers.KnownServer{}, told: told, home: home}
	for _, t := range targets {
		known, err := recogniseServer(t.Entry)
		if err != nil {
			return p, err
		}
		if before, seen := p.servers[t.Entry.Name]; seen && before != known {
			known = nil
		}
		p.servers[t.Entry.Name] = known
		if profileOf(known) == filesystem {
			p.noteFolders(t.Entry, home)
		}
	}
	slices.Sort(p.folders)
	p.folders = slices.Compact(p.folders)
	return p, nil
}

// writePolicyText makes the text: the starter policies, what the catalogue knows, what the
// servers say, and the others. Every rule that does not only deny is about servers, or
// agents, by name.
func (p *starterPlan) writePolicyText() error {
	parts := []string{"# Written by clawai init. The first rule that matches decides; what none matches\n# is refused.\n"}
	for _, profile := range fixtures.ListProfiles() {
		names := p.serverNames(func(s *servers.KnownServer) bool { return profileOf(s) == profile.Name })
		if len(names) == 0 {
			continue
		}
		rules, err := fixtures.ProfileRules(profile.Name)
		if err != nil {
			return err
		}
		src, err := policytext.ForServers([]byte(p.inFolders(rules)), names)
		if err != nil {
			return fmt.Errorf("the starter policy %s: %w", profile.Name, err)
		}
		p.profiles = append(p.profiles, profile.Name)
		parts = append(parts, string(src))
		if further := p.furtherFolders(names); profile.Name == filesystem && further != "" {
			parts = append(parts, further)
		}
	}
	known, err := servers.LoadCatalogue()
	if err != nil {
		return err
	}
	for i := range known {
		if names := p.serverNames(func(s *servers.KnownServer) bool { return s == &known[i] && profileOf(s) == "" }); len(names) > 0 {
			parts = append(parts, p.knownRules(&known[i], names))
			p.known = append(p.known, catalogued{names, known[i].Name})
		}
	}
	var silent []string
	for _, name := range p.unknownServers() {
		if len(p.told[name]) == 0 {
			silent = append(silent, name)
			continue
		}
		parts = append(parts, p.toldRules(name))
	}
	if len(silent) > 0 {
		parts = append(parts, p.unknownRules(silent))
	}
	if p.agents { // behind those of servers, one of which may be called as an agent is
		rules, err := fixtures.ProfileRules(ownTools)
		if err != nil {
			return err
		}
		p.profiles = append(p.profiles, ownTools)
		parts = append(parts, rules) // the folder stays: a server was given its own, not an agent
	}
	p.text = []byte(strings.Join(parts, "\n") + fixtures.Closing)
	return nil
}

// ownTools is the starter policy for the tools that agents bring along.
const ownTools = "coding-agent"

// serverNames gives the names of the servers that a test picks, sorted.
func (p *starterPlan) serverNames(is func(*servers.KnownServer) bool) (names []string) {
	for name, s := range p.servers {
		if is(s) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// catalogued are servers that only the catalogue has rules for.
type catalogued struct {
	names []string
	as    string
}

// unknownServers gives the servers that nobody knows, sorted.
func (p *starterPlan) unknownServers() []string {
	return p.serverNames(func(s *servers.KnownServer) bool { return s == nil })
}

// recogniseServer gives the server that an entry starts or leads to; nil when nobody knows it.
func recogniseServer(e client.Entry) (*servers.KnownServer, error) {
	return servers.RecogniseServer(e.Command, e.Args, e.URL)
}

// profileOf gives the starter policy for a server, "" when there is none.
func profileOf(s *servers.KnownServer) string {
	if s == nil || !slices.ContainsFunc(fixtures.ListProfiles(), func(p fixtures.Profile) bool { return p.Name == s.ID }) {
		return ""
	}
	return s.ID
}
