package policy

import (
	"slices"

	"github.com/clawai/clawai/policy/policytext"
)

// LimitTable is one [[limit]]: how often calls of tools are allowed, no matter which rules allow
// them. It applies in addition to the rules, and allows nothing by itself.
type LimitTable struct {
	// Rule has the limit's place, description and rate. The action of Rule applies only to the
	// calls beyond the rate. The index of Rule comes after the indexes of the rules.
	Rule
	Tools   []string // globs; one must match; nil for every tool
	Servers []string // globs on server names; one must match; nil for every server
	// Start and End are the offsets of the table in the file. The table includes its header.
	Start, End int
	From       string // the entry of extends that the table comes from; "" for a table of the file itself

	tools, servers anyOf
}

// LimitTables returns the [[limit]] tables of the policy, without those of its layers. The tables
// of extended texts come last.
func (p *Policy) LimitTables() []LimitTable { return slices.Clone(p.limits) }

// CoversCall reports whether an allowed call counts against the limit. If the server's name is not
// known, the call counts as a call to any server. A built-in tool of an agent counts by its own
// name and by the name of its class.
func (l *LimitTable) CoversCall(c *Call) bool {
	named := func(name string) bool {
		class := builtinOf(c, name).Class
		return l.tools.matchText(name) || class != "" && l.tools.matchText(class)
	}
	return c.Subject == ToolSubject && (l.tools == nil || slices.ContainsFunc(c.Names, named)) &&
		(l.servers == nil || c.Server == "" || l.servers.matchText(c.Server))
}

// formatTOML returns the table as TOML without its description. texts holds the TOML of the rate,
// the sum and the other parts.
func (l *LimitTable) formatTOML(texts map[string]string) string {
	var pairs []policytext.Pair
	for _, row := range []struct {
		key   string
		globs []string
	}{{"tool", l.Tools}, {"server", l.Servers}} {
		if row.globs != nil {
			pairs = append(pairs, policytext.Pair{Key: row.key, Value: policytext.OneOrList(policytext.QuoteAll(row.globs))})
		}
	}
	return "[[limit]]\n" + policytext.InlineTable(pairs) + tableOf(limitNames, texts)
}

// addLimits gives the policy its limits. It keeps only one of several equal limits. It adds the
// layer's name to the key of a layer's limit, so that this key never equals the key of a limit in
// the policy below.
func (p *Policy) addLimits(limits []LimitTable) {
	for _, l := range limits {
		l.Rate.Key += p.options.Layer
		if !slices.ContainsFunc(p.limits, func(o LimitTable) bool { return o.Rate.Key == l.Rate.Key }) {
			l.Index = len(p.sources) + len(p.limits)
			p.limits = append(p.limits, l)
		}
	}
}
