// Package policy is the rule language: it parses a TOML policy, compiles it
// once, and decides calls by it. First match wins and no match is deny.
//
// A program needs [Parse], which gives a [Policy] or [Errors] with every mistake, and
// [Policy.Decide], which takes a [Call] and gives a [Decision]: an [Action], and the
// [Rule] that decided. The example shows them.
//
// The rest is for tools: [Policy.Sources], [Policy.GlobForms] and [Policy.Trace] take a
// policy apart, [Policy.NarrowRule] writes a rule.
//
// The room is pure: it reads no file, no clock, no environment and starts no
// goroutine. It must never turn doubt into an allow. Everyone may import it. Below it,
// policy/internal/toml reads the text, policy/reading the values of a call.
package policy
