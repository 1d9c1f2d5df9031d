package prove

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/glob"
)

// A built-in tool of a client has two names: its own name and the name of its class. Some of its
// arguments also have two names. A rule matches a call of the tool if it matches one of the two
// names. But a call in the model has only one name. So a proof is also valid for built-in tools
// only if no rule treats the two names differently. Otherwise the result is undecided.

// ReasonBuiltin is the reason of an undecided class that is only about built-in tools of agents.
const ReasonBuiltin = "rules about the built-in tools of agents changed, which have two names each (docs/hooks.md); these were not compared"

const reasonEscapes = "a rule above leaves an agent's built-in tool alone by one of its two names (docs/hooks.md)"

// compareBuiltins adds a class if the two policies may answer a call of some built-in tool
// differently.
func (d *difference) compareBuiltins() {
	old, after := toolRules(d.before), toolRules(d.after)
	for _, id := range builtin.ListClients() {
		for _, class := range builtin.ListClasses() {
			for _, own := range builtin.ToolNames(id, class.Name) {
				a, oldApart := rulesAbout(old, id, own, class)
				b, newApart := rulesAbout(after, id, own, class)
				if (oldApart || newApart) && !slices.Equal(a, b) && !d.comparePlainly(id, own, append(a, b...)) {
					d.classes = append(d.classes, CallClass{Undecided: true, Reason: ReasonBuiltin})
					return
				}
			}
		}
	}
}

// comparePlainly compares the answers of both policies to a call of a built-in tool without
// arguments. If they differ, it adds a class. It returns false if the answers are equal and some
// rule also looks at other things than names, because other calls of the tool may then differ.
func (d *difference) comparePlainly(client, own string, rules []string) bool {
	c := policy.Call{Server: client, Method: builtin.Method, Subject: policy.ToolSubject, Names: []string{own}}
	was, is := d.before.Decide(&c), d.after.Decide(&c)
	old, after := AnswerBy(was.Action, was.Rule), AnswerBy(is.Action, is.Rule)
	if old.Action == after.Action && old.OutOfBand == after.OutOfBand && old.Approval == after.Approval {
		return !slices.ContainsFunc(rules, func(r string) bool { return strings.Contains(r, furtherMark) })
	}
	if !slices.ContainsFunc(d.classes, func(k CallClass) bool { return !k.Undecided && k.Old == old && k.New == after }) {
		d.classes = append(d.classes, CallClass{Old: old, New: after, Witness: &c})
	}
	return true
}

// furtherMark is in the result of ruleText if the rule has a condition that is not about names.
const furtherMark = "\x00"

// toolRule is a rule about tools, with compiled globs for names and servers.
type toolRule struct {
	*policy.Source
	names, not, servers []*glob.Pattern
}

func toolRules(p *policy.Policy) (all []toolRule) {
	sources := p.Sources()
	for i := range sources {
		if sources[i].Subject == policy.ToolSubject {
			all = append(all, asToolRule(&sources[i]))
		}
	}
	return all
}

func asToolRule(s *policy.Source) toolRule {
	return toolRule{s, compileGlobs(s.Names), compileGlobs(s.Not.Names), compileGlobs(s.Servers)}
}

func compileGlobs(globs []string) (all []*glob.Pattern) {
	for _, g := range globs {
		if p, err := glob.Compile(g); err == nil {
			all = append(all, p)
		}
	}
	return all
}

func matchesAny(globs []*glob.Pattern, name string) bool {
	return slices.ContainsFunc(globs, func(g *glob.Pattern) bool { return g.Match(name) })
}

// rulesAbout lists, as texts, the rules that may match a built-in tool with this name and class.
// The result apart is true if a rule treats the tool's own name and the class differently, or names
// an argument that has a second name. If apart is false, the policy answers a call of the tool like
// a call of a server's tool with the same name and arguments.
func rulesAbout(all []toolRule, client, own string, class builtin.Class) (rules []string, apart bool) {
	tool := builtin.FindTool(client, own)
	for i := range all {
		s := &all[i]
		byOwn, byClass := matchesAny(s.names, own), matchesAny(s.names, class.Name)
		if !byOwn && !byClass || s.servers != nil && !matchesAny(s.servers, client) {
			continue
		}
		apart = apart || !byOwn || matchesAny(s.not, own) != matchesAny(s.not, class.Name)
		for _, path := range s.ArgumentPaths() {
			apart = apart || tool.SharedName(path[0]) != ""
		}
		rules = append(rules, ruleText(s.Source))
	}
	return rules, apart
}

// ruleText returns the conditions and the action of a rule as text, without its position.
func ruleText(s *policy.Source) string {
	text := fmt.Sprintf("%v %v %q %v %q %q %q", s.Action, s.OutOfBand, s.Approval.String(), s.Rate, s.Names, s.Servers, s.Not.Names)
	if s.WatchesUnnamedArgs() || s.Rate.HasLimit() {
		text += furtherMark + fmt.Sprint(s.Further)
	}
	for _, a := range slices.Concat(s.Args, s.Not.Args) {
		text += fmt.Sprintf(furtherMark+"%q %q", a.Path, a.Globs)
	}
	for _, w := range s.Where {
		text += fmt.Sprintf(furtherMark+"%q %s %s", w.Path, w.Key, w.Text)
	}
	for _, c := range slices.Concat(s.Calls, s.Not.Calls) {
		if c.Key != "server" || len(s.Not.Calls) > 0 {
			text += fmt.Sprintf(furtherMark+"%s %s", c.Key, c.Text)
		}
	}
	return text
}

// escapesBuiltin reports whether a rule matches some built-in tool by only one of its two names, or
// has an exception for only one of them. Such a rule covers fewer calls than the model assumes.
func escapesBuiltin(s *policy.Source) bool {
	if s.Subject != policy.ToolSubject || s.Not.Names == nil {
		return false
	}
	for _, id := range builtin.ListClients() {
		for _, class := range builtin.ListClasses() {
			for _, own := range builtin.ToolNames(id, class.Name) {
				if _, apart := rulesAbout([]toolRule{asToolRule(s)}, id, own, builtin.Class{Name: class.Name}); apart {
					return true
				}
			}
		}
	}
	return false
}
