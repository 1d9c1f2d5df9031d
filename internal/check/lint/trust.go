package lint

import (
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
)

// findIdleTrusts finds tables about servers that nothing uses. A layer may set
// the level, and a layer's tables are for the policy below it.
func findIdleTrusts(l *linter) {
	if l.policy.FlowLevel() != policy.Off || l.policy.LayerName() != "" || l.policy.Labelled() {
		return
	}
	for _, t := range l.policy.TrustTables() {
		if t.Pin > 0 && t.Decides == nil && t.Traits == (policy.Traits{}) {
			continue // a pin has an effect by itself
		}
		l.addFinding(&policy.Source{Rule: policy.Rule{Pos: t.Pos}, From: t.From}, policy.Position{}, check.Finding{Code: IdleTrust,
			Message: "nothing looks at what this says of the server", Fix: `write [flow] with level = "ask", or a rule with after`})
	}
}
