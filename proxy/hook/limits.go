package hook

import (
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

// Uncounted is the Limits of a process that ends with the call: it cannot count, so a rule with a
// limit allows nothing here.
type Uncounted struct{}

// Charge charges nothing; the gate treats the nil receipt as a denial.
func (Uncounted) Charge(time.Time, gate.Receipt, []policy.Charge, []policy.Call) (gate.Receipt, gate.Excess) {
	return nil, gate.Excess{}
}
