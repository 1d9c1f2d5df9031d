package prove

import (
	"slices"

	"github.com/clawai/clawai/policy"
)

// For a server on Windows, a policy ignores case when it compares globs and values, and treats
// backslashes as slashes. The model cannot express this. So nothing is proved for such servers
// about conditions on arguments and URIs. Calls that are found are still right, because the policy
// itself judges them.

// ReasonWindows is the reason of an undecided result about servers on Windows.
const ReasonWindows = "paths of servers on Windows, which are compared without case and with either slash"

// beyondText reports whether nothing can be proved: the servers run on Windows, and some of the
// rules look at values.
func (pr *prover) beyondText(rules ...*rule) bool {
	return pr.windows && slices.ContainsFunc(rules, (*rule).looksAtValues)
}

// looksAtValues reports whether a rule has an exception, or a condition on an argument or a URI.
func (r *rule) looksAtValues() bool {
	return r.src.Subject == policy.ResourceSubject || len(r.args)+len(r.anywhere)+len(r.exceptions) > 0
}
