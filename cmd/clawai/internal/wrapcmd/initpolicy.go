package wrapcmd

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/policytext"
	"github.com/clawai/clawai/internal/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

// initMode is what shall become of calls from the first minute on.
type initMode string

const (
	modeObserve initMode = "observe" // nothing is enforced, all is recorded
	modeAsk     initMode = "ask"     // servers without a starter policy are asked for
	modeStrict  initMode = "strict"  // they are refused
)

var initModes = []initMode{modeObserve, modeAsk, modeStrict}

// starterPlan is the policy that fits some servers.
type starterPlan struct {
	profiles []string          // in the order of fixtures.Profiles
	servers  map[string]string // name to profile, "" when none knows it
	folder   string            // what stands in the place of ~/projects; "" when that stays
	text     []byte
}

// planStarter picks the profiles by what the servers are. A name that means a
// known server in one file and another one elsewhere counts as unknown: rules
// see only the name.
func planStarter(mode initMode, targets []wrap.Target, home string) (starterPlan, error) {
	p := starterPlan{servers: map[string]string{}}
	var folders []string
	for _, t := range targets {
		profile := profileOf(t.Entry)
		if before, seen := p.servers[t.Entry.Name]; seen && before != profile {
			profile = ""
		}
		p.servers[t.Entry.Name] = profile
		if profile == "filesystem" {
			folders = append(folders, foldersOf(t.Entry)...)
		}
	}
	for _, known := range fixtures.Profiles() {
		for _, profile := range p.servers {
			if profile == known.Name {
				p.profiles = append(p.profiles, profile)
				break
			}
		}
	}
	slices.Sort(folders)
	if folders = slices.Compact(folders); len(folders) == 1 && modest(folders[0], home) {
		p.folder = folders[0]
	}
	return p, p.write(mode)
}

// write makes the text. What no profile knows stands first, so that no rule of a
// profile opens it.
func (p *starterPlan) write(mode initMode) error {
	action, why := "prompt", "Ask: no starter policy knows this server"
	if mode == modeStrict {
		action, why = "deny", "This server has no rules yet"
	}
	var b strings.Builder
	b.WriteString("# Written by clawai init. The first rule that matches decides; what none matches\n# is refused.\n")
	for _, name := range p.unknown() {
		for _, subject := range []string{"tool", "resource", "prompt"} {
			b.WriteString("\n" + policytext.WriteRule(policytext.Text("action", action), policytext.Text("server", name), policytext.Text(subject, "**"), policytext.Text("description", why)))
		}
	}
	if len(p.profiles) == 0 {
		b.WriteString("\n" + policytext.WriteRule(policytext.Text("action", "deny"), policytext.Text("tool", "*"), policytext.Text("description", "Everything else is refused")))
		p.text = []byte(b.String())
		return nil
	}
	rules, err := fixtures.Policy(p.profiles...)
	if err != nil {
		return err
	}
	text := string(rules)
	if p.folder != "" {
		text = strings.ReplaceAll(text, "# Put your own folders in the place of ~/projects.\n", "")
		text = strings.ReplaceAll(text, "~/projects", p.folder)
	}
	p.text = []byte(b.String() + "\n" + text)
	return nil
}

// nameable says whether a rule can speak of a server's name.
func nameable(name string) error {
	_, err := policy.Parse("", []byte(policytext.WriteRule(policytext.Text("action", "deny"), policytext.Text("tool", "*"), policytext.Text("server", name))), policy.Options{})
	if err != nil {
		return fmt.Errorf("server %s: no rule can speak of this name; give it another one", term.Value(name))
	}
	return nil
}

// unknown are the servers that no profile knows, sorted.
func (p *starterPlan) unknown() []string {
	var names []string
	for name, profile := range p.servers {
		if profile == "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// otherNames are what the servers of the profiles are called elsewhere: other
// packages with the same tools, Python modules, container images.
var otherNames = map[string][]string{
	"filesystem": {"mcp/filesystem"},
	"git":        {"mcp_server_git", "mcp/git"},
	"github":     {"github-mcp-server", "ghcr.io/github/github-mcp-server", "mcp/github"},
	"postgres":   {"mcp/postgres"},
	"fetch":      {"mcp_server_fetch", "mcp/fetch"},
	"browser":    {"mcp/playwright"},
	"slack":      {"mcp/slack"},
}

// profileOf is the profile for a server, "" when none or more than one fits its
// command line.
func profileOf(e client.Entry) string {
	found := ""
	for i, word := range append([]string{e.Command}, e.Args...) {
		name := packageOf(word, i == 0)
		for _, p := range fixtures.Profiles() {
			if name != p.Server && !slices.Contains(otherNames[p.Name], name) {
				continue
			}
			if found != "" && found != p.Name {
				return ""
			}
			found = p.Name
		}
	}
	return found
}

// packageOf takes folders and versions off a word that names a package, a
// program or an image.
func packageOf(word string, program bool) string {
	word = strings.ReplaceAll(word, `\`, "/")
	if _, in, ok := cutLast(word, "node_modules/"); ok {
		parts := strings.SplitN(in, "/", 3)
		if strings.HasPrefix(in, "@") && len(parts) > 1 {
			return parts[0] + "/" + parts[1]
		}
		return parts[0]
	}
	if program {
		word = strings.TrimSuffix(word[strings.LastIndex(word, "/")+1:], ".exe")
	}
	word, _, _ = strings.Cut(word, "==")
	if i := strings.LastIndexAny(word, "@:"); i > 0 && i > strings.LastIndex(word, "/") {
		word = word[:i]
	}
	return word
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// foldersOf are the folders that a filesystem server is given.
func foldersOf(e client.Entry) []string {
	var folders []string
	for _, word := range e.Args {
		if filepath.IsAbs(word) && !strings.Contains(filepath.ToSlash(word), "/node_modules/") {
			folders = append(folders, filepath.ToSlash(filepath.Clean(word)))
		}
	}
	return folders
}

// modest says that a rule may open a folder without more thought: it is not the
// home folder or above it, and its name is no pattern and needs no quoting.
func modest(folder, home string) bool {
	rel, err := filepath.Rel(folder, home)
	if err != nil || rel == "." || !strings.HasPrefix(rel, "..") {
		return false
	}
	return !strings.ContainsFunc(folder, func(r rune) bool {
		return strings.ContainsRune("\"\\*?[]{}$%", r) || !unicode.IsPrint(r)
	})
}
