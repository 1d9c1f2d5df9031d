// Package leaks finds servers of one client that can leak data together. Doctor warns about all of
// them. Init and wrap mention the leaks of servers that they have just wrapped.
package leaks

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/policy"
)

// ClientServer is one server of a client, with its known behaviour.
type ClientServer struct {
	Name    string
	Known   *flow.Known // nil for an unknown server
	Wrapped bool
	reach   reach
}

// Step is one call in a leak.
type Step struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
}

// Leak is three calls that can steal data together. Source returns text that a stranger may have
// written. Data returns private data. Sink writes to a place where others can read.
type Leak struct {
	Source Step `json:"source"`
	Data   Step `json:"data"`
	Sink   Step `json:"sink"`
}

func (l Leak) String() string {
	var parts []string
	for _, s := range []Step{l.Source, l.Data, l.Sink} {
		parts = append(parts, s.Server+" "+s.Tool)
	}
	return strings.Join(parts, " > ")
}

// reach has the tools of one server for the three calls of a leak.
type reach struct {
	source, data, sink pick
	secret             bool // true if the data tool returns secrets
}

// pick is one tool that shows what its server can do: the tool with the lowest class or, if several
// tools have this class, the one with the shortest name. tool is "" if the server has no such tool.
type pick struct {
	tool  string
	class int
}

func (p *pick) offerTool(tool string, class int) {
	if p.tool == "" || class < p.class || class == p.class && len(tool) < len(p.tool) {
		*p = pick{tool, class}
	}
}

// reachOf returns the reach of a server. The owner's tables in the policy have priority over the
// built-in knowledge about a tool. The same is true when clawai judges a call.
func reachOf(s *ClientServer, p *policy.Policy) (r reach) {
	for _, tool := range s.Known.ListTools() {
		if p != nil {
			tool.Traits = p.ToolTrust(s.Name, []string{tool.Name}).Own.FillUnsaid(tool.Traits)
		}
		r.addTool(tool)
	}
	if s.Known == nil && p != nil { // only the policy's tables describe this server
		for _, t := range p.TrustTables() {
			if t.Server == s.Name {
				r.addTool(flow.Tool{Name: strings.TrimSpace(t.Tool + " tools"), Traits: t.Traits, Decides: t.Decides})
			}
		}
	}
	return r
}

func (r *reach) addTool(tool flow.Tool) {
	t := tool.Traits
	if max(t.PublicSource, t.SecretData, t.PublicSink, t.DangerousWrites) == policy.Forbidden {
		return
	}
	// A tool that only reads has the number 0, and a tool that also writes has 1. The lower number
	// is preferred, because people know read-only tools better.
	reads := 0
	if t.PublicSink == policy.Yes || t.DangerousWrites == policy.Yes {
		reads = 1
	}
	if t.PublicSource == policy.Yes {
		r.source.offerTool(tool.Name, reads)
	}
	switch t.SecretData {
	case policy.Yes:
		r.data.offerTool(tool.Name, reads)
		r.secret = true
	case policy.Private:
		r.data.offerTool(tool.Name, 2+reads)
	case policy.Unsaid, policy.No, policy.Forbidden:
	}
	switch {
	case t.PublicSink != policy.Yes:
	case tool.Decides != nil: // the arguments show where the data goes
		r.sink.offerTool(tool.Name, 0)
	default:
		r.sink.offerTool(tool.Name, 1)
	}
}

// FindLeaks returns the leaks of servers that one session can use, one for each pair of servers.
// Leaks with secrets come first, then other pairs, then single servers. p is nil if there is no
// policy.
func FindLeaks(servers []ClientServer, p *policy.Policy) []Leak {
	all := slices.Clone(servers)
	for i := range all {
		all[i].reach = reachOf(&all[i], p)
	}
	var secrets, pairs, alone []Leak
	for i := range all {
		a := &all[i]
		if l, ok := buildLeak(a, a, a); ok {
			alone = append(alone, l)
		}
		for j := range all[:i] {
			l, data, ok := findWorstLeak(&all[j], a)
			switch {
			case !ok:
			case data.reach.secret:
				secrets = append(secrets, l)
			default:
				pairs = append(pairs, l)
			}
		}
	}
	return slices.Concat(secrets, pairs, alone)
}

// findWorstLeak returns the worst leak between two servers. A leak with secrets is worst. After
// that comes a leak in which one server both returns a stranger's text and sends the data out.
func findWorstLeak(a, b *ClientServer) (best Leak, data *ClientServer, ok bool) {
	ways := [][3]*ClientServer{{a, b, a}, {b, a, b}, {a, b, b}, {b, a, a}, {a, a, b}, {b, b, a}}
	for _, w := range ways {
		l, found := buildLeak(w[0], w[1], w[2])
		if found && a.Name != b.Name && (!ok || w[1].reach.secret && !data.reach.secret) {
			best, data, ok = l, w[1], true
		}
	}
	return best, data, ok
}

func buildLeak(source, data, sink *ClientServer) (Leak, bool) {
	l := Leak{Step{source.Name, source.reach.source.tool}, Step{data.Name, data.reach.data.tool}, Step{sink.Name, sink.reach.sink.tool}}
	return l, l.Source.Tool != "" && l.Data.Tool != "" && l.Sink.Tool != ""
}
