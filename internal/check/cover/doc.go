// Package cover measures how well fixtures test a policy: which conditions they
// exercise (coverage), and which small changes of the policy no fixture notices
// (mutation).
package cover
