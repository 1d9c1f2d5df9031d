package store

import (
	"context"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/clawai/clawai/internal/state/checkpoint"
)

// Head is a leaf of the Merkle tree. A head holds the size and the digest of one segment at one time.
type Head struct {
	checkpoint.Head
	Number int64
}

// Checkpoint is a signed state of the Merkle tree.
type Checkpoint struct {
	Size int64 // number of heads in the tree
	Made time.Time
	Note string // the signed text
}

// Checkpoints keeps the Merkle tree over the heads of all segments. The tree only grows.
type Checkpoints interface {
	// ListUnlogged returns the segments that have no head yet, or that grew or ended after their newest
	// head was made.
	ListUnlogged(ctx context.Context, most int) ([]Segment, error)
	// CountUnlogged counts the segments of ListUnlogged that last changed before a time.
	CountUnlogged(ctx context.Context, before time.Time) (int, error)
	// AddCheckpoint adds heads to the tree in one transaction. Two calls of AddCheckpoint never
	// overlap. AddCheckpoint skips a head if the tree already has an equally new or newer head of the
	// same segment. It calls sign with the size of the tree, the heads to add, and a reader of the
	// tree's hashes. sign returns the hashes to add to the tree, as package tlog stores them. The error
	// is ErrNone if no head is left to add.
	AddCheckpoint(ctx context.Context, heads []checkpoint.Head, sign func(size int64, heads []checkpoint.Head, tree tlog.HashReader) ([]tlog.Hash, Checkpoint, error)) error
	// ListCheckpoints returns the checkpoints whose size is larger than the parameter above. The
	// smallest comes first.
	ListCheckpoints(ctx context.Context, above int64, most int) ([]Checkpoint, error)
	// FindNewestCheckpoint returns the checkpoint with the largest size. The error is ErrNone if the
	// store has no checkpoint.
	FindNewestCheckpoint(ctx context.Context) (Checkpoint, error)
	// ListHeads returns heads in the order of their numbers. The parameter from is the number of
	// the first one.
	ListHeads(ctx context.Context, from int64, most int) ([]Head, error)
	// ListSegmentHeads returns the heads of a segment in the order of their numbers.
	ListSegmentHeads(ctx context.Context, laptop, segment string) ([]Head, error)
	// FindHead returns a segment's newest head among the heads whose number is less than the parameter
	// below. The error is ErrNone if the segment has no such head.
	FindHead(ctx context.Context, laptop, segment string, below int64) (Head, error)
	// ReadTree returns the tree's hashes with the given indexes (tlog.StoredHashIndex).
	ReadTree(ctx context.Context, places []int64) ([]tlog.Hash, error)
	// ListSegments returns segments, sorted by laptop and then by name. laptop and after are the laptop
	// and the name of a segment, and the list starts with the next segment. If only is true, the list
	// has only segments of this laptop.
	ListSegments(ctx context.Context, laptop, after string, only bool, most int) ([]Segment, error)
}
