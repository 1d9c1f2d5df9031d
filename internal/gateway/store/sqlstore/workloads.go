package sqlstore

import (
	"context"
	"time"

	"github.com/clawai/clawai/internal/gateway/store"
)

// UseToken implements store.Workloads.
func (s *Store) UseToken(ctx context.Context, hash string, now, until time.Time) error {
	return s.change(ctx, func(t *transaction) error {
		if _, err := t.exec("DELETE FROM used_token WHERE org = ? AND until < ?", s.org, nanos(now)); err != nil {
			return err
		}
		n, err := t.exec("INSERT INTO used_token (org, hash, until) VALUES (?, ?, ?) ON CONFLICT (org, hash) DO NOTHING", s.org, hash, nanos(until))
		if err == nil && n == 0 {
			err = store.ErrTwice
		}
		return err
	})
}

// TouchWorkload implements store.Workloads.
func (s *Store) TouchWorkload(ctx context.Context, u store.WorkloadUse) error {
	return s.execOne(ctx, "INSERT INTO workload_use (org, rule, issuer, subject, used) VALUES (?, ?, ?, ?, ?) ON CONFLICT (org, rule) DO UPDATE SET "+
		"issuer = excluded.issuer, subject = excluded.subject, used = excluded.used", s.org, u.Rule, u.Issuer, u.Subject, nanos(u.Used))
}

// ListWorkloadUses implements store.Workloads.
func (s *Store) ListWorkloadUses(ctx context.Context) ([]store.WorkloadUse, error) {
	return list(ctx, s, func(r scanner) (u store.WorkloadUse, err error) {
		var used int64
		err = r.Scan(&u.Rule, &u.Issuer, &u.Subject, &used)
		u.Used = fromNanos(used)
		return u, err
	}, "SELECT rule, issuer, subject, used FROM workload_use WHERE org = ? ORDER BY rule", s.org)
}
