package cover

import "github.com/clawai/clawai/policy"

// Policy is the changed policy.
func (m Mutant) Policy() *policy.Policy { return m.policy }
