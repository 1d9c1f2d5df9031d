// Package leaks knows which servers of a client make a way out together: what doctor warns of,
// and what init and wrap say of the servers that they put clawai in front of.
package leaks

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/policy"
)

// ClientServer is one of a client, and what it is known to do.
type ClientServer struct {
	Name    string
	Known   *flow.Known // nil of one that is not
	Wrapped bool
	reach   reach
}

// Step is a call of a leak path.
type Step struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
}

// Leak is three calls that together are a theft: the first returns what a stranger may have
// written, the second what is not for everybody, and the third writes where others read.
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

// reach is a tool of a server for each of the three calls.
type reach struct {
	source, data, sink pick
	secret             bool // the data is
}

// pick is the tool that shows best what its server can do: of the lowest class, and of those the
// shortest name. None has the name "".
type pick struct {
	tool  string
	class int
}

func (p *pick) offerTool(tool string, class int) {
	if p.tool == "" || class < p.class || class == p.class && len(tool) < len(p.tool) {
		*p = pick{tool, class}
	}
}

// reachOf takes what the owner says of a tool, then what is known of it: the same order as
// that in which calls are judged.
func reachOf(s *ClientServer, p *policy.Policy) (r reach) {
	for _, tool := range s.Known.ListTools() {
		if p != nil {
			tool.Traits = p.ToolTrust(s.Name, []string{tool.Name}).Own.FillUnsaid(tool.Traits)
		}
		r.addTool(tool)
	}
	if s.Known == nil && p != nil { // all there is are its tables
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
	reads := 0 // one that only reads is what people know it by
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
	case tool.Decides != nil: // it is known where it goes
		r.sink.offerTool(tool.Name, 0)
	default:
		r.sink.offerTool(tool.Name, 1)
	}
}

// FindLeaks gives the ways out that two servers of a session make together, and those of one alone
// last: a way for each two, those with secrets first. p may be nil, where nobody has a word.
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

// findWorstLeak gives the way of two servers that says most: with secrets, then with the stranger's text
// and the way out in one, which is where what the other holds would go.
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
