// Package where holds what all typed constraints of a rule share: the value that they judge, and
// the three answers. The constraints are in the packages below: shell, sql, web, disk and scalar.
//
// A constraint must never turn doubt into Yes or No. If it cannot decide, it returns Maybe. A Maybe
// never allows a call, and never exempts a call from a deny (docs/policy.md, "where").
package where
