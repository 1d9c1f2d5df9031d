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
	Expires  time.Time // as the hash of its secret says it
	Ends     time.Time // before Expires, if another key took its place
	Revoked  time.Time
	Used     time.Time // when it was last used
}

// IsOver reports whether a key counts no more.
func (k *Key) IsOver(now time.Time) bool {
	return !k.Revoked.IsZero() || !now.Before(k.Expires) || !k.Ends.IsZero() && !now.Before(k.Ends)
}

// Keys keeps keys of machines. Of secrets only keyed hashes are kept.
type Keys interface {
	// AddKey adds a key. If it takes the place of another one, that one ends at a time. ErrNone: there is no
	// such key to replace, or it was revoked.
	AddKey(ctx context.Context, k Key, hash, instead string, ends time.Time) error
	// FindKey returns a key and the keyed hash of its secret; ErrNone if there is none.
	FindKey(ctx context.Context, id string) (k Key, hash string, err error)
	// ListKeys returns the keys, the newest first.
	ListKeys(ctx context.Context) ([]Key, error)
	// RevokeKey ends a key and removes the hash. ErrNone: there is none. ErrTwice: it was revoked before.
	RevokeKey(ctx context.Context, id string, now time.Time) error
	// TouchKey keeps that a key was used.
	TouchKey(ctx context.Context, id string, now time.Time) error
}
