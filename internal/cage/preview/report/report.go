// Package report is what a preview of a command found, as values. Every string in it is the
// command's to choose.
package report

// What happened to a file.
const (
	Created  = "create"
	Changed  = "change"
	Replaced = "replace" // by something of another kind
	Deleted  = "delete"
	Modified = "mode" // only its mode or its owner
)

// Change is one file that a command would write, change or delete.
type Change struct {
	What  string `json:"what"`
	Path  string `json:"path"`
	Kind  string `json:"kind"`            // "file", "folder", "link", "pipe", "socket", "device"
	Files int    `json:"files,omitempty"` // of a deleted folder: how many files were in it
	Size  int64  `json:"size,omitempty"`
	Mode  uint32 `json:"mode,omitempty"` // the bits of permission
	Was   uint32 `json:"was,omitempty"`  // the mode before
	UID   int    `json:"uid,omitempty"`
	GID   int    `json:"gid,omitempty"`
	Link  string `json:"link,omitempty"` // where a link leads
	// Names is the number of further names (hard links) of a file that is changed. They change with
	// it, unless another file takes its place, which cannot be told; they stand nowhere in the list.
	Names  int    `json:"names,omitempty"`
	Hidden bool   `json:"hidden,omitempty"` // a secret place: what is in it was not there
	SHA256 string `json:"sha256,omitempty"` // of what a file would hold
	Shown  bool   `json:"shown,omitempty"`  // Before and After hold its texts
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Counts are how many files of each kind of change there are, listed or not. A folder counts only
// if it is deleted with nothing in it, created or changed in its mode.
type Counts struct {
	Created int `json:"created"`
	Changed int `json:"changed"`
	Deleted int `json:"deleted"`
}

// Why a command was ended.
const (
	BySignal   = "signal"
	ByTime     = "time"
	ByMemory   = "memory"
	ByPrograms = "programs" // it started too many
)

// Result is what a command did.
type Result struct {
	Fault    string   `json:"fault,omitempty"` // why there was no preview; the rest is empty
	Counts   Counts   `json:"counts"`
	Changes  []Change `json:"changes"`
	Unlisted int      `json:"unlisted,omitempty"` // changes that are counted and not listed
	Unread   bool     `json:"unread,omitempty"`   // there was no time to read all of what was written
	Full     bool     `json:"full,omitempty"`     // it wrote more than is kept
	Programs []string `json:"programs"`           // the paths of the programs that it started, in order
	Started  int      `json:"started"`            // how many times it started one
	Untraced bool     `json:"untraced,omitempty"` // its programs could not be seen
	Hosts    []string `json:"hosts"`              // what it asked for on the network, with the port
	Ended    string   `json:"ended,omitempty"`    // why it was ended; "" if it ended by itself
	Code     int      `json:"code"`               // the exit code, or the number of the signal
	Left     int      `json:"left,omitempty"`     // processes that went on when it had ended
	Output   string   `json:"output,omitempty"`   // the end of what it wrote to its output and its errors
	Closed   []string `json:"closed,omitempty"`   // folders in which nothing could be written
	Took     int64    `json:"took"`               // milliseconds
}
