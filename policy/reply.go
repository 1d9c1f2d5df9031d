package policy

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/clawai/clawai/policy/internal/effort"
	"github.com/clawai/clawai/policy/where"
)

// Rules about replies, list entries and uploads (on = "reply", "list", "upload") are compiled into
// separate policies. Each of these policies passes the content that matches none of its rules.

// compileScreen compiles the separate policy for replies, for lists or for uploads, if there are rules
// for it.
func (p *Policy) compileScreen(on On) (errs Errors) {
	o := p.options
	o.judges, o.Above = on, nil
	for _, layer := range p.options.Above {
		if q := layer.screens[on]; q != nil {
			o.Above = append(o.Above, q)
		}
	}
	if len(o.Above) > 0 || p.hasRulesOn(on) {
		p.screens[on], errs = compileSources(p.sources, o)
	}
	return errs
}

// hasRulesOn reports whether the policy has a rule with this On.
func (p *Policy) hasRulesOn(on On) bool {
	for i := range p.sources {
		if p.sources[i].On == on {
			return true
		}
	}
	return false
}

// passesUnmatched reports whether the policy passes a call that matches none of its rules.
func (p *Policy) passesUnmatched() bool { return p.options.Layer != "" || p.options.judges != OnCall }

// PolicyFor returns the policy for calls, replies, lists or uploads; nil if no rule has this On.
// Analyses use the policies for replies and lists. They call Decide or Trace for one kind of finds
// at a time, with a Screened Call: Finds holds the one kind, or is empty for the reply as a whole.
func (p *Policy) PolicyFor(on On) *Policy {
	if on == OnCall {
		return p
	}
	return p.screens[on]
}

// AltersAlike reports whether two policies have the same packs, and the same rules with this On in
// the same order. It compares a rule about calls only if the rule alters content.
func (p *Policy) AltersAlike(q *Policy, on On) bool {
	return slices.Equal(p.screenFingerprints(on), q.screenFingerprints(on)) && slices.EqualFunc(p.packs, q.packs, func(a, b Pack) bool {
		return bytes.Equal(a.Text(), b.Text())
	})
}

// screenFingerprints returns the fingerprints of the rules with this On. With OnCall, it returns
// only those of the rules that alter content.
func (p *Policy) screenFingerprints(on On) (all []string) {
	for i := range p.sources {
		if r := &p.sources[i]; r.On == on && (on != OnCall || r.Action.AltersContent()) {
			all = append(all, r.fingerprint())
		}
	}
	return all
}

// Screens returns the kinds of findings that the rules name in find, including the rules of the
// layers. The detectors need to look only for these kinds. For calls, ruled is true if there is a
// rule with find. For replies and uploads, ruled is true if there is any rule. For lists, ruled is
// true if there is any rule, a pinned server or the option HideDenied. If the policy was read for
// some calls (Options.Calls), a rule about calls is left out unless it can match one of these
// calls.
//
// The kinds belong to the policy, so the caller must not change them.
func (p *Policy) Screens(on On) (kinds []string, ruled bool) {
	s := p.searchOn(on)
	return s.kinds, s.ruled
}

// search holds the rules with the same On, and the kinds that these rules name. It is built once,
// because every message needs it.
type search struct {
	once   sync.Once
	kinds  []string
	ruled  bool
	finds  concerns // the rules with a find
	wholes concerns // the rules without a find
}

// concern is a rule with the compiled globs on its subject. The globs are enough to exclude most
// calls that the rule does not match.
type concern struct {
	source *ruleSource
	names  anyOf
}

// concerns holds rules, and for each server the rules that may match calls to the server.
type concerns struct {
	all    []concern
	served atomic.Pointer[map[string][]concern]
}

// maxServed is the largest number of servers in the cache. Most processes have only a few servers.
const maxServed = 64

// forServer returns the rules that may match a call to the call's server. It returns nil and false
// if the cache does not have them.
func (cs *concerns) forServer(c *Call) (list []concern, kept bool) {
	before := cs.served.Load()
	if before != nil {
		if list, kept = (*before)[c.Server]; kept || len(*before) >= maxServed {
			return list, kept
		}
	}
	list = slices.DeleteFunc(slices.Clone(cs.all), func(r concern) bool { return !r.source.mayServe(c) })
	after := map[string][]concern{strings.Clone(c.Server): list}
	if before != nil {
		maps.Copy(after, *before)
	}
	// If another goroutine has stored a list first, this list is lost, and a later forServer
	// computes it again.
	cs.served.CompareAndSwap(before, &after)
	return list, true
}

func (p *Policy) searchOn(on On) *search {
	s := &p.searches[on]
	s.once.Do(func() { p.gatherSearch(s, on) })
	return s
}

func (p *Policy) gatherSearch(s *search, on On) {
	q, some := p.PolicyFor(on), on == OnList && (p.options.HideDenied || p.HasPins())
	if q == nil {
		s.ruled = some
		return
	}
	for _, layer := range append(slices.Clone(q.options.Above), q) {
		for i := range layer.sources {
			r := &layer.sources[i]
			if on == OnCall && layer.options.Calls != nil && !layer.rules[i].compiled {
				continue // the rule matches no call that the policy was read for
			}
			if r.On != on {
				continue
			}
			some = true
			c := concern{r, layer.rules[i].names}
			if f := r.findCondition(); f != nil {
				s.kinds, s.finds.all = append(s.kinds, f.words...), append(s.finds.all, c)
			} else {
				s.wholes.all = append(s.wholes.all, c)
			}
		}
	}
	if slices.Contains(s.kinds, anyKind) {
		s.kinds = p.KindsOn(on)
	}
	slices.Sort(s.kinds)
	s.kinds = slices.Clip(slices.Compact(s.kinds))
	s.ruled = len(s.kinds) > 0 || on != OnCall && some
}

// FindsIn reports whether a rule with a find may match a call, by its subject and its server. If
// the result is false, findings in the call cannot change the decision. In doubt FindsIn returns
// true.
func (p *Policy) FindsIn(c *Call) bool {
	return p.searchOn(OnCall).finds.mayConcern(c)
}

// mayConcern reports whether one of the rules may match a call, by its subject and its server. In
// doubt it returns true.
func (cs *concerns) mayConcern(c *Call) bool {
	rules, served := cs.forServer(c)
	if !served {
		rules = cs.all
	}
	for i := range rules {
		if r := &rules[i]; (served || r.source.mayServe(c)) && (c.Subject == NoSubject || r.source.coversSubject(c.Subject) && r.mayName(c)) {
			return true
		}
	}
	return false
}

// mayName reports whether the rule may match a name of the call, or the class of the tool that the
// call names. For a resource it returns true, because a URI has several readings.
func (r *concern) mayName(c *Call) bool {
	if r.source.subject == NoSubject || c.Subject == ResourceSubject {
		return true
	}
	if c.Spelling != AsWritten {
		return slices.ContainsFunc(r.source.patterns, func(text string) bool { return namesOne(text, c) })
	}
	for _, name := range c.Names {
		if class := builtinOf(c, name).Class; r.names.matchText(name) || class != "" && r.names.matchText(class) {
			return true
		}
	}
	return false
}

// DecideReply judges the reply to calls. It also judges list entries; then calls are the calls that
// would name the entries. kinds are the kinds of finds in the reply or entry.
//
// DecideReply judges each kind by itself, and the reply as a whole. The first matching rule with a
// find decides about a kind; the first matching rule without a find decides about the whole. The
// strictest of these answers wins, and all alterations apply (Decision.Alters, also with a prompt).
// Content that matches no rule passes. A decision of Allow names no rule, even if an allow rule
// matched some kind. So an allow for one kind never lets through what a rule refuses for another
// kind.
//
// The conditions of a rule are about the call that the reply answers. A call without a subject is
// unknown: each rule may match it, unless the call's server or time excludes the rule. If the call
// is unknown, or if a condition cannot be decided, a rule that denies, asks or alters applies, and
// an allow does not apply. An empty list of calls means one call that is not known.
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
	if len(kinds) == 0 && !p.judgesWhole(on, calls) {
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

// AlterReply returns every change that a rule about replies, in the policy or in a layer, may make
// to the reply to these calls. kinds are the kinds of finds in the reply. A change is in the result
// even if another rule decides first, or if the rule has conditions on arguments. AlterReply is for
// a reply that a person allows: text that a rule would remove must not go through.
func (p *Policy) AlterReply(calls []Call, kinds []string) (all []Alteration) {
	q := p.screens[OnReply]
	if q == nil {
		return nil
	}
	for _, layer := range append(slices.Clone(q.options.Above), q) {
		for i := range calls {
			whole, c := calls[i], calls[i]
			whole.Finds, c.Finds, c.Screened = nil, kinds, true
			v := view{policy: layer, call: &c, left: effort.Max}
			for at := range layer.rules {
				r, src, judged := &layer.rules[at], &layer.sources[at], &c
				if src.findCondition() == nil {
					judged = &whole // a rule without a find judges the reply as a whole, without its finds
				}
				if r.noted && src.On == OnReply && r.mayConcern(judged) && v.mayName(r, src) {
					v.noted = append(v.noted, int32(at))
				}
			}
			var d Decision
			v.addAlterations(&d)
			all = append(all, d.Alters...)
		}
	}
	return all
}

// judgesWhole reports whether a reply without finds must be judged: a rule without a find may
// match one of its calls, or one of its calls is unknown or malformed.
func (p *Policy) judgesWhole(on On, calls []Call) bool {
	wholes := &p.searchOn(on).wholes
	for i := range calls {
		if c := &calls[i]; wholes.mayConcern(c) || c.Subject == NoSubject || malformedReason(c) != "" {
			return true
		}
	}
	return len(calls) == 0
}

// mergeReading merges the decision on one reading of the i-th call into d.
func (d *Decision) mergeReading(other *Decision, i int) {
	alters := d.Alters
	for _, a := range other.Alters {
		a.Call = i
		alters = append(alters, a)
	}
	d.merge(other)
	if d.Alters = alters; d.Action == Deny {
		d.Alters = nil
	}
}

// decideUnknown judges the reply to an unknown call: at most the call's server and time are known.
// Every rule that these two facts do not exclude may match the call.
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

// mayConcern reports whether the rule may match a call: no known fact of the call excludes the
// rule.
func (r *rule) mayConcern(c *Call) bool {
	return !slices.ContainsFunc(r.calls, func(t callTest) bool { return t.matchCall(c) == where.No })
}

// mayName reports whether a rule may match the names in a call. It returns false only if the rule
// is about another subject, or about another tool, prompt or method.
func (v *view) mayName(r *rule, src *ruleSource) bool {
	c := v.call
	if c.Subject == NoSubject || len(c.Names) == 0 {
		return true
	}
	if !src.coversSubject(c.Subject) {
		return false
	}
	return c.Subject == ResourceSubject || slices.ContainsFunc(c.Names, func(name string) bool {
		v.tool = builtinOf(c, name)
		return v.matchesName(r, name) || v.left <= 0
	})
}

// addAlterations adds the changes that rules make. The decision becomes a deny if a rule removes
// finds, but the detectors have not screened the call.
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
