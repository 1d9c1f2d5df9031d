package policy

import (
	"strings"

	"github.com/clawai/clawai/policy/internal/effort"
	"github.com/clawai/clawai/policy/reading"
	"github.com/clawai/clawai/policy/where"
)

// OffersEntry reports whether the policy could answer a call of a list entry with an allow or a
// question. c is a call as for DecideReply: only its server, its subject and one name are known.
// The result true may be wrong. The result false is certain: every such call is denied, whatever
// its arguments and time are.
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

// offersEntry does the work of OffersEntry for one policy, without its layers.
func (p *Policy) offersEntry(c *Call) bool {
	name := c.Names[0]
	v := view{policy: p, call: c, left: effort.Max}
	all, known := v.uriReadings(name)
	all = all[:min(len(all), 64)] // the first 64 readings are enough: an allow that does not match all of them cannot match the call
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

// uriReadings returns the readings of a resource's URI. The second result is false for other
// subjects, because their conditions are on arguments. It is also false for a URI template, and if
// the policy is for Windows: paths are compared in another way on Windows, and the call's server
// may run there.
func (v *view) uriReadings(name string) (all []reading.Reading, known bool) {
	if v.call.Subject != ResourceSubject || strings.Contains(name, "{") || v.policy.options.OS == Windows {
		return make([]reading.Reading, 1), false
	}
	return v.policy.readers[resourceSlot].Read(nil, name, &v.fold, &v.left), true
}

// matchEveryCall reports whether the rule's conditions on the call as a whole hold for every call
// to a server. Only the server's name is known; for a condition on any other fact the result is
// Maybe.
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
