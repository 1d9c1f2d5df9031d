package checkpoint

import (
	"golang.org/x/mod/sumdb/tlog"
)

// Paths of the centre's interface for laptops.
const (
	NotePath  = "/v1/checkpoint" // GET with old=SIZE: Newest
	HeadsPath = "/v1/heads"      // GET with size=SIZE of a checkpoint and after=SEGMENT: Heads
)

// Bounds of one answer of HeadsPath.
const (
	MostHeld     = 200 // segments
	MostFindings = 50
)

// Newest is the newest checkpoint of a centre.
type Newest struct {
	Note        string         `json:"note"`                  // the signed note; "" if the centre makes no checkpoints
	Consistency tlog.TreeProof `json:"consistency,omitempty"` // proof that the tree of the requested old size is the beginning of this tree
}

// Heads tells a laptop how much of its record the centre holds: for some segments, in the order of
// their names.
type Heads struct {
	Laptop   string   `json:"laptop"`
	Held     []Held   `json:"held"`
	More     bool     `json:"more"`     // there are more segments after the last one
	Findings []string `json:"findings"` // what the centre found when it checked the record on arrival; only in the answer with the first segments
}

// Held describes the part of a segment that the centre holds.
type Held struct {
	Head
	Leaf *Leaf `json:"leaf,omitempty"` // nil if the checkpoint of the requested size does not include the segment
}

// Leaf is the newest head of a segment in a tree, with the proof that the head is in the tree.
type Leaf struct {
	Head
	Number int64            `json:"number"`
	Proof  tlog.RecordProof `json:"proof"`
}

// Check returns an error if the leaf is not in the tree of a checkpoint.
func (l *Leaf) Check(c Checkpoint) error {
	return tlog.CheckRecord(l.Proof, c.Size, c.Root, l.Number, l.Hash())
}

// CheckGrowth returns an error if the proof does not show that the tree of an older checkpoint is the
// beginning of a newer one's.
func CheckGrowth(older, newer Checkpoint, proof tlog.TreeProof) error {
	return tlog.CheckTree(proof, newer.Size, newer.Root, older.Size, older.Root)
}
