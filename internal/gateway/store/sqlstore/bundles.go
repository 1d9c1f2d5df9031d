package sqlstore

import (
	"context"
	"time"

	"github.com/clawai/clawai/internal/gateway/store"
)

// AddBundle implements store.Bundles.
func (s *Store) AddBundle(ctx context.Context, b store.Bundle) error {
	return s.change(ctx, func(t *transaction) error {
		if err := t.lockAll(); err != nil {
			return err
		}
		var newest int64
		if err := t.row("SELECT coalesce(max(counter), -1) FROM bundle WHERE org = ?", s.org).Scan(&newest); err != nil {
			return err
		}
		if int64(b.Counter) <= newest {
			return store.ErrOlder
		}
		_, err := t.exec("INSERT INTO bundle (org, "+bundleColumns+", content) VALUES (?, ?, ?, ?, ?, ?, ?)",
			s.org, int64(b.Counter), b.Digest, nanos(b.Created), nanos(b.Published), b.Key, b.Bytes)
		return err
	})
}

const bundleColumns = "counter, digest, created, published, signer"

func readBundle(r scanner, more ...any) (b store.Bundle, err error) {
	var counter, created, published int64
	err = r.Scan(append([]any{&counter, &b.Digest, &created, &published, &b.Key}, more...)...)
	b.Counter, b.Created, b.Published = uint64(counter), fromNanos(created), fromNanos(published)
	return b, err
}

// FindNewestBundle implements store.Bundles.
func (s *Store) FindNewestBundle(ctx context.Context) (b store.Bundle, err error) {
	var content []byte
	b, err = readBundle(s.row(ctx, "SELECT "+bundleColumns+", content FROM bundle WHERE org = ? ORDER BY counter DESC LIMIT 1", s.org), &content)
	b.Bytes = content
	return b, explain(err)
}

// ListBundles implements store.Bundles.
func (s *Store) ListBundles(ctx context.Context, most int) ([]store.Bundle, error) {
	return list(ctx, s, func(r scanner) (store.Bundle, error) { return readBundle(r) }, "SELECT "+bundleColumns+" FROM bundle WHERE org = ? ORDER BY counter DESC LIMIT ?", s.org, most)
}

// AddLink implements store.People.
func (s *Store) AddLink(ctx context.Context, hash, who string, expires time.Time) error {
	return s.change(ctx, func(t *transaction) error {
		if _, err := t.exec("DELETE FROM link WHERE org = ? AND who = ?", s.org, who); err != nil {
			return err
		}
		_, err := t.exec("INSERT INTO link (org, hash, who, expires) VALUES (?, ?, ?, ?)", s.org, hash, who, nanos(expires))
		return err
	})
}

// UseLink implements store.People.
func (s *Store) UseLink(ctx context.Context, hash, session string, now, expires time.Time) (who string, err error) {
	err = s.change(ctx, func(t *transaction) error {
		if err := t.row("SELECT who FROM link WHERE org = ? AND hash = ? AND expires > ?"+s.d.lock, s.org, hash, nanos(now)).Scan(&who); err != nil {
			return err
		}
		if n, err := t.exec("DELETE FROM link WHERE org = ? AND hash = ?", s.org, hash); err != nil || n == 0 {
			if err == nil {
				err = store.ErrNone
			}
			return err
		}
		if _, err := t.exec("DELETE FROM signed_in WHERE org = ? AND expires <= ?", s.org, nanos(now)); err != nil {
			return err
		}
		_, err := t.exec("INSERT INTO signed_in (org, hash, who, expires) VALUES (?, ?, ?, ?)", s.org, session, who, nanos(expires))
		return err
	})
	return who, err
}

// FindSession implements store.People.
func (s *Store) FindSession(ctx context.Context, hash string, now time.Time) (who string, err error) {
	return who, explain(s.row(ctx, "SELECT who FROM signed_in WHERE org = ? AND hash = ? AND expires > ?", s.org, hash, nanos(now)).Scan(&who))
}

// EndSession implements store.People.
func (s *Store) EndSession(ctx context.Context, hash string) error {
	return s.execOne(ctx, "DELETE FROM signed_in WHERE org = ? AND hash = ?", s.org, hash)
}
