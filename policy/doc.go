// Package policy is the rule language: it parses a TOML policy, compiles it
// once, and decides calls by it. First match wins and no match is deny.
//
// A program needs Parse, a Call and Policy.Decide; the example shows them. Sources,
// Forms and Trace take a policy apart, and Narrow writes a rule: they are for tools.
//
// The room is pure: it reads no file, no clock, no environment and starts no
// goroutine. It must never turn doubt into an allow. Everyone may import it; it
// imports only its matcher, its constraints and parsers.
package policy
