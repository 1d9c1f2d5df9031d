package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/clawai/clawai/internal/gateway/store"
)

const keyColumns = "id, name, roles, created, expires, ends, revoked, used"

func readMachineKey(r scanner, more ...any) (k store.Key, err error) {
	var created, expires, ends, revoked, used int64
	var roles string
	if err = r.Scan(append([]any{&k.ID, &k.Name, &roles, &created, &expires, &ends, &revoked, &used}, more...)...); err == nil {
		err = json.Unmarshal([]byte(roles), &k.Roles)
	}
	k.Created, k.Expires, k.Ends, k.Revoked, k.Used = fromNanos(created), fromNanos(expires), fromNanos(ends), fromNanos(revoked), fromNanos(used)
	return k, err
}

// AddKey implements store.Keys.
func (s *Store) AddKey(ctx context.Context, k store.Key, hash, instead string, ends time.Time) error {
	roles, err := json.Marshal(k.Roles)
	if err != nil {
		return err
	}
	return s.change(ctx, func(t *transaction) error {
		if instead != "" {
			n, err := t.exec("UPDATE machine_key SET ends = CASE WHEN ends = 0 OR ends > ? THEN ? ELSE ends END WHERE org = ? AND id = ? AND revoked = 0", nanos(ends), nanos(ends), s.org, instead)
			if err != nil {
				return err
			}
			if n == 0 {
				return store.ErrNone
			}
		}
		_, err := t.exec("INSERT INTO machine_key (org, id, name, roles, created, expires, hash) VALUES (?, ?, ?, ?, ?, ?, ?)", s.org, k.ID, k.Name, string(roles), nanos(k.Created), nanos(k.Expires), hash)
		return err
	})
}

// FindKey implements store.Keys.
func (s *Store) FindKey(ctx context.Context, id string) (k store.Key, hash string, err error) {
	k, err = readMachineKey(s.row(ctx, "SELECT "+keyColumns+", hash FROM machine_key WHERE org = ? AND id = ?", s.org, id), &hash)
	return k, hash, explain(err)
}

// ListKeys implements store.Keys.
func (s *Store) ListKeys(ctx context.Context) ([]store.Key, error) {
	return list(ctx, s, func(r scanner) (store.Key, error) { return readMachineKey(r) }, "SELECT "+keyColumns+" FROM machine_key WHERE org = ? ORDER BY created DESC, id", s.org)
}

// RevokeKey implements store.Keys.
func (s *Store) RevokeKey(ctx context.Context, id string, now time.Time) error {
	if err := s.execOne(ctx, "UPDATE machine_key SET revoked = ?, hash = '' WHERE org = ? AND id = ? AND revoked = 0", nanos(now), s.org, id); !errors.Is(err, store.ErrNone) {
		return err
	}
	if _, _, err := s.FindKey(ctx, id); err != nil {
		return err
	}
	return store.ErrTwice
}

// TouchKey implements store.Keys.
func (s *Store) TouchKey(ctx context.Context, id string, now time.Time) error {
	return s.execOne(ctx, "UPDATE machine_key SET used = CASE WHEN used > ? THEN used ELSE ? END WHERE org = ? AND id = ?", nanos(now), nanos(now), s.org, id)
}
