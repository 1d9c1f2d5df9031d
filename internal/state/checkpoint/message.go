package checkpoint

import (
	"golang.org/x/mod/sumdb/tlog"
)

// Paths of the centre's interface for laptops.
const (
	NotePath  = "/v1/checkpoint" // GET with old=SIZE, answered by Newest
	HeadsPath = "/v1/heads"      // GET with size=SIZE of a checkpoint and after=SEGMENT, answered by Heads
)

// Bounds of one answer of HeadsPath.
const (
	MostHeld     = 200 // largest number of segments
	MostFindings = 50
)

// Newest is the newest checkpoint of a centre.
type Newest struct {
	Note        string         `json:"note"`                  // the signed note; "" if the centre makes no checkpoints
	Consistency tlog.TreeProof `json:"consistency,omitempty"` // proof that the tree with the requested old size is the beginning of the newest tree
}

// Heads tells a laptop how much of its record the centre holds. It lists some segments, ordered by
// name.
type Heads struct {
	Laptop   string   `json:"laptop"`
	Held     []Held   `json:"held"`
	More     bool     `json:"more"`     // there are more segments after the last segment in the answer
	Findings []string `json:"findings"` // what the centre found when it checked the arriving record; only the answer with the first segments has findings
}

// Held describes the part of a segment that the centre holds.
type Held struct {
	Head
	Leaf *Leaf `json:"leaf,omitempty"` // nil if the segment is not in the checkpoint of the requested size
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

// CheckGrowth returns an error unless the proof shows that the tree of the older checkpoint is the
// beginning of the newer tree.
func CheckGrowth(older, newer Checkpoint, proof tlog.TreeProof) error {
	return tlog.CheckTree(proof, newer.Size, newer.Root, older.Size, older.Root)
}
