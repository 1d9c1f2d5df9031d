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
	Note        string         `json:"note"`                  // signed; "": the centre makes no checkpoints
	Consistency tlog.TreeProof `json:"consistency,omitempty"` // that the tree of the old size is the beginning of this one
}

// Heads says what the centre holds of the asking laptop's record: some segments, in the order of their
// names.
type Heads struct {
	Laptop   string   `json:"laptop"`
	Held     []Held   `json:"held"`
	More     bool     `json:"more"`     // there are others behind the last one
	Findings []string `json:"findings"` // what was found in the record as it came; with the first segments alone
}

// Held is what the centre holds of a segment.
type Held struct {
	Head
	Leaf *Leaf `json:"leaf,omitempty"` // nil: no checkpoint of the asked size has it
}

// Leaf is the newest head of a segment in a tree, with the proof that it is there.
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
