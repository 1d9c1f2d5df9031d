// Package replay judges recorded calls by a policy, and compares the answers with the recorded
// answers. It does not guess: if the policy looks at data that the record does not have, the call
// is not judged. It is counted with the reason.
package replay
