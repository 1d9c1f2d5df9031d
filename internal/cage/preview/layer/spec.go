// Package layer runs one command in its own namespaces, where every write goes into layers over the
// real folders. When the command has ended, it lists the changes in the layers. It contains all that
// the program clawai-sandbox does for a preview. It knows no policy: internal/cage/preview has
// examined the disk before.
package layer

import (
	"encoding/json"
	"time"
)

// Word is the first argument that makes the helper of cages run a command for a preview.
const Word = "preview"

// Format is the version of the form of Spec. A helper refuses a Spec with another Format.
const Format = 1

// Spec describes a preview for the helper. Every path is absolute.
type Spec struct {
	Format  int           `json:"format"`
	Command []string      `json:"command"` // a program by its path, and its words
	Dir     string        `json:"dir"`
	Helper  []string      `json:"helper"`  // the arguments that make the helper program build a cage
	Folders []string      `json:"folders"` // folders that get a layer and so may be written; one that contains a mount gets none
	Empty   []string      `json:"empty"`   // files and folders that the command sees as empty
	Env     []string      `json:"env"`     // the names of the variables that the command gets
	Keep    []uintptr     `json:"keep"`    // the capabilities that the command keeps
	Time    time.Duration `json:"time"`    // when the command is ended, counted from the start of the helper
	Until   time.Duration `json:"until"`   // when the list must be complete, counted likewise
	Bytes   int64         `json:"bytes"`   // limit of the bytes written, and also of the memory used
	Listed  int           `json:"listed"`  // how many changes are listed; further ones are only counted
}

// Encode writes a Spec as one argument.
func (s *Spec) Encode() (string, error) {
	s.Format = Format
	text, err := json.Marshal(s)
	return string(text), err
}
