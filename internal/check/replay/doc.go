// Package replay judges recorded calls by a policy and compares: the answer of
// a new policy against the recorded answer of the rules at that time. It does
// not guess: if the new policy looks at data that the record lacks, the call is
// counted with the reason and not judged.
package replay
