package wrapcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy/policytext"
)

// toldTool is a tool that a server lists, and how the new policy treats calls of this tool. The
// server's own claims can only make the treatment stricter.
type toldTool struct {
	name  string
	reads bool // the name and the server both say that the tool changes nothing
	grave bool // the name or the server says that the tool removes, runs or sends something
	allow bool // the person has chosen the tool
}

// effects has an action and a description for each effect that a known tool can have.
var effects = []struct {
	name, action, why string
}{
	{"read", "allow", "%s may look things up"},
	{"secrets", "prompt", "Ask before %s reads what may hold secrets"},
	{"write", "prompt", "Ask before %s changes something"},
	{"sends", "prompt", "Ask before %s sends something out"},
	{"destructive", "prompt", "Ask before %s removes, overwrites or runs something"},
}

// knownRules returns the rules for a server in the catalogue. They allow the tools that only read.
func (p *starterPlan) knownRules(s *servers.KnownServer, names []string) string {
	rules := []string{fmt.Sprintf("# %s (known as %s)\n", term.VisibleText(strings.Join(names, ", ")), s.Name)}
	for _, e := range effects {
		for _, list := range s.Tools.ListEffects() {
			if list.Name == e.name && len(list.Tools) > 0 {
				rules = append(rules, renderRule(e.action, names, "tool", list.Tools, fmt.Sprintf(e.why, s.Name)))
			}
		}
	}
	return strings.Join(append(rules, p.fallbackRules(names, "Ask: no rule knows this of "+s.Name)...), "\n")
}

// toldRules returns the rules for a server that has listed its tools. They allow the tools that the
// person has chosen.
func (p *starterPlan) toldRules(name string) string {
	who := term.VisibleText(name)
	rules := []string{fmt.Sprintf("# %s (by the tools that it lists itself)\n", who)}
	for _, part := range []struct {
		action, why string
		is          func(toldTool) bool
	}{
		{"allow", "%s may look things up: you chose these", func(t toldTool) bool { return t.allow && !t.grave }},
		{"prompt", "Ask before %s removes, runs or sends something", func(t toldTool) bool { return t.grave }},
	} {
		var tools []string
		for _, t := range p.told[name] {
			if part.is(t) {
				tools = append(tools, t.name)
			}
		}
		if len(tools) > 0 {
			rules = append(rules, renderRule(part.action, []string{name}, "tool", tools, fmt.Sprintf(part.why, who)))
		}
	}
	return strings.Join(append(rules, p.fallbackRules([]string{name}, "Ask: every other call of "+who)...), "\n")
}

// unknownRules returns the rules for servers that clawai does not know.
func (p *starterPlan) unknownRules(names []string) string {
	rules := []string{"# Servers that clawai does not know\n"}
	if p.mode == modeStrict {
		return strings.Join(append(rules, renderRule("deny", names, "tool", []string{"**"}, "This server has no rules yet")), "\n")
	}
	return strings.Join(append(rules, p.fallbackRules(names, "Ask: clawai does not know this server")...), "\n")
}

// fallbackRules returns the rules for all calls that no earlier rule names. In the strict mode
// it returns nil.
func (p *starterPlan) fallbackRules(names []string, why string) (rules []string) {
	if p.mode == modeStrict {
		return nil
	}
	for _, subject := range []string{"tool", "resource", "prompt"} {
		rules = append(rules, renderRule("prompt", names, subject, []string{"**"}, why))
	}
	return rules
}

func renderRule(action string, names []string, subject string, of []string, why string) string {
	of = slices.Sorted(slices.Values(of))
	return policytext.WriteRule(policytext.StringPair("action", action),
		policytext.Pair{Key: "server", Value: policytext.OneOrList(policytext.QuoteAll(names))},
		policytext.Pair{Key: subject, Value: policytext.OneOrList(policytext.QuoteAll(of))},
		policytext.StringPair("description", why))
}
