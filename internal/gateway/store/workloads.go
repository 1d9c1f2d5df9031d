package store

import (
	"context"
	"time"
)

// WorkloadUse is the last time when a rule let a workload in.
type WorkloadUse struct {
	Rule, Issuer, Subject string
	Used                  time.Time
}

// Workloads keeps what workloads did with their tokens.
type Workloads interface {
	// UseToken keeps the keyed hash of a token that counts once, until a time, and removes those whose time
	// is over. ErrTwice: it was used before.
	UseToken(ctx context.Context, hash string, now, until time.Time) error
	// TouchWorkload keeps a use in the place of an earlier one by the same rule.
	TouchWorkload(ctx context.Context, u WorkloadUse) error
	// ListWorkloadUses returns the last use of each rule, in the order of their names.
	ListWorkloadUses(ctx context.Context) ([]WorkloadUse, error)
}
