package policy

import (
	"bytes"
	"slices"

	"github.com/clawai/clawai/policy/internal/effort"
	"github.com/clawai/clawai/policy/where"
)

// Rules about what comes back (on = "reply", "list") are lists of their own: those that
// judge calls never see them. Each is a policy by itself that passes what none of its
// rules matches.

// compileScreens compiles those of replies and of lists, where there are any.
func (p *Policy) compileScreens() (errs Errors) {
	for on := OnReply; on <= OnList; on++ {
		o := p.options
		o.judges, o.Above = on, nil
		for _, layer := range p.options.Above {
			if q := layer.screens[on]; q != nil {
				o.Above = append(o.Above, q)
			}
		}
		if len(o.Above) == 0 && !p.hasRulesOn(on) {
			continue
		}
		q, wrong := compileSources(p.sources, o)
		p.screens[on] = q
		errs = append(errs, wrong...)
	}
	return errs
}

// hasRulesOn reports whether some rule judges that.
func (p *Policy) hasRulesOn(on On) bool {
	for i := range p.sources {
		if p.sources[i].On == on {
			return true
		}
	}
	return false
}

// passesUnmatched reports whether what no rule matches goes on, as far as this policy is asked.
func (p *Policy) passesUnmatched() bool { return p.options.Layer != "" || p.options.judges != OnCall }

// PolicyFor gives the policy as it judges what comes back, one reading at a time: a Call with one
// of its Finds, Screened, or with none for the whole. It is for analyses, by Decide and
// Trace; nil where no rule is about it.
func (p *Policy) PolicyFor(on On) *Policy {
	if on == OnCall {
		return p
	}
	return p.screens[on]
}

// AltersAlike reports whether two policies have the same rules, in the same order, about
// replies, or about lists, or about what is altered of calls, and the same packs.
func (p *Policy) AltersAlike(q *Policy, on On) bool {
	return slices.Equal(p.screenFingerprints(on), q.screenFingerprints(on)) && slices.EqualFunc(p.packs, q.packs, func(a, b Pack) bool {
		return bytes.Equal(a.Text(), b.Text())
	})
}

// screenFingerprints gives the rules that decide no calls, by what they say.
func (p *Policy) screenFingerprints(on On) (all []string) {
	for i := range p.sources {
		if r := &p.sources[i]; r.On == on && (on != OnCall || r.Action.AltersContent()) {
			all = append(all, r.fingerprint())
		}
	}
	return all
}

// Screens are the kinds of findings that rules, those of layers too, are about: what is
// to be looked for. ruled says whether there are any rules that DecideReply asks, of lists
// also whether a server is pinned, or what is denied is left out; of calls, whether a rule has a find.
// Of a policy that was read for some calls, these are the rules that can match them.
func (p *Policy) Screens(on On) (kinds []string, ruled bool) {
	q, some := p.PolicyFor(on), on == OnList && (p.options.HideDenied || p.HasPins())
	if q == nil {
		return nil, some
	}
	for _, layer := range append(slices.Clone(q.options.Above), q) {
		for i := range layer.sources {
			r := &layer.sources[i]
			if on == OnCall && layer.options.Calls != nil && !layer.rules[i].compiled {
				continue // it is about no call that the policy is read for
			}
			if f := r.findCondition(); r.On == on && f != nil {
				kinds = append(kinds, f.words...)
			}
			some = some || r.On == on
		}
	}
	if slices.Contains(kinds, anyKind) {
		kinds = p.KindsOn(on)
	}
	slices.Sort(kinds)
	kinds = slices.Compact(kinds)
	return kinds, len(kinds) > 0 || on != OnCall && some
}

// DecideReply judges what came back to calls, or entries of a list as the calls that
// would name them, in which kinds of findings were found.
//
// Each kind is a reading, and so is the whole; each is judged by the first rule that
// matches it, a rule with a find judging findings and one without the whole. Of deny and
// prompt the strictest holds for everything, and what is altered adds up (Decision.Alters,
// also beside a prompt). What no rule matches passes; Allow is by no rule, whatever excepts
// some kind. So a rule takes nothing from another that is about another kind,
// and no rule can let through what another refuses.
//
// The conditions of a rule are about the call that is answered. A call without a subject
// is one that is not known: each rule may be about it, as far as its server does not
// say otherwise. Then, as where a condition cannot be decided, a rule that denies, asks or
// alters holds, and an allow does not. No calls are one that is not known at all.
func (p *Policy) DecideReply(on On, calls []Call, kinds []string) Decision {
	if on == OnCall {
		return Decision{Reason: "calls are judged before they are made"}
	}
	if on == OnList && p.options.HideDenied {
		for i := range calls {
			if c := &calls[i]; c.Subject != NoSubject && !p.OffersEntry(c) {
				return Decision{Reason: "no rule allows a call of it, or asks"}
			}
		}
	}
	if p.options.Calls != nil {
		return Decision{Reason: otherCall}
	}
	q := p.screens[on]
	if q == nil {
		return Decision{Action: Allow}
	}
	cs := slices.Clone(calls)
	if len(cs) == 0 {
		cs = []Call{{}}
	}
	readings := slices.Clone(kinds)
	slices.Sort(readings)
	worst, left := Decision{Action: Allow}, effort.Max
	for _, kind := range append([]string{""}, slices.Compact(readings)...) {
		for i := range cs {
			c := &cs[i]
			if c.Finds, c.Screened = nil, true; kind != "" {
				c.Finds = []string{kind}
			}
			var d Decision
			d, left = q.decideLayers(c, left)
			d.Kind = kind
			worst.mergeReading(&d, i)
		}
	}
	return worst
}

// mergeReading adds what is said of one reading of the i-th call.
func (d *Decision) mergeReading(other *Decision, i int) {
	alters := d.Alters
	for _, a := range other.Alters {
		a.Call = i
		alters = append(alters, a)
	}
	if other.isStricter(d) {
		*d = *other
	}
	if d.Alters = alters; d.Action == Deny {
		d.Alters = nil
	}
}

// decideUnknown judges what came back to a call of which nothing is known but, perhaps, its
// server and time: every rule that these do not rule out may be about it.
func (p *Policy) decideUnknown(c *Call) Decision {
	v := view{policy: p, call: c}
	d, worst := Decision{Action: Allow}, none
	for i := range p.rules {
		r := &p.rules[i]
		if p.sources[i].On != p.options.judges || r.action == Allow || !r.mayConcern(c) {
			continue
		}
		if r.rank < worst {
			worst = r.rank
			d = v.toDecision(outcome{rank: worst, rule: i})
		}
		if r.noted {
			v.noted = append(v.noted, int32(i))
		}
	}
	if d.Action != Deny {
		v.addAlterations(&d)
	}
	return d
}

// mayConcern reports whether nothing that is known of a call rules the rule out.
func (r *rule) mayConcern(c *Call) bool {
	return !slices.ContainsFunc(r.calls, func(t callTest) bool { return t.matchCall(c) == where.No })
}

// addAlterations notes what rules change of what goes on. Where nothing has looked for what is to
// be taken out, nothing goes on.
func (v *view) addAlterations(d *Decision) {
	for _, id := range v.noted {
		src := &v.policy.sources[id]
		if !src.Action.AltersContent() {
			continue
		}
		f := src.findCondition()
		if f == nil {
			d.Alters = append(d.Alters, Alteration{Rule: &src.Rule})
			continue
		}
		if !v.call.Screened {
			*d = Decision{Rule: &src.Rule, Reason: "nothing has looked for what the rule takes out"}
			return
		}
		for _, kind := range v.call.Finds {
			if f.hasKind(kind) {
				d.Alters = append(d.Alters, Alteration{Rule: &src.Rule, Kind: kind})
			}
		}
	}
}
