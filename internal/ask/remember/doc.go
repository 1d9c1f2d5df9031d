// Package remember writes a person's lasting answers: the rules of "always" and "deny always"
// answers, above the rule that asked.
//
// A written rule never allows a call that the policy has denied, never loses a byte of the file,
// and never goes beyond the rule that asked. On any doubt the package writes nothing and returns
// the reason; the call can then still be answered once.
package remember
