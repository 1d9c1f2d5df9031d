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

// initMode is the treatment of calls after init.
type initMode string

const (
	modeObserve initMode = "observe" // nothing is enforced, everything is recorded
	modeAsk     initMode = "ask"     // calls without a rule are asked about
	modeStrict  initMode = "strict"  // calls without a rule are refused
)

var initModes = []initMode{modeObserve, modeAsk, modeStrict}

// starterPlan is the plan for a policy that fits some servers.
type starterPlan struct {
	mode         initMode
	servers      map[string]*servers.KnownServer // by name; nil for an unknown server
	told         map[string][]toldTool           // tools that unknown servers list, by the server's name
	profiles     []string                        // in the order of fixtures.ListProfiles
	known        []catalogueServer               // in the order of the catalogue
	agents       bool                            // clients have or get hooks, which judge the clients' own tools
	home         string                          // the folder that ~ means
	folders      []string                        // the servers' own folders; none if no server names any
	named        bool                            // rules name the list of folders
	askedServers []string                        // names of filesystem servers that may use further folders, which are asked about
	text         []byte
}

// planStarter chooses the rules by the servers. A name that means different servers in two
// files counts as unknown, since rules see only the name.
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

// writePolicyText makes the text: the starter policies, then the rules from the catalogue,
// those from the servers' own lists, and those for all other servers. Every rule that is not a
// deny rule names its servers or agents.
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
	if p.agents { // after the servers' rules, since a server may have the name of an agent
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
	rules, err := policyfile.ExtendProfile(replyTier, nil) // for every server: an unknown server may send the worst replies
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

// replyTier is the starter policy with the rules about replies. They open no call.
const replyTier = "default"

// starterRules returns the [[extends]] of a starter policy for some servers, and notes whether its
// rules name the list of folders.
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

// serverNames returns the sorted names of the servers that match accepts.
func (p *starterPlan) serverNames(match func(*servers.KnownServer) bool) (names []string) {
	for name, s := range p.servers {
		if match(s) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// catalogueServer is a known server without a starter policy: its rules come from the catalogue.
type catalogueServer struct {
	names []string // names in the clients' files
	as    string   // name in the catalogue
}

// unknownServers returns the sorted names of the unknown servers.
func (p *starterPlan) unknownServers() []string {
	return p.serverNames(func(s *servers.KnownServer) bool { return s == nil })
}

// recogniseServer returns the known server that an entry starts or leads to; nil when it is
// unknown.
func recogniseServer(e client.Entry) (*servers.KnownServer, error) {
	return servers.RecogniseServer(e.Command, e.Args, e.URL)
}

// profileOf returns the name of the starter policy for a server, "" when there is none.
func profileOf(s *servers.KnownServer) string {
	if s == nil || !slices.ContainsFunc(fixtures.ListProfiles(), func(p fixtures.Profile) bool { return p.Name == s.ID }) {
		return ""
	}
	return s.ID
}
