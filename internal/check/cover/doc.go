// Package cover says how much of a policy its fixtures hold in place: which
// conditions they exercise (coverage), and which small changes of the policy
// none of them would notice (mutation).
package cover
