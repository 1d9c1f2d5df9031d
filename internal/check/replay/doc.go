// Package replay judges by a policy what the record says was called, and
// compares: what a new policy would have decided, against what the rules of the
// day did. Nothing is guessed: a call of which the record does not keep what the
// new policy looks at is counted, with the reason, and not judged.
package replay
