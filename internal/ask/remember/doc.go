// Package remember writes the rules of "always" and "deny always" answers into the policy file,
// above the rule that led to the question.
//
// A written rule never allows a call that the policy has denied before. It matches only calls
// that the rule below it matches too. All other bytes of the file stay. If the package has any
// doubt, it writes nothing and returns the reason; the person can still answer for this call
// alone.
package remember
