package hook

import (
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

// Uncounted implements gate.Limits for a process that ends after one call. It cannot count calls,
// so a rule with a limit never allows a call here.
type Uncounted struct{}

// Charge charges nothing. The gate treats the nil receipt as a denial.
func (Uncounted) Charge(time.Time, gate.Receipt, []policy.Charge, []policy.Call) (gate.Receipt, gate.Excess) {
	return nil, gate.Excess{}
}
