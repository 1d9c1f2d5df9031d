package store

import (
	"context"
	"time"
)

// Key is the key of a machine. A zero time means never.
type Key struct {
	ID, Name string
	Roles    []string
	Created  time.Time
	Expires  time.Time // the hash of the key's secret covers Expires, so a changed Expires in the database makes the key invalid
	Ends     time.Time // set if another key replaced this key: the key is valid until Ends, but not longer than until Expires
	Revoked  time.Time
	Used     time.Time // time of the last use
}

// IsOver reports whether the key has expired, was revoked, or was replaced and has ended.
func (k *Key) IsOver(now time.Time) bool {
	return !k.Revoked.IsZero() || !now.Before(k.Expires) || !k.Ends.IsZero() && !now.Before(k.Ends)
}

// Keys keeps keys of machines. It keeps only keyed hashes of the keys' secrets.
type Keys interface {
	// AddKey adds a key. If the new key replaces another key, instead is the id of the old key;
	// otherwise instead is "". The old key then ends at the time in the parameter ends, or at its
	// own Ends if that is earlier. The error is ErrNone if the old key does not exist or was
	// revoked.
	AddKey(ctx context.Context, k Key, hash, instead string, ends time.Time) error
	// FindKey returns a key and the keyed hash of its secret. The error is ErrNone if the key does not
	// exist.
	FindKey(ctx context.Context, id string) (k Key, hash string, err error)
	// ListKeys returns all keys. The newest key comes first.
	ListKeys(ctx context.Context) ([]Key, error)
	// RevokeKey revokes a key and removes the hash of its secret. The error is ErrNone if the key does
	// not exist, and ErrTwice if the key was already revoked.
	RevokeKey(ctx context.Context, id string, now time.Time) error
	// TouchKey stores the time of a key's last use. It keeps the stored time if that time is later than
	// now.
	TouchKey(ctx context.Context, id string, now time.Time) error
}
