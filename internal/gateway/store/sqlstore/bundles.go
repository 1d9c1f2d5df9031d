package sqlstore

import (
	"context"
	"math"

	"github.com/clawai/clawai/internal/gateway/store"
)

// AddBundle implements store.Bundles.
func (s *Store) AddBundle(ctx context.Context, b store.Bundle) error {
	return s.change(ctx, func(t *transaction) error {
		if err := t.lockCounter(s.org, b.Counter); err != nil {
			return err
		}
		if err := t.replaceWaiting(s.org, b.By, b.Published); err != nil {
			return err
		}
		return t.insertBundle(s.org, &b)
	})
}

const bundleColumns = "counter, digest, created, published, signer, published_by"

func readBundle(r scanner, more ...any) (b store.Bundle, err error) {
	var counter, created, published int64
	err = r.Scan(append([]any{&counter, &b.Digest, &created, &published, &b.Key, &b.By}, more...)...)
	b.Counter, b.Created, b.Published = uint64(counter), fromNanos(created), fromNanos(published)
	return b, err
}

// FindNewestBundle implements store.Bundles.
func (s *Store) FindNewestBundle(ctx context.Context) (b store.Bundle, err error) {
	return s.FindBundleBefore(ctx, math.MaxInt64)
}

// FindBundle implements store.Bundles.
func (s *Store) FindBundle(ctx context.Context, counter uint64) (store.Bundle, error) {
	return s.findBundle(ctx, "counter = ?", counter)
}

// FindBundleBefore implements store.Bundles.
func (s *Store) FindBundleBefore(ctx context.Context, counter uint64) (store.Bundle, error) {
	return s.findBundle(ctx, "counter < ?", counter)
}

// findBundle returns the newest bundle whose counter meets a condition.
func (s *Store) findBundle(ctx context.Context, where string, counter uint64) (b store.Bundle, err error) {
	var content []byte
	b, err = readBundle(s.row(ctx, "SELECT "+bundleColumns+", content FROM bundle WHERE org = ? AND "+where+" ORDER BY counter DESC LIMIT 1", s.org, int64(min(counter, math.MaxInt64))), &content) //nolint:gosec // min makes the number fit
	b.Bytes = content
	return b, explain(err)
}

// ListBundles implements store.Bundles.
func (s *Store) ListBundles(ctx context.Context, most int) ([]store.Bundle, error) {
	return list(ctx, s, func(r scanner) (store.Bundle, error) { return readBundle(r) }, "SELECT "+bundleColumns+" FROM bundle WHERE org = ? ORDER BY counter DESC LIMIT ?", s.org, most)
}
