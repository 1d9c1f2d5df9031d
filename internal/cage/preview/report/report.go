// Package report holds the types for the result of a preview. The command may have chosen every string
// in it, so no string can be trusted.
package report

// The kinds of change of a file.
const (
	Created  = "create"
	Changed  = "change"
	Replaced = "replace" // by a file of another type, for example a folder
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
	// Names is the number of other names (hard links) of a changed file. They change with it, unless the
	// command replaces the file by a new one. The list does not contain these names.
	Names  int    `json:"names,omitempty"`
	Hidden bool   `json:"hidden,omitempty"` // a secret place: the command saw it as empty
	SHA256 string `json:"sha256,omitempty"` // digest of the file's new content
	Shown  bool   `json:"shown,omitempty"`  // Before and After hold the file's text
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Counts are the numbers of files by kind of change, including unlisted files. A folder counts if it was
// created, changed, or deleted while empty.
type Counts struct {
	Created int `json:"created"`
	Changed int `json:"changed"`
	Deleted int `json:"deleted"`
}

// The reasons why a command has ended, if it did not exit by itself.
const (
	BySignal   = "signal"
	ByTime     = "time"
	ByMemory   = "memory"
	ByPrograms = "programs" // it started too many processes
)

// Result is what a command did.
type Result struct {
	Fault    string   `json:"fault,omitempty"` // why there was no preview; the rest is empty
	Counts   Counts   `json:"counts"`
	Changes  []Change `json:"changes"`
	Unlisted int      `json:"unlisted,omitempty"` // changes that are counted and not listed
	Unread   bool     `json:"unread,omitempty"`   // the list may be incomplete: there was no time to read all changes
	Full     bool     `json:"full,omitempty"`     // it wrote more than the layers can hold
	Programs []string `json:"programs"`           // the paths of the programs that it started, in order
	Started  int      `json:"started"`            // how many times it started a program
	Untraced bool     `json:"untraced,omitempty"` // its programs could not be seen
	Hosts    []string `json:"hosts"`              // hosts that it asked for, with the port
	Ended    string   `json:"ended,omitempty"`    // why it was ended; "" if it ended by itself
	Code     int      `json:"code"`               // the exit code, or the number of the signal
	Left     int      `json:"left,omitempty"`     // number of processes that still ran when it had ended
	Output   string   `json:"output,omitempty"`   // the end of its standard output and standard error
	Closed   []string `json:"closed,omitempty"`   // folders in which nothing could be written
	Took     int64    `json:"took"`               // milliseconds
}
