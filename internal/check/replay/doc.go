// Package replay judges recorded calls by a policy, and compares its answers with the recorded
// answers. It does not guess: if the policy looks at data that the record lacks, the call is not
// judged, but counted with the reason.
package replay
