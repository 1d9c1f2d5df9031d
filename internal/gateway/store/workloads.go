package store

import (
	"context"
	"time"
)

// WorkloadUse is the last use of a rule ([[workload]] of gateway.toml) by a workload.
type WorkloadUse struct {
	Rule, Issuer, Subject string
	Used                  time.Time
}

// Workloads keeps used tokens of workloads, and the last use of each rule.
type Workloads interface {
	// UseToken stores the keyed hash of a token that is valid once. The hash is kept until the time until;
	// hashes whose time has passed are removed. ErrTwice: the token was used before.
	UseToken(ctx context.Context, hash string, now, until time.Time) error
	// TouchWorkload stores a use, in place of the earlier one of the same rule.
	TouchWorkload(ctx context.Context, u WorkloadUse) error
	// ListWorkloadUses returns the last use of each rule, in the order of their names.
	ListWorkloadUses(ctx context.Context) ([]WorkloadUse, error)
}
