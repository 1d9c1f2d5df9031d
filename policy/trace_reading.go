package policy

import (
	"strings"

	"github.com/clawai/clawai/policy/reading"
)

// ArgumentValue is one value of an argument, or the URI of a resource. A trace lists such a
// value if a rule that may match the call has a condition on the argument or on the URI.
type ArgumentValue struct {
	Path     []string  // the names below args; nil for the URI of a resource
	Readings []Reading // at least one; if readings have the same text and refusal, the list has only the first of them
}

// Reading is one way in which a server could understand a value.
type Reading struct {
	Text    string   // the text that was compared with the conditions
	Sent    string   // the text as sent
	How     []string // the steps that made Text, in words and in order; nil if Text is as sent
	Absent  bool     // a server may find no value for the argument
	Refused string   // why the reading is refused; "" if it is not. A refused reading matches no allow rule, and every deny and prompt rule
}

// maxTraced is the largest number of readings of one call that a trace shows.
const maxTraced = 1 << 10

// copyReading copies a reading, because the view reuses its memory.
func (p *Policy) copyReading(r *reading.Reading) *Reading {
	out := Reading{Text: strings.Clone(r.Text), Sent: strings.Clone(r.Raw), Absent: r.Kind == reading.Absent}
	if r.Kind == reading.Refused {
		out.Refused = r.Refusal
	}
	if r.Within != "" {
		out.Sent = strings.Clone(r.Within)
		out.How = []string{"out of the JSON in it"}
	}
	if r.Text != r.Raw && !out.Absent {
		out.How = append(out.How, r.MadeBy(p.homeFolder())...)
	}
	switch {
	case len(r.Places) == 0 || r.Places[0].Own:
	case reading.IsFile(r.Text):
		out.How = append(out.How, "as the path "+r.Places[0].Text)
	default:
		out.How = append(out.How, "from the server's folder, "+r.Places[0].Text)
	}
	return &out
}

// addValues adds the readings that a view made for one of the call's names.
func (t *tracer) addValues(v *view) {
	paths := map[int32][]string{}
	if n := t.policy.args[t.call.Subject]; n != nil {
		n.collectPaths(nil, paths)
	}
	shown := 0
	for i := range v.spans {
		s := &v.spans[i]
		for _, u := range v.units[s.units[0]:s.units[1]] {
			val := ArgumentValue{Path: paths[s.slot]}
			seen := map[string]bool{}
			for j := u.lo; j < u.hi && shown < maxTraced; j++ {
				r := t.policy.copyReading(&v.readings[j])
				if key := r.Text + "\x00" + r.Refused; !seen[key] {
					seen[key] = true
					val.Readings = append(val.Readings, *r)
					shown++
				}
			}
			if len(val.Readings) > 0 {
				t.trace.Values = append(t.trace.Values, val)
			}
		}
	}
}

// collectPaths stores in bySlot the path of each slot in the tree n.
func (n *argNames) collectPaths(above []string, bySlot map[int32][]string) {
	if n.slot != 0 {
		bySlot[n.slot] = above
		if n.up == nil {
			bySlot[n.slot] = []string{everyName}
		}
	}
	for name, kid := range n.flat {
		kid.collectPaths(append(above[:len(above):len(above)], name), bySlot)
	}
}
