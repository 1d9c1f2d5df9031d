package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/checkpoint"
)

// unlogged selects the segments that have grown or ended since their newest head, or that have no head.
const unlogged = " FROM segment WHERE org = ? AND logged < 2 * size + complete"

// ListUnlogged implements store.Checkpoints.
func (s *Store) ListUnlogged(ctx context.Context, most int) ([]store.Segment, error) {
	return list(ctx, s, readSegment, "SELECT "+segmentColumns+unlogged+" ORDER BY changed LIMIT ?", s.org, most)
}

// CountUnlogged implements store.Checkpoints.
func (s *Store) CountUnlogged(ctx context.Context, before time.Time) (n int, err error) {
	err = s.row(ctx, "SELECT count(*)"+unlogged+" AND changed < ?", s.org, nanos(before)).Scan(&n)
	return n, explain(err)
}

const headColumns = "number, laptop, segment, size, digest, complete"

func readHead(r scanner) (h store.Head, err error) {
	var complete int
	err = r.Scan(&h.Number, &h.Laptop, &h.Segment, &h.Size, &h.Digest, &complete)
	h.Complete = complete != 0
	return h, err
}

// AddCheckpoint implements store.Checkpoints.
func (s *Store) AddCheckpoint(ctx context.Context, heads []checkpoint.Head, sign func(int64, []checkpoint.Head, tlog.HashReader) ([]tlog.Hash, store.Checkpoint, error)) error {
	return s.change(ctx, func(t *transaction) error {
		if err := t.lockAll(); err != nil {
			return err
		}
		var size int64
		if err := t.row("SELECT coalesce(max(number) + 1, 0) FROM head WHERE org = ?", s.org).Scan(&size); err != nil {
			return err
		}
		var left []checkpoint.Head
		for _, h := range heads {
			is := 2*h.Size + int64(bit(h.Complete))
			n, err := t.exec("UPDATE segment SET logged = ? WHERE org = ? AND laptop = ? AND name = ? AND logged < ?", is, s.org, h.Laptop, h.Segment, is)
			if err != nil {
				return err
			}
			if n > 0 {
				left = append(left, h)
			}
		}
		if len(left) == 0 {
			return store.ErrNone
		}
		hashes, c, err := sign(size, left, tlog.HashReaderFunc(func(places []int64) ([]tlog.Hash, error) { return s.readTree(t.rows, places) }))
		if err != nil {
			return err
		}
		return s.keepCheckpoint(t, size, left, hashes, c)
	})
}

func (s *Store) keepCheckpoint(t *transaction, size int64, heads []checkpoint.Head, hashes []tlog.Hash, c store.Checkpoint) error {
	for i, h := range heads {
		if _, err := t.exec("INSERT INTO head (org, "+headColumns+") VALUES (?, ?, ?, ?, ?, ?, ?)", s.org, size+int64(i), h.Laptop, h.Segment, h.Size, h.Digest, bit(h.Complete)); err != nil {
			return err
		}
	}
	for i, h := range hashes {
		if _, err := t.exec("INSERT INTO tree (org, place, hash) VALUES (?, ?, ?)", s.org, tlog.StoredHashCount(size)+int64(i), h[:]); err != nil {
			return err
		}
	}
	_, err := t.exec("INSERT INTO checkpoint (org, size, made, note) VALUES (?, ?, ?, ?)", s.org, c.Size, nanos(c.Made), c.Note)
	return err
}

// readTree returns one hash for each place, in the order of places. It returns an error if the database
// has no hash for a place.
func (s *Store) readTree(rows func(string, ...any) (*sql.Rows, error), places []int64) ([]tlog.Hash, error) {
	if len(places) == 0 {
		return nil, nil
	}
	type node struct {
		place int64
		hash  []byte
	}
	values := []any{s.org}
	for _, p := range places {
		values = append(values, p)
	}
	found, err := rows("SELECT place, hash FROM tree WHERE org = ? AND place IN (?"+strings.Repeat(", ?", len(places)-1)+")", values...)
	all, err := collect(found, err, func(r scanner) (n node, err error) { return n, r.Scan(&n.place, &n.hash) })
	if err != nil {
		return nil, err
	}
	known := map[int64]tlog.Hash{}
	for _, n := range all {
		if len(n.hash) == tlog.HashSize {
			known[n.place] = tlog.Hash(n.hash)
		}
	}
	hashes := make([]tlog.Hash, len(places))
	for i, p := range places {
		h, ok := known[p]
		if !ok {
			return nil, fmt.Errorf("the tree of checkpoints has no hash %d: the database was changed", p)
		}
		hashes[i] = h
	}
	return hashes, nil
}

// ReadTree implements store.Checkpoints.
func (s *Store) ReadTree(ctx context.Context, places []int64) ([]tlog.Hash, error) {
	return s.readTree(func(statement string, values ...any) (*sql.Rows, error) {
		return s.db.QueryContext(ctx, s.d.writePlaces(statement), values...)
	}, places)
}

func readCheckpoint(r scanner) (c store.Checkpoint, err error) {
	var made int64
	err = r.Scan(&c.Size, &made, &c.Note)
	c.Made = fromNanos(made)
	return c, err
}

// ListCheckpoints implements store.Checkpoints.
func (s *Store) ListCheckpoints(ctx context.Context, above int64, most int) ([]store.Checkpoint, error) {
	return list(ctx, s, readCheckpoint, "SELECT size, made, note FROM checkpoint WHERE org = ? AND size > ? ORDER BY size LIMIT ?", s.org, above, most)
}

// FindNewestCheckpoint implements store.Checkpoints.
func (s *Store) FindNewestCheckpoint(ctx context.Context) (store.Checkpoint, error) {
	c, err := readCheckpoint(s.row(ctx, "SELECT size, made, note FROM checkpoint WHERE org = ? ORDER BY size DESC LIMIT 1", s.org))
	return c, explain(err)
}

// ListHeads implements store.Checkpoints.
func (s *Store) ListHeads(ctx context.Context, from int64, most int) ([]store.Head, error) {
	return list(ctx, s, readHead, "SELECT "+headColumns+" FROM head WHERE org = ? AND number >= ? ORDER BY number LIMIT ?", s.org, from, most)
}

// ListSegmentHeads implements store.Checkpoints.
func (s *Store) ListSegmentHeads(ctx context.Context, laptop, segment string) ([]store.Head, error) {
	return list(ctx, s, readHead, "SELECT "+headColumns+" FROM head WHERE org = ? AND laptop = ? AND segment = ? ORDER BY number", s.org, laptop, segment)
}

// FindHead implements store.Checkpoints.
func (s *Store) FindHead(ctx context.Context, laptop, segment string, below int64) (store.Head, error) {
	h, err := readHead(s.row(ctx, "SELECT "+headColumns+" FROM head WHERE org = ? AND laptop = ? AND segment = ? AND number < ? ORDER BY number DESC LIMIT 1", s.org, laptop, segment, below))
	return h, explain(err)
}

// ListSegments implements store.Checkpoints.
func (s *Store) ListSegments(ctx context.Context, laptop, after string, only bool, most int) ([]store.Segment, error) {
	where, values := "laptop = ? AND name > ?", []any{s.org, laptop, after}
	if !only {
		where, values = "(laptop > ? OR laptop = ? AND name > ?)", []any{s.org, laptop, laptop, after}
	}
	return list(ctx, s, readSegment, "SELECT "+segmentColumns+" FROM segment WHERE org = ? AND "+where+" ORDER BY laptop, name LIMIT ?", append(values, most)...)
}
