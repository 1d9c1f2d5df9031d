// Package policy is the rule language: it parses a TOML policy, compiles it once, and decides calls
// by it. The first match wins, and a call without a match is denied.
//
// A program needs [Parse], which returns a [Policy] or [Errors] with every mistake, and
// [Policy.Decide], which takes a [Call] and returns a [Decision]: an [Action], and the [Rule] that
// decided. The example shows them.
//
// The rest is for tools: [Policy.Sources], [Policy.GlobForms] and [Policy.Trace] take a policy
// apart, [Policy.NarrowRule] writes a rule.
//
// The package is pure: it reads no file, no clock and no environment, and starts no goroutine. It
// must never turn doubt into an allow. Every package may import it. The package
// policy/internal/toml reads the text of a policy and policy/reading reads the values of a call.
package policy
