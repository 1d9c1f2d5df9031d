package prove

import (
	"slices"

	"github.com/clawai/clawai/policy"
)

// For servers on Windows, a policy compares globs and values without letter case, and treats
// backslashes as slashes. The model does not have this. So nothing is proved about conditions on
// arguments and URIs for such servers. Calls that are found are still valid, because the policy
// itself judges them.

// ReasonWindows is the reason of an undecided result about servers on Windows.
const ReasonWindows = "paths of servers on Windows, which are compared without case and with either slash"

// beyondText reports whether servers run on Windows and some of the rules look at values, so that
// nothing can be proved.
func (pr *prover) beyondText(rules ...*rule) bool {
	return pr.windows && slices.ContainsFunc(rules, (*rule).looksAtValues)
}

// looksAtValues reports whether a rule has an exception, or a condition on an
// argument or a URI.
func (r *rule) looksAtValues() bool {
	return r.src.Subject == policy.ResourceSubject || len(r.args)+len(r.anywhere)+len(r.exceptions) > 0
}
