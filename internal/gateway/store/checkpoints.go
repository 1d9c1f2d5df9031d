package store

import (
	"context"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/clawai/clawai/internal/state/checkpoint"
)

// Head is a leaf of the Merkle tree: the size and the digest of one segment at one time. Heads are
// numbered from 0.
type Head struct {
	checkpoint.Head
	Number int64
}

// Checkpoint is a signed state of the tree.
type Checkpoint struct {
	Size int64 // number of heads
	Made time.Time
	Note string // the signed text
}

// Checkpoints keeps the Merkle tree over the heads of all segments. The tree only grows.
type Checkpoints interface {
	// ListUnlogged returns segments that have grown or ended since their newest head, or have no head yet.
	ListUnlogged(ctx context.Context, most int) ([]Segment, error)
	// CountUnlogged returns the number of such segments that last changed before a time.
	CountUnlogged(ctx context.Context, before time.Time) (int, error)
	// AddCheckpoint adds heads to the tree in one transaction, which no other AddCheckpoint overlaps. It
	// leaves out a head if the tree has one of the same segment that is at least as new. It calls sign with the
	// size of the tree, the heads to add, and a reader of the tree's hashes. sign returns the hashes to add
	// to the tree, as package tlog stores them. The error is ErrNone if no head is left to add.
	AddCheckpoint(ctx context.Context, heads []checkpoint.Head, sign func(size int64, heads []checkpoint.Head, tree tlog.HashReader) ([]tlog.Hash, Checkpoint, error)) error
	// ListCheckpoints returns checkpoints whose size is larger than above, the smallest first.
	ListCheckpoints(ctx context.Context, above int64, most int) ([]Checkpoint, error)
	// FindNewestCheckpoint returns the checkpoint with the largest size; ErrNone if there is none.
	FindNewestCheckpoint(ctx context.Context) (Checkpoint, error)
	// ListHeads returns heads from a number on, in the order of their numbers.
	ListHeads(ctx context.Context, from int64, most int) ([]Head, error)
	// ListSegmentHeads returns the heads of a segment in the order of their numbers.
	ListSegmentHeads(ctx context.Context, laptop, segment string) ([]Head, error)
	// FindHead returns the newest head of a segment whose number is less than below; ErrNone if there is none.
	FindHead(ctx context.Context, laptop, segment string, below int64) (Head, error)
	// ReadTree returns the tree's hashes with the given indexes (tlog.StoredHashIndex).
	ReadTree(ctx context.Context, places []int64) ([]tlog.Hash, error)
	// ListSegments returns segments in the order of laptops and names. The first one follows the segment of
	// laptop with the name in after. If only is true, it returns only segments of this laptop.
	ListSegments(ctx context.Context, laptop, after string, only bool, most int) ([]Segment, error)
}
