// Package report holds the types for the result of a preview. The command may have chosen every string
// in it, so no string can be trusted.
package report

// The kinds of change of a file.
const (
	Created  = "create"
	Changed  = "change"
	Replaced = "replace" // the file was replaced by another type of file, for example by a folder
	Deleted  = "delete"
	Modified = "mode" // only the mode or the owner changed
)

// Change is one file that a command would write, change or delete.
type Change struct {
	What  string `json:"what"`
	Path  string `json:"path"`
	Kind  string `json:"kind"`            // "file", "folder", "link", "pipe", "socket", "device"
	Files int    `json:"files,omitempty"` // number of files in a deleted or replaced folder
	Size  int64  `json:"size,omitempty"`
	Mode  uint32 `json:"mode,omitempty"` // the permission bits after the change
	Was   uint32 `json:"was,omitempty"`  // the permission bits before the change
	UID   int    `json:"uid,omitempty"`
	GID   int    `json:"gid,omitempty"`
	Link  string `json:"link,omitempty"` // target of a link
	// Names is the number of other names (hard links) of a changed file. A change of the file is
	// also visible under these names, unless the command replaces the file by a new one. The list
	// of changes does not contain these names.
	Names  int    `json:"names,omitempty"`
	Hidden bool   `json:"hidden,omitempty"` // a secret place, which looked empty to the command
	SHA256 string `json:"sha256,omitempty"` // digest of the file's new content
	Shown  bool   `json:"shown,omitempty"`  // Before and After hold the file's text
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Counts are the numbers of files by kind of change, including unlisted files. A folder is counted if
// it was created or changed. For a deleted folder, the files in it are counted. If the deleted folder
// holds no file, it counts as one file.
type Counts struct {
	Created int `json:"created"`
	Changed int `json:"changed"`
	Deleted int `json:"deleted"`
}

// The values of Result.Ended.
const (
	BySignal   = "signal"
	ByTime     = "time"
	ByMemory   = "memory"
	ByPrograms = "programs" // too many processes
)

// Result describes what a command did.
type Result struct {
	Fault    string   `json:"fault,omitempty"` // reason why there was no preview; the other fields are then empty
	Counts   Counts   `json:"counts"`
	Changes  []Change `json:"changes"`
	Unlisted int      `json:"unlisted,omitempty"` // number of changes that are not in the list
	Unread   bool     `json:"unread,omitempty"`   // the list may be incomplete: there was no time to read all changes
	Full     bool     `json:"full,omitempty"`     // the command wrote more than the layers can hold
	Programs []string `json:"programs"`           // the paths of the programs that the command started, in order
	Started  int      `json:"started"`            // number of times that the command started a program
	Untraced bool     `json:"untraced,omitempty"` // the system forbids tracing, so clawai did not see the command's programs
	Hosts    []string `json:"hosts"`              // hosts that the command tried to reach, with the port
	Ended    string   `json:"ended,omitempty"`    // reason why the command ended; "" if it exited by itself
	Code     int      `json:"code"`               // the exit code, or the number of the signal
	Left     int      `json:"left,omitempty"`     // number of processes that still ran when the command had ended
	Output   string   `json:"output,omitempty"`   // the end of the command's standard output and standard error
	Closed   []string `json:"closed,omitempty"`   // folders without a layer, in which every write failed
	Took     int64    `json:"took"`               // run time in milliseconds
}
