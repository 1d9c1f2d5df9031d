package store

import (
	"context"
	"time"
)

// WorkloadUse is a rule's last use by a workload. The rule is a [[workload]] of gateway.toml.
type WorkloadUse struct {
	Rule, Issuer, Subject string
	Used                  time.Time
}

// Workloads keeps used tokens of workloads, and the last use of each rule.
type Workloads interface {
	// UseToken stores the keyed hash of a token that may be used only once, together with the time
	// until. It also removes all hashes with such a time before now. The error is ErrTwice if the
	// token was already used.
	UseToken(ctx context.Context, hash string, now, until time.Time) error
	// TouchWorkload stores the last use of a rule. It replaces the rule's earlier use.
	TouchWorkload(ctx context.Context, u WorkloadUse) error
	// ListWorkloadUses returns the last use of each rule, sorted by the rules' names.
	ListWorkloadUses(ctx context.Context) ([]WorkloadUse, error)
}
