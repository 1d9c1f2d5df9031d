package store

import (
	"context"
	"time"
)

// Key is the key of a machine. Zero times mean never.
type Key struct {
	ID, Name string
	Roles    []string
	Created  time.Time
	Expires  time.Time // the hash of the key's secret covers it, so a change in the database makes the key invalid
	Ends     time.Time // set if another key replaced it: the key is valid until then, at most until Expires
	Revoked  time.Time
	Used     time.Time // when it was last used
}

// IsOver reports whether a key is not valid any more.
func (k *Key) IsOver(now time.Time) bool {
	return !k.Revoked.IsZero() || !now.Before(k.Expires) || !k.Ends.IsZero() && !now.Before(k.Ends)
}

// Keys keeps keys of machines. It has only keyed hashes of their secrets.
type Keys interface {
	// AddKey adds a key. instead is the id of the key that it replaces, or "": that key ends at the time
	// ends, if it does not end before. ErrNone: there is no such key to replace, or it was revoked.
	AddKey(ctx context.Context, k Key, hash, instead string, ends time.Time) error
	// FindKey returns a key and the keyed hash of its secret; ErrNone if there is none.
	FindKey(ctx context.Context, id string) (k Key, hash string, err error)
	// ListKeys returns the keys, the newest first.
	ListKeys(ctx context.Context) ([]Key, error)
	// RevokeKey revokes a key and removes its hash. ErrNone: there is none. ErrTwice: it was revoked before.
	RevokeKey(ctx context.Context, id string, now time.Time) error
	// TouchKey sets the time of a key's last use, unless a later one is set.
	TouchKey(ctx context.Context, id string, now time.Time) error
}
