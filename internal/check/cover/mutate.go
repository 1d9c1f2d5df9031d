package cover

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// Outcome is the result for a mutant.
type Outcome struct {
	Mutant
	Killed     bool
	By         string          // path of the fixture that noticed (killed) the mutant; "" if none did
	Equivalent bool            // it is proved that every call and reply gets the same answer
	Fixture    *check.Composed // for a survivor: a fixture that would notice it; nil if none is known
}

// Mutation holds a policy's mutants and their results, in the order of the
// file.
type Mutation struct {
	Outcomes  []Outcome
	Undecided int // number of rules that only edit requests of a server to the client; they have no mutants
}

// Mutate makes all mutants of the policy and checks which of them are noticed by a fixture. src is
// the text of p.
func Mutate(p *policy.Policy, file string, src []byte, fixtures []check.Fixture, o Options) (Mutation, error) {
	cases, err := casesOf(p, fixtures, o, policy.OnCall, policy.OnReply, policy.OnList, policy.OnUpload)
	if err != nil {
		return Mutation{}, err
	}
	d, err := readDocument(file, src, p, o.Policy)
	if err != nil {
		return Mutation{}, err
	}
	all := listMutants(d)
	out := make([]Outcome, len(all))
	loads := make([]bool, len(all))
	// One worker tries all mutants of a rule, because a call that shows one mutant often shows the
	// next one too.
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(d.rules)) {
		workers.Go(func() {
			for rule := next.Add(1) - 1; rule < int64(len(d.rules)); rule = next.Add(1) - 1 {
				var shown []*check.Composed
				ordered := orderCases(cases, int(rule))
				for i := range all {
					if all[i].Rule != int(rule) {
						continue
					}
					out[i], loads[i] = tryMutant(all[i], ordered, shown, o)
					if f := out[i].Fixture; f != nil && !slices.Contains(shown, f) {
						shown = append(shown, f)
					}
				}
			}
		})
	}
	workers.Wait()
	m := Mutation{Undecided: d.countUndecided()}
	for i := range out {
		if loads[i] {
			m.Outcomes = append(m.Outcomes, out[i])
		}
	}
	return m, nil
}

// tryMutant looks for a fixture that notices a mutant. The parameter shown holds new fixtures that
// notice other mutants of the same rule. The result loads is false if the mutant is no valid
// policy; such a mutant is left out, because an author notices an invalid policy at once.
func tryMutant(m Mutant, cases []*testCase, shown []*check.Composed, o Options) (out Outcome, loads bool) {
	before, err := m.scope.before()
	if err != nil {
		return out, false
	}
	after, err := m.parseMutant(m.scope.hasRule)
	if err != nil {
		return out, false
	}
	out = Outcome{Mutant: m}
	for _, c := range cases {
		if !m.scope.matchesCase(c) {
			continue
		}
		judge := after
		if !c.hasSingleName() { // the scope may lack rules about some of the names
			if judge, err = m.parseMutant(keepAll); err != nil {
				return out, false
			}
		}
		if c.describeMismatch(judge) != "" {
			out.Killed, out.By = true, c.path
			return out, true
		}
	}
	if m.denies {
		out.Equivalent = true
		return out, true
	}
	for _, f := range shown {
		if showsMutant(f, before, after, o) {
			out.Fixture = f
			return out, true
		}
	}
	if m.scope.document.sources[m.Rule].On != policy.OnCall {
		out.Equivalent, out.Fixture = distinguishReply(before, after, o)
		return out, true
	}
	if out.Fixture = m.findNearbyCall(before, after, o); out.Fixture == nil {
		out.Equivalent, out.Fixture = distinguishMutant(before, after, o)
	}
	return out, true
}

// usualWork is the work if Options.Work is 0. More work seldom gives more witnesses or proofs.
const usualWork = 1 << 18

// findNearbyCall looks for a call that shows the mutant, in the cheapest way: it uses only the near
// rules of the scope, and short lists in place of long ones.
func (m *Mutant) findNearbyCall(before, after *policy.Policy, o Options) *check.Composed {
	var oldEdits []policytext.Edit
	edits := m.edits
	if m.short != nil {
		oldEdits, edits = []policytext.Edit{m.short.before}, []policytext.Edit{m.short.after}
	} else if slices.Equal(m.scope.included, m.scope.near) {
		return nil // the near rules are the whole scope, which is searched later
	}
	old, err := m.scope.document.parseRules(m.scope.hasNearRule, oldEdits...)
	if err != nil {
		return nil
	}
	mutant, err := m.scope.document.parseRules(m.scope.hasNearRule, edits...)
	if err != nil {
		return nil
	}
	for _, class := range prove.Difference(old, mutant, prove.Options{Work: cmp.Or(o.Work, usualWork)}) {
		if class.Old.Action != class.New.Action && class.Witness != nil {
			if found := witnessFixture(before, after, *class.Witness, o); found != nil {
				return found
			}
		}
	}
	return nil
}

// distinguishMutant looks for a call that the policy and the mutant answer differently. The result
// found is a fixture with this call; the policy gives the answer that the fixture expects, and the
// mutant does not. The parameters before (the policy) and after (the mutant) have only the rules in
// the mutant's scope. The result alike is true if a proof shows that there is no such call. If
// alike is false and found is nil, the mutant is a survivor.
func distinguishMutant(before, after *policy.Policy, o Options) (alike bool, found *check.Composed) {
	alike, found = comparePolicies(before, after, o, cmp.Or(o.Work, usualWork))
	if !alike && found == nil && o.Work == 0 {
		alike, found = comparePolicies(before, after, o, 0) // rules with many globs need the default work
	}
	return alike, found
}

func comparePolicies(before, after *policy.Policy, o Options, work int) (alike bool, found *check.Composed) {
	alike = true
	for _, class := range prove.Difference(before, after, prove.Options{Work: work}) {
		if class.Old.Action == class.New.Action && !class.IsWhole() {
			continue // a fixture expects an action, so no fixture can show a difference of another kind
		}
		alike = false
		if class.Witness == nil {
			continue
		}
		if found = witnessFixture(before, after, *class.Witness, o); found != nil {
			break
		}
	}
	return alike, found
}

// distinguishReply does the work of distinguishMutant for replies and list entries.
func distinguishReply(before, after *policy.Policy, o Options) (alike bool, found *check.Composed) {
	replies, whole := prove.CompareReplies(before, after)
	for i := range replies {
		r := &replies[i]
		composed, err := check.ComposeReply(r.On, &r.Call, check.StrictestAction(&r.Old))
		if err == nil && showsMutant(&composed, before, after, o) {
			return false, &composed
		}
	}
	return whole && len(replies) == 0, nil
}

// witnessFixture returns a fixture with this call. The policy gives the answer that the fixture
// expects, and the mutant does not. witnessFixture returns nil if there is no such fixture. The
// fixture has a server only if it needs one.
func witnessFixture(before, after *policy.Policy, call policy.Call, o Options) *check.Composed {
	for _, server := range []string{"", call.Server} {
		call.Server = server
		composed, err := check.Compose(&call, before.Decide(&call).Action)
		if err != nil {
			return nil
		}
		if showsMutant(&composed, before, after, o) {
			return &composed
		}
	}
	return nil
}

// showsMutant reports whether the policy gives the answer that a fixture expects, and the mutant
// does not.
func showsMutant(f *check.Composed, before, after *policy.Policy, o Options) bool {
	o.Server = ""
	fx, err := check.ParseFixture(f.Text)
	if err != nil {
		return false
	}
	cases, err := casesOf(before, []check.Fixture{fx}, o, fx.JudgedMessage())
	return err == nil && cases[0].describeMismatch(after) != ""
}

// Score returns the number of killed mutants, of counted mutants and of equivalent mutants.
// Equivalent mutants are not counted.
func (m Mutation) Score() (killed, counted, equivalent int) {
	for _, o := range m.Outcomes {
		switch {
		case o.Equivalent:
			equivalent++
			continue
		case o.Killed:
			killed++
		}
		counted++
	}
	return killed, counted, equivalent
}
