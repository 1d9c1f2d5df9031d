package prove

import (
	"slices"

	"github.com/clawai/clawai/policy"
)

// On Windows globs and values are compared in another form than the model has (letters'
// case does not count, backslashes are slashes). Of conditions on arguments and URIs
// nothing is proved there; calls that were found are judged by the policy itself.

// ReasonWindows is why rules and policies are then not decided.
const ReasonWindows = "paths of servers on Windows, which are compared without case and with either slash"

// beyondText reports whether a proof about some rules is one about values that Windows reads
// in its own way.
func (pr *prover) beyondText(rules ...*rule) bool {
	return pr.windows && slices.ContainsFunc(rules, (*rule).looksAtValues)
}

// looksAtValues reports whether a rule has a condition, or an exception, on an argument or a
// URI.
func (r *rule) looksAtValues() bool {
	return r.src.Subject == policy.ResourceSubject || len(r.args)+len(r.anywhere)+len(r.exceptions) > 0
}
