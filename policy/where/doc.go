// Package where holds what every typed constraint of a rule shares: the value
// it is asked about and the three answers it can give. The constraints stand in
// the packages below: shell, sql, web, disk and scalar.
//
// A constraint must never turn doubt into Yes or No. What it cannot decide is a
// Maybe, which opens no call and shields none (docs/policy.md, "where").
package where
