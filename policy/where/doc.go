// Package where holds what all typed constraints of a rule share: the value they judge
// and their three answers. The constraints are in the packages below: shell, sql, web,
// disk and scalar.
//
// A constraint must never turn doubt into Yes or No. When it cannot decide, it returns
// Maybe, which allows no call and exempts none (docs/policy.md, "where").
package where
