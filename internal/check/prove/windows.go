package prove

import (
	"slices"

	"github.com/clawai/clawai/policy"
)

// On Windows, globs and values are compared in a form that the model does not
// have: letter case is ignored, and backslashes are slashes. So nothing is
// proved there about conditions on arguments and URIs. The policy itself still
// judges calls that were found.

// ReasonWindows is the reason of such an undecided result.
const ReasonWindows = "paths of servers on Windows, which are compared without case and with either slash"

// beyondText reports whether a proof about the rules would depend on how
// Windows reads values.
func (pr *prover) beyondText(rules ...*rule) bool {
	return pr.windows && slices.ContainsFunc(rules, (*rule).looksAtValues)
}

// looksAtValues reports whether a rule has an exception, or a condition on an
// argument or a URI.
func (r *rule) looksAtValues() bool {
	return r.src.Subject == policy.ResourceSubject || len(r.args)+len(r.anywhere)+len(r.exceptions) > 0
}
