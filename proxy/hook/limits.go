package hook

import (
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

// Uncounted is the Limits of a process that ends with the call: nothing can be counted
// in it, so that a rule with a limit opens nothing here.
type Uncounted struct{}

// Charge charges nothing, which the gate takes for a denial.
func (Uncounted) Charge(time.Time, gate.Receipt, []policy.Charge, []policy.Call) (gate.Receipt, gate.Excess) {
	return nil, gate.Excess{}
}
