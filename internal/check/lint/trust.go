package lint

import (
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
)

// findIdleTrusts finds tables about the trust in a server that have no effect. Such a table has an
// effect only if the policy has a level in [flow] or a rule that uses labels. findIdleTrusts skips
// layers, because the policy below a layer may use the layer's tables.
func findIdleTrusts(l *linter) {
	if l.policy.FlowLevel() != policy.Off || l.policy.LayerName() != "" || l.policy.Labelled() {
		return
	}
	for _, t := range l.policy.TrustTables() {
		if t.Pin > 0 && t.Decides == nil && t.Traits == (policy.Traits{}) {
			continue // a pin has an effect by itself
		}
		l.addFinding(&policy.Source{Rule: policy.Rule{Pos: t.Pos}, From: t.From}, policy.Position{}, check.Finding{Code: IdleTrust,
			Message: "no rule uses what this table says about the server", Fix: `write [flow] with level = "ask", or a rule with after`})
	}
}
