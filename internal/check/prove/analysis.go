package prove

import (
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where"
)

// Analysis answers questions about the rules of one policy. Only one goroutine may use it at a
// time.
type Analysis struct {
	*prover
	policy *policy.Policy
	rules  []rule
}

// New prepares a policy for analysis.
func New(p *policy.Policy, o Options) *Analysis {
	pr := newProver(o)
	pr.windows = p.OS() == policy.Windows
	return &Analysis{prover: pr, policy: p, rules: pr.readRules(p)}
}

// Reach tells for each rule whether some call can reach it.
func (a *Analysis) Reach() []Finding {
	findings := make([]Finding, len(a.rules))
	for i := range a.rules {
		findings[i] = a.reachRule(a.policy, a.rules, i)
	}
	return findings
}

// FindCommonCall returns a call that both rules, i and j, surely match and that is decided by the
// upper one of them. It returns nil if it finds no such call.
func (a *Analysis) FindCommonCall(i, j int) *policy.Call {
	first, second := &a.rules[min(i, j)], &a.rules[max(i, j)]
	q := question{subject: first.src.Subject, needed: []demand{{rule: first}, {rule: second}}}
	if second.src.Subject != q.subject {
		return nil
	}
	for k := range a.rules[:first.src.Index] {
		if a.rules[k].src.Subject == q.subject {
			q.avoid = append(q.avoid, demand{&a.rules[k], a.rules[k].vague})
		}
	}
	var witness *policy.Call
	for _, q.manner = range []manner{tidy, free} {
		answer := a.askQuestion(q, func(c candidate) bool {
			for _, call := range q.listCalls(c) {
				t := a.policy.Trace(&call)
				d, i, j := t.Decision, first.src.Index, second.src.Index
				if d.Rule != nil && d.Rule.Index == i && t.Steps[i].Match == where.Yes && t.Steps[j].Match == where.Yes {
					witness = &call
					return true
				}
			}
			return false
		})
		if answer == found {
			return witness
		}
	}
	return nil
}

// IsCovered reports whether it is proved that rule outer surely matches every call that rule inner
// surely matches. The proof is only for values as written, and only for calls whose arguments are
// all named in at least one of the two rules.
func (a *Analysis) IsCovered(inner, outer int) bool {
	in, out := &a.rules[inner], &a.rules[outer]
	q := question{subject: in.src.Subject, needed: []demand{{rule: in}}, avoid: []demand{{rule: out}}, unnamed: true, bare: true}
	return out.src.Subject == q.subject && !a.beyondText(in, out) && a.askQuestion(q, func(candidate) bool { return true }) == impossible
}

// AreApart reports whether it is proved that no call matches both rules. It is fast, because it
// compares only the ends of the globs for names and servers. So it may return false although no
// call matches both.
func (a *Analysis) AreApart(i, j int) bool {
	r, s := &a.rules[i], &a.rules[j]
	return r.src.Subject != s.src.Subject || areAsunder(r.name, s.name) || areAsunder(r.server, s.server)
}
