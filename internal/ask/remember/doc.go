// Package remember writes what a person wants remembered for good: the rules of
// "always" and "deny always" answers, above the rule that asked.
//
// Nothing it writes lets through what the policy has denied, loses a byte of the
// file, or goes beyond the rule that asked. On any doubt it writes nothing and
// says why; the call can then still be answered once.
package remember
