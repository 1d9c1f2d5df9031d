package policy

import (
	"strings"

	"github.com/clawai/clawai/policy/internal/effort"
	"github.com/clawai/clawai/policy/reading"
	"github.com/clawai/clawai/policy/where"
)

// OffersEntry reports whether some call of what an entry of a list names could be allowed, or asked
// about. c is as DecideReply has it: its server, its subject and one name are known, of what
// else a call may carry nothing is. It errs to one side: what it says no to is denied,
// whatever a call carries and whenever it is made.
func (p *Policy) OffersEntry(c *Call) bool {
	if malformedReason(c) != "" {
		return false
	}
	for _, layer := range p.options.Above {
		if !layer.offersEntry(c) {
			return false
		}
	}
	return p.offersEntry(c)
}

// offersEntry is Offers without the layers.
func (p *Policy) offersEntry(c *Call) bool {
	name := c.Names[0]
	v := view{policy: p, call: c, left: effort.Max}
	all, known := v.uriReadings(name)
	all = all[:min(len(all), 64)] // an allow needs every reading, these among them
	for i := range p.rules {
		r := &p.rules[i]
		if src := &p.sources[i]; src.On != OnCall || src.subject != c.Subject || r.action.AltersContent() || !v.matchesName(r, name) {
			continue
		}
		sure := r.matchEveryCall(c)
		if sure == where.No {
			continue
		}
		hit, perhaps := uint64(1)<<len(all)-1, uint64(0)
		for i := range r.conditions {
			if known {
				hit, perhaps = v.narrowReadings(&r.conditions[i], all, hit, perhaps, r.action)
			} else {
				sure = where.Maybe
			}
		}
		switch {
		case v.left <= 0, r.action != Deny && hit|perhaps != 0:
			return true
		case hit != 0 && sure == where.Yes && !r.further.watches:
			return false
		}
	}
	return p.passesUnmatched()
}

// uriReadings gives the readings of what a resource is called; known is false of other subjects, whose
// conditions are on arguments, of a template, and on Windows: the call may say that its
// server runs there, where paths are compared otherwise.
func (v *view) uriReadings(name string) (all []reading.Reading, known bool) {
	if v.call.Subject != ResourceSubject || strings.Contains(name, "{") || v.policy.options.OS == Windows {
		return make([]reading.Reading, 1), false
	}
	return v.policy.readers[resourceSlot].Read(nil, name, &v.fold, &v.left), true
}

// matchEveryCall reports whether the conditions on a call as a whole hold of every call to a server:
// of all that they ask about, its name alone is known.
func (r *rule) matchEveryCall(c *Call) where.Match {
	all := where.Yes
	for _, t := range r.calls {
		about := t
		if e, not := t.(except); not {
			about = e.callTest
		}
		if _, server := about.(*callGlob); server {
			all = min(all, t.matchCall(c))
		} else {
			all = min(all, where.Maybe)
		}
	}
	return all
}
