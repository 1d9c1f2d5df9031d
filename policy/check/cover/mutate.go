package cover

import (
	"cmp"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/check"
	"github.com/clawai/clawai/policy/prove"
)

// Outcome is what became of a mutant.
type Outcome struct {
	Mutant
	Killed     bool
	By         string          // the fixture that killed it
	Equivalent bool            // no call would show it: not counted
	Fixture    *check.Composed // of a survivor: what would kill it; nil when none is known
}

// Mutation is a policy's mutants and what became of them, in the order of the
// file.
type Mutation struct {
	Outcomes []Outcome
}

// Mutate changes the policy in every small way and asks which change some
// fixture notices. src is the text that p was read from.
func Mutate(p *policy.Policy, file string, src []byte, fixtures []check.Fixture, o Options) (Mutation, error) {
	cases, err := casesOf(p, fixtures, o)
	if err != nil {
		return Mutation{}, err
	}
	all, err := mutants(file, src, p, o.Policy)
	if err != nil {
		return Mutation{}, err
	}
	out := make([]Outcome, len(all))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(all)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(all)); i = next.Add(1) - 1 {
				out[i] = try(p, all[i], cases, o)
			}
		})
	}
	workers.Wait()
	return Mutation{out}, nil
}

// try looks for a fixture that notices a mutant.
func try(p *policy.Policy, m Mutant, cases []testCase, o Options) Outcome {
	out := Outcome{Mutant: m}
	for i := range cases {
		if cases[i].judge(m.policy) != cases[i].expected {
			out.Killed, out.By = true, cases[i].path
			return out
		}
	}
	if m.denies {
		out.Equivalent = true
		return out
	}
	out.Equivalent, out.Fixture = distinguish(p, &m, o)
	return out
}

// enough work: a witness is found early or not at all, and so are most proofs.
const enough = 1 << 18

// distinguish looks for a call that the policy and the mutant answer differently,
// and writes it as a fixture that the policy passes. alike is the proof that there
// is none; where neither is found, the mutant counts as a survivor.
func distinguish(p *policy.Policy, m *Mutant, o Options) (alike bool, found *check.Composed) {
	alike, found = compare(p, m, o, cmp.Or(o.Work, enough))
	if !alike && found == nil && o.Work == 0 {
		alike, found = compare(p, m, o, 0) // rules of many globs take the whole of it
	}
	return alike, found
}

func compare(p *policy.Policy, m *Mutant, o Options, work int) (alike bool, found *check.Composed) {
	alike = true
	for _, class := range prove.Difference(p, m.policy, prove.Options{Work: work}) {
		if class.Old.Action == class.New.Action {
			continue // a fixture expects an action
		}
		alike = false
		if class.Witness == nil {
			continue
		}
		if found = witnessFixture(p, m, *class.Witness, o); found != nil {
			break
		}
	}
	return alike, found
}

// witnessFixture writes a witness as a fixture that the policy passes and the
// mutant fails, without a server if it can do without; nil when it cannot be
// written so.
func witnessFixture(p *policy.Policy, m *Mutant, call policy.Call, o Options) *check.Composed {
	o.Server = ""
	for _, server := range []string{"", call.Server} {
		call.Server = server
		composed, err := check.Compose(&call, p.Decide(&call).Action)
		if err != nil {
			return nil
		}
		fx, err := check.ParseFixture(composed.Text)
		if err != nil {
			return nil
		}
		cases, err := casesOf(p, []check.Fixture{fx}, o)
		if err == nil && cases[0].judge(m.policy) != cases[0].expected {
			return &composed
		}
	}
	return nil
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
