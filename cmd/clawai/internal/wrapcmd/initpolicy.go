package wrapcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

// initMode is how the new policy treats calls.
type initMode string

const (
	modeObserve initMode = "observe" // nothing is enforced, but everything is recorded
	modeAsk     initMode = "ask"     // a person is asked about calls without a rule
	modeStrict  initMode = "strict"  // calls without a rule are refused
)

var initModes = []initMode{modeObserve, modeAsk, modeStrict}

// starterPlan is the plan for a new policy that fits the servers.
type starterPlan struct {
	mode     initMode
	servers  map[string]*servers.KnownServer // by the server's name; nil if clawai does not know the server
	told     map[string][]toldTool           // the tools that unknown servers list, by the server's name
	profiles []string                        // names of starter policies, in the order of fixtures.ListProfiles
	known    []catalogueServer               // known servers without a starter policy, in the order of the catalogue
	agents   bool                            // clients have or get hooks, so the policy needs rules for the clients' own tools
	home     string                          // the home folder; ~ in a rule stands for it
	folders  []string                        // the servers' own folders; empty if no server has any
	named    bool                            // some rules use the list of folders
	// filesystem servers that may use further folders; a person is asked about calls there
	askedServers []string
	text         []byte
}

// planStarter chooses the rules for the servers. If one name is used for different servers in two
// files, the name counts as unknown, because rules see only the name.
func planStarter(mode initMode, targets []wrap.Target, told map[string][]toldTool, at config.Folders) (starterPlan, error) {
	p := starterPlan{mode: mode, servers: map[string]*servers.KnownServer{}, told: told, home: at.Home}
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
			p.noteFolders(t.Entry, at)
		}
	}
	slices.Sort(p.folders)
	p.folders = slices.Compact(p.folders)
	return p, nil
}

// writePolicyText makes the text of the policy. It has the starter policies, rules from the
// catalogue, rules from the servers' own lists, and rules for all other servers. Every rule except
// a deny rule names its servers or agents.
func (p *starterPlan) writePolicyText() error {
	p.profiles, p.known = nil, nil
	parts := []string{policyHead}
	for _, profile := range fixtures.ListProfiles() {
		names := p.serverNames(func(s *servers.KnownServer) bool { return profileOf(s) == profile.Name })
		if len(names) == 0 {
			continue
		}
		rules, err := p.starterRules(profile, names)
		if err != nil {
			return fmt.Errorf("the starter policy %s: %w", profile.Name, err)
		}
		p.profiles = append(p.profiles, profile.Name)
		parts = append(parts, rules)
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
			p.known = append(p.known, catalogueServer{names, known[i].Name})
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
	if p.agents { // last, because a server may have the name of an agent
		rules, err := extendOwnTools()
		if err != nil {
			return err
		}
		p.profiles, p.named = append(p.profiles, ownTools), true
		parts = append(parts, rules)
	}
	if table := p.foldersTable(); table != "" {
		parts = slices.Insert(parts, 1, table)
	}
	// These rules are for every server, because an unknown server may send the worst replies.
	rules, err := policyfile.ExtendProfile(replyTier, nil)
	if err != nil {
		return err
	}
	parts = append(parts, "# What comes back, from every server\n"+rules)
	p.text = []byte(strings.Join(parts, "\n") + fixtures.Closing)
	return nil
}

const policyHead = `# Written by clawai init. The first rule that matches decides; what none matches
# is refused. The rules of an [[extends]] stand where it stands: to read all of
# them, clawai policy show. A newer clawai changes none of them unasked: clawai policy update.
`

// replyTier is the starter policy with the rules about replies. It allows no calls.
const replyTier = "default"

// starterRules returns the [[extends]] table of a starter policy for some servers. It sets named if
// the rules use the list of folders.
func (p *starterPlan) starterRules(profile fixtures.Profile, names []string) (string, error) {
	rules, err := fixtures.ReadProfile(profile.Name)
	if err != nil {
		return "", err
	}
	p.named = p.named || strings.Contains(string(rules), fixtures.Folders)
	extends, err := policyfile.ExtendProfile(profile.Name, names)
	return "# " + strings.ToUpper(profile.Summary[:1]) + profile.Summary[1:] + "\n" + extends, err
}

// ownTools is the starter policy for the agents' own tools.
const ownTools = "coding-agent"

// serverNames returns the sorted names of the servers s for which match(s) is true.
func (p *starterPlan) serverNames(match func(*servers.KnownServer) bool) (names []string) {
	for name, s := range p.servers {
		if match(s) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// catalogueServer is a known server that has no starter policy. Its rules come from the catalogue.
type catalogueServer struct {
	names []string // names of the server in the clients' files
	as    string   // name of the server in the catalogue
}

// unknownServers returns the sorted names of the unknown servers.
func (p *starterPlan) unknownServers() []string {
	return p.serverNames(func(s *servers.KnownServer) bool { return s == nil })
}

// recogniseServer returns the known server for an entry, by the entry's command or address. It
// returns nil if clawai does not know the server.
func recogniseServer(e client.Entry) (*servers.KnownServer, error) {
	return servers.RecogniseServer(e.Command, e.Args, e.URL)
}

// profileOf returns the name of the starter policy for a server, or "" if there is none.
func profileOf(s *servers.KnownServer) string {
	if s == nil || !slices.ContainsFunc(fixtures.ListProfiles(), func(p fixtures.Profile) bool { return p.Name == s.ID }) {
		return ""
	}
	return s.ID
}
