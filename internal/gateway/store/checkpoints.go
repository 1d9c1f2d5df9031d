package store

import (
	"context"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/clawai/clawai/internal/state/checkpoint"
)

// Head is a leaf of the tree. Heads are numbered from 0.
type Head struct {
	checkpoint.Head
	Number int64
}

// Checkpoint is a signed state of the tree.
type Checkpoint struct {
	Size int64 // number of heads
	Made time.Time
	Note string // as it was signed
}

// Checkpoints keeps the Merkle tree over the heads of all segments. It only grows.
type Checkpoints interface {
	// ListUnlogged returns segments that have more than their newest head says, or none.
	ListUnlogged(ctx context.Context, most int) ([]Segment, error)
	// CountUnlogged returns how many segments ListUnlogged could return that changed before a time.
	CountUnlogged(ctx context.Context, before time.Time) (int, error)
	// AddCheckpoint adds heads to the tree, all or nothing, while nobody else does, but for heads that say no
	// more than those of their segments that are there. It calls sign with the size of the tree, the heads
	// that are left, and what reads the tree; sign returns the hashes that the tree grows by, as package
	// tlog stores them. ErrNone: no head is left.
	AddCheckpoint(ctx context.Context, heads []checkpoint.Head, sign func(size int64, heads []checkpoint.Head, tree tlog.HashReader) ([]tlog.Hash, Checkpoint, error)) error
	// ListCheckpoints returns checkpoints with a size above another one, the smallest first.
	ListCheckpoints(ctx context.Context, above int64, most int) ([]Checkpoint, error)
	// FindNewestCheckpoint returns the checkpoint with the largest size; ErrNone if there is none.
	FindNewestCheckpoint(ctx context.Context) (Checkpoint, error)
	// ListHeads returns heads from a number on, in the order of their numbers.
	ListHeads(ctx context.Context, from int64, most int) ([]Head, error)
	// ListSegmentHeads returns the heads of a segment in the order of their numbers.
	ListSegmentHeads(ctx context.Context, laptop, segment string) ([]Head, error)
	// FindHead returns the newest head of a segment with a number below another one; ErrNone if there is none.
	FindHead(ctx context.Context, laptop, segment string, below int64) (Head, error)
	// ReadTree returns hashes of the tree by their places, as package tlog counts them.
	ReadTree(ctx context.Context, places []int64) ([]tlog.Hash, error)
	// ListSegments returns segments behind a place, in the order of laptops and names. With only, those of
	// the laptop alone.
	ListSegments(ctx context.Context, laptop, after string, only bool, most int) ([]Segment, error)
}
