package cover

import "github.com/clawai/clawai/policy"

// Policy is the changed policy.
func (m Mutant) Policy() *policy.Policy {
	p, err := m.parseMutant(keepAll)
	if err != nil {
		panic(err) // it was loaded before
	}
	return p
}
