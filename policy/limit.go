package policy

import (
	"slices"

	"github.com/clawai/clawai/policy/policytext"
)

// LimitTable is one [[limit]]: how often calls of tools are let through, whichever rules let
// them. It comes on top of what these say and opens nothing.
type LimitTable struct {
	// Rule has the limit's place, description and rate. Its action is what becomes of
	// the calls beyond, and it decides no others; its index is behind those of the rules.
	Rule
	Tools   []string // globs, of which one must match; nil for every tool
	Servers []string // the same of servers
	// Start and End are the bytes of the file in which it stands, its header included.
	Start, End int
	From       string // the entry of extends that it comes from; "" for the file's own

	tools, servers anyOf
}

// LimitTables gives the policy's own [[limit]] tables, those of what it extends last.
func (p *Policy) LimitTables() []LimitTable { return slices.Clone(p.limits) }

// CoversCall reports whether a call counts against the limit when it is let through. A server
// whose name is not known may be any; a tool that an agent brings along counts by either of
// its names.
func (l *LimitTable) CoversCall(c *Call) bool {
	named := func(name string) bool {
		class := builtinOf(c, name).Class
		return l.tools.matchText(name) || class != "" && l.tools.matchText(class)
	}
	return c.Subject == ToolSubject && (l.tools == nil || slices.ContainsFunc(c.Names, named)) &&
		(l.servers == nil || c.Server == "" || l.servers.matchText(c.Server))
}

// formatTOML gives the table but for its description.
func (l *LimitTable) formatTOML(texts map[string]string) string {
	var pairs []policytext.Pair
	for _, of := range []struct {
		key   string
		globs []string
	}{{"tool", l.Tools}, {"server", l.Servers}} {
		if of.globs != nil {
			pairs = append(pairs, policytext.Pair{Key: of.key, Value: policytext.OneOrList(policytext.QuoteAll(of.globs))})
		}
	}
	return "[[limit]]\n" + policytext.InlineTable(pairs) + tableOf(limitNames, texts)
}

// addLimits gives the policy its limits. One that is said twice counts once, but those of a
// layer are not those of the policy below it.
func (p *Policy) addLimits(limits []LimitTable) {
	for _, l := range limits {
		l.Rate.Key += p.options.Layer
		if !slices.ContainsFunc(p.limits, func(o LimitTable) bool { return o.Rate.Key == l.Rate.Key }) {
			l.Index = len(p.sources) + len(p.limits)
			p.limits = append(p.limits, l)
		}
	}
}
