package wrapcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

// tellUnruled prints the wrapped servers for which the existing policy has no rule. Their calls are
// refused, except if clawai only observes.
func (r *wrapRun) tellUnruled(changes []wrap.Change) {
	if r.op != wrap.Wrap || r.rules == nil || r.Judge.Observe {
		return
	}
	rules := r.rules.Sources()
	var shut, narrow, again []string
	profiles := map[string]string{} // starter policies for these servers, by the server's name
	for _, c := range changes {
		for _, e := range c.Edits {
			profile := starterFor(e.Entry)
			switch openFor(rules, e.Entry, profile) {
			case opened:
				continue
			case openedElsewhere:
				narrow = append(narrow, e.Entry.Name)
			case closed:
				shut = append(shut, e.Entry.Name)
			}
			if profile != "" {
				profiles[e.Entry.Name] = profile
			}
			again = append(again, term.VisibleText(cmdline.Quote([]string{e.Entry.Name})))
		}
	}
	if len(again) == 0 {
		return
	}
	path := r.ShortPath(r.folders.PolicyFile())
	if len(shut) > 0 {
		fmt.Fprintf(r.prose, "No rule of %s opens %s: every call will be refused.\n", path, joinNames(shut))
	}
	if len(narrow) > 0 {
		fmt.Fprintf(r.prose, "No rule of %s names %s: what its rules without a server do not open will be refused.\n", path, joinNames(narrow))
	}
	for _, name := range dropRepeats(slices.Concat(shut, narrow)) {
		if p := profiles[name]; p != "" {
			fmt.Fprintf(r.prose, "  Rules for %s, to put above the one that refuses the rest: clawai policy init --profile %s --output -\n", term.VisibleLine(name), p)
		}
	}
	if r.Judge.Hub.Into {
		return // wrap cannot write a hub that only observes, so there is no command to suggest
	}
	watch := "clawai wrap " + strings.Join(dropRepeats(again), " ") + " --observe"
	if r.Judge.HTTPProxy.Base != "" && editsRemote(changes) {
		watch = "clawai proxy --listen " + r.c.String("listen") + " --wrapped --observe"
	}
	fmt.Fprintf(r.prose, "  Or watch first: %s\n  And learn from it: clawai policy learn\n", watch)
}

// starterFor returns the starter policy for the server of an entry, or "" if there is none.
func starterFor(e client.Entry) string {
	known, _ := recogniseServer(e) // nil if the catalogue cannot be read; then the server counts as unknown
	return profileOf(known)
}

// opening is how much the rules of a policy allow for one server.
type opening uint8

const (
	closed          opening = iota // no rule allows anything for this server
	openedElsewhere                // only rules that name no server allow something, and this may be nothing that the server has
	opened                         // a rule names the server, or names one of its tools, resources or prompts
)

// openFor returns how much the rules allow for a server. It does not ask the server for its tools.
// It knows only the names in the server's starter policy, if there is one.
func openFor(rules []policy.Source, e client.Entry, profile string) opening {
	found := closed
	for i := range rules {
		s := &rules[i]
		switch {
		case s.Subject == policy.NoSubject: // such a rule is not about calls
		case s.Servers != nil:
			if matchesAny(s.Servers, e.Name) {
				return opened
			}
		case s.Action == policy.Deny || !slices.Contains([]policy.Subject{policy.ToolSubject, policy.ResourceSubject, policy.PromptSubject}, s.Subject):
		case slices.ContainsFunc(s.Names, func(g string) bool { return strings.Trim(g, "*") == "" }),
			slices.ContainsFunc(namesOf(profile), func(name string) bool { return matchesAny(s.Names, name) }):
			return opened
		default:
			found = openedElsewhere
		}
	}
	return found
}

// matchesAny reports whether one of the globs matches a name.
func matchesAny(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		p, err := glob.Compile(g)
		return err == nil && p.Match(name)
	})
}

// namesOf returns the names that the rules of a starter policy allow. The names may be globs.
func namesOf(profile string) (names []string) {
	if profile == "" {
		return nil
	}
	src, err := fixtures.ComposePolicy(profile)
	if err != nil {
		return nil
	}
	p, err := policy.Parse("", src, policy.Options{})
	if err != nil {
		return nil
	}
	for _, s := range p.Sources() {
		if s.Action != policy.Deny && s.Subject != policy.NoSubject {
			names = append(names, s.Names...)
		}
	}
	return names
}
