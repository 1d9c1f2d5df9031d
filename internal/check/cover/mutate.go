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

// Outcome is what became of a mutant.
type Outcome struct {
	Mutant
	Killed     bool
	By         string          // the fixture that killed it
	Equivalent bool            // no call, or nothing that comes back, would show it: not counted
	Fixture    *check.Composed // of a survivor: what would kill it; nil when none is known
}

// Mutation is a policy's mutants and what became of them, in the order of the
// file.
type Mutation struct {
	Outcomes  []Outcome
	Undecided int // rules that edit what a server asks of the client: they are not changed
}

// Mutate changes the policy in every small way and asks which change some
// fixture notices. src is the text that p was read from.
func Mutate(p *policy.Policy, file string, src []byte, fixtures []check.Fixture, o Options) (Mutation, error) {
	cases, err := casesOf(p, fixtures, o, policy.OnCall, policy.OnReply, policy.OnList)
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
	// One worker has all mutants of a rule, one after another: what shows one of them
	// often shows the next.
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(d.rules)) {
		workers.Go(func() {
			for rule := next.Add(1) - 1; rule < int64(len(d.rules)); rule = next.Add(1) - 1 {
				var shown []*check.Composed
				for i := range all {
					if all[i].Rule != int(rule) {
						continue
					}
					out[i], loads[i] = tryMutant(all[i], cases, shown, o)
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

// tryMutant looks for a fixture that notices a mutant. One that does not load is none:
// such a slip is seen at once. shown are fixtures that show other mutants of the rule.
func tryMutant(m Mutant, cases []testCase, shown []*check.Composed, o Options) (out Outcome, loads bool) {
	before, err := m.scope.before()
	if err != nil {
		return out, false
	}
	after, err := m.parseMutant(m.scope.hasRule)
	if err != nil {
		return out, false
	}
	out = Outcome{Mutant: m}
	for i := range cases {
		c := &cases[i]
		if !m.scope.matchesCase(c) {
			continue
		}
		judge := after
		if !c.hasSingleName() { // the scope lacks what stands against the others
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

// enough work: a witness is found early or not at all, and so are most proofs.
const enough = 1 << 18

// findNearbyCall looks for a call where one is found with the least work: among fewer rules, and
// of a long list at the one element that is changed.
func (m *Mutant) findNearbyCall(before, after *policy.Policy, o Options) *check.Composed {
	var as []policytext.Edit
	edits := m.edits
	if m.short != nil {
		as, edits = []policytext.Edit{m.short.before}, []policytext.Edit{m.short.after}
	} else if slices.Equal(m.scope.in, m.scope.close) {
		return nil // nothing less
	}
	old, err := m.scope.document.parseRules(m.scope.hasNearRule, as...)
	if err != nil {
		return nil
	}
	mutant, err := m.scope.document.parseRules(m.scope.hasNearRule, edits...)
	if err != nil {
		return nil
	}
	for _, class := range prove.Difference(old, mutant, prove.Options{Work: cmp.Or(o.Work, enough)}) {
		if class.Old.Action != class.New.Action && class.Witness != nil {
			if found := witnessFixture(before, after, *class.Witness, o); found != nil {
				return found
			}
		}
	}
	return nil
}

// distinguishMutant looks for a call that the policy and the mutant answer differently,
// each in the mutant's scope, and writes it as a fixture that the policy passes.
// alike is the proof that there is none; where neither is found, the mutant counts
// as a survivor.
func distinguishMutant(before, after *policy.Policy, o Options) (alike bool, found *check.Composed) {
	alike, found = comparePolicies(before, after, o, cmp.Or(o.Work, enough))
	if !alike && found == nil && o.Work == 0 {
		alike, found = comparePolicies(before, after, o, 0) // rules of many globs take the whole of it
	}
	return alike, found
}

func comparePolicies(before, after *policy.Policy, o Options, work int) (alike bool, found *check.Composed) {
	alike = true
	for _, class := range prove.Difference(before, after, prove.Options{Work: work}) {
		if class.Old.Action == class.New.Action && !class.IsWhole() {
			continue // a fixture expects an action
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

// distinguishReply looks for something that comes back of which the mutant makes something else.
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

// witnessFixture writes a witness as a fixture that the policy passes and the
// mutant fails, without a server if it can do without; nil when it cannot be
// written so.
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

// showsMutant says that a policy passes a fixture and its mutant does not.
func showsMutant(f *check.Composed, before, after *policy.Policy, o Options) bool {
	o.Server = ""
	fx, err := check.ParseFixture(f.Text)
	if err != nil {
		return false
	}
	cases, err := casesOf(before, []check.Fixture{fx}, o, fx.JudgedMessage())
	return err == nil && cases[0].describeMismatch(after) != ""
}

// Score counts the mutants: of those that some call would show, how many were
// killed.
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
