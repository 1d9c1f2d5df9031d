package doctorcmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/wrapcmd"
	"github.com/clawai/clawai/internal/flow"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/wrap"
)

// server is one of a client, and what it is known to do.
type server struct {
	name    string
	known   *flow.Known
	wrapped bool
	reach   reach
}

// step is a call of a leak path.
type step struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
}

// leak is three calls that together are a theft: the first returns what a stranger may have
// written, the second what is not for everybody, and the third writes where others read.
type leak struct {
	Source step `json:"source"`
	Data   step `json:"data"`
	Sink   step `json:"sink"`
}

func (l leak) String() string {
	var parts []string
	for _, s := range []step{l.Source, l.Data, l.Sink} {
		parts = append(parts, s.Server+" "+s.Tool)
	}
	return strings.Join(parts, " > ")
}

// shownLeaks is how many are told of; --json has all.
const shownLeaks = 5

// checkLeaks names the servers of one client that together let out what is yours. What
// nothing is known of could do all of it, and is counted apart.
func checkLeaks(p *machine) []finding {
	rules, f := p.rulesAndServers()
	if rules == nil {
		return nil
	}
	byClient := serversOf(f)
	leaks, bare := []leak(nil), false
	unknown, open := map[string]bool{}, map[string]bool{}
	for _, client := range slices.Sorted(maps.Keys(byClient)) {
		for i := range byClient[client] {
			byClient[client][i].reach = reachOf(&byClient[client][i], rules)
		}
		for _, l := range leaksOf(byClient[client]) {
			if !slices.Contains(leaks, l) {
				leaks = append(leaks, l)
			}
			for _, s := range byClient[client] {
				bare = bare || !s.wrapped && slices.Contains([]string{l.Source.Server, l.Data.Server, l.Sink.Server}, s.name)
			}
		}
		for _, s := range byClient[client] {
			said := slices.ContainsFunc(rules.Trusts(), func(t policy.TrustTable) bool { return t.Server == s.name })
			unknown[s.name] = unknown[s.name] || s.known == nil && !said
			open[s.name] = open[s.name] || s.known != nil && !said
		}
	}
	return leakFindings(leaks, bare, rules.Flow(), chosen(unknown), chosen(open))
}

func chosen(names map[string]bool) []string {
	maps.DeleteFunc(names, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(names))
}

func leakFindings(leaks []leak, bare bool, level policy.Level, unknown, open []string) (all []finding) {
	text := cmdline.Count(len(leaks), "1 way", "%d ways") + " in which a stranger's text could carry out what is yours"
	switch {
	case len(leaks) == 0:
		all = fine("no servers of a client that are known make a way out together")
	case level >= policy.Ask && !bare:
		all = fine("%s, each asked about or refused ([flow] level = %q)", text, level)
		all[0].Leaks = leaks
	default:
		fix := `write [flow] level = "ask" into the policy: the last call is asked about (docs/flow.md)`
		if bare {
			fix += ", behind clawai wrap"
		}
		if len(open) > 0 {
			fix += "; tables to begin with: clawai doctor --tables"
		}
		all = []finding{{Health: doubtful, Text: text, Fix: fix, Leaks: leaks}}
	}
	if len(unknown) > 0 && level != policy.Off {
		all = append(all, finding{Health: doubtful,
			Text: cmdline.Count(len(unknown), "of 1 server nothing is known", "of %d servers nothing is known") + ", so everything is taken for granted: " + quoted(unknown),
			Fix:  "say in [server.NAME] tables what they do (docs/flow.md)"})
	}
	return all
}

// serversOf are the servers by client, as one session of it has them.
func serversOf(f *wrapcmd.Found) map[string][]server {
	all := map[string][]server{}
	for i := range f.Places {
		place := &f.Places[i]
		for _, e := range place.Entries {
			state, _ := f.Judge.State(place, e)
			command := []string(nil)
			if e.Command != "" {
				command = append([]string{e.Command}, e.Args...)
			}
			all[place.Row.Client] = append(all[place.Row.Client], server{name: e.Name, known: flow.Recognise(command, e.URL), wrapped: state == wrap.Wrapped})
		}
	}
	return all
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

func (p *pick) offer(tool string, class int) {
	if p.tool == "" || class < p.class || class == p.class && len(tool) < len(p.tool) {
		*p = pick{tool, class}
	}
}

// reachOf takes what the owner says of a tool, then what is known of it: the same order as
// that in which calls are judged.
func reachOf(s *server, p *policy.Policy) (r reach) {
	for _, tool := range s.known.Tools() {
		tool.Traits = p.Trust(s.name, []string{tool.Name}).Own.Or(tool.Traits)
		r.add(tool)
	}
	if s.known == nil { // all there is are its tables
		for _, t := range p.Trusts() {
			if t.Server == s.name {
				r.add(flow.Tool{Name: strings.TrimSpace(t.Tool + " tools"), Traits: t.Traits, Decides: t.Decides})
			}
		}
	}
	return r
}

func (r *reach) add(tool flow.Tool) {
	t := tool.Traits
	if max(t.PublicSource, t.SecretData, t.PublicSink, t.DangerousWrites) == policy.Forbidden {
		return
	}
	reads := 0 // one that only reads is what people know it by
	if t.PublicSink == policy.Yes || t.DangerousWrites == policy.Yes {
		reads = 1
	}
	if t.PublicSource == policy.Yes {
		r.source.offer(tool.Name, reads)
	}
	switch t.SecretData {
	case policy.Yes:
		r.data.offer(tool.Name, reads)
		r.secret = true
	case policy.Private:
		r.data.offer(tool.Name, 2+reads)
	case policy.Unsaid, policy.No, policy.Forbidden:
	}
	switch {
	case t.PublicSink != policy.Yes:
	case tool.Decides != nil: // it is known where it goes
		r.sink.offer(tool.Name, 0)
	default:
		r.sink.offer(tool.Name, 1)
	}
}

// leaksOf are the ways out that two servers make together, and those of one alone last: a
// way for each two, those with secrets first.
func leaksOf(all []server) []leak {
	var secrets, pairs, alone []leak
	for i := range all {
		a := &all[i]
		if l, ok := through(a, a, a); ok {
			alone = append(alone, l)
		}
		for j := range all[:i] {
			l, data, ok := together(&all[j], a)
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

// together is the way of two servers that says most: with secrets, then with the stranger's text
// and the way out in one, which is where what the other holds would go.
func together(a, b *server) (best leak, data *server, ok bool) {
	ways := [][3]*server{{a, b, a}, {b, a, b}, {a, b, b}, {b, a, a}, {a, a, b}, {b, b, a}}
	for _, w := range ways {
		l, found := through(w[0], w[1], w[2])
		if found && a.name != b.name && (!ok || w[1].reach.secret && !data.reach.secret) {
			best, data, ok = l, w[1], true
		}
	}
	return best, data, ok
}

func through(source, data, sink *server) (leak, bool) {
	l := leak{step{source.name, source.reach.source.tool}, step{data.name, data.reach.data.tool}, step{sink.name, sink.reach.sink.tool}}
	return l, l.Source.Tool != "" && l.Data.Tool != "" && l.Sink.Tool != ""
}

// lines are the first of the ways, for people.
func lines(leaks []leak) (all []string) {
	for i, l := range leaks {
		if i == shownLeaks {
			return append(all, fmt.Sprintf("and %d more: clawai doctor --json", len(leaks)-shownLeaks))
		}
		all = append(all, l.String())
	}
	return all
}
