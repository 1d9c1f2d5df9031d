// Package layer runs one command in its own namespaces, where every write goes into layers over the
// real folders. When the command has ended, the package lists the changes in the layers. The
// program clawai-sandbox uses this package for previews. internal/cage/preview examines the disk
// and chooses the folders, so this package needs no policy.
package layer

import (
	"encoding/json"
	"time"
)

// Word is the first argument of the helper program for a preview.
const Word = "preview"

// Format is the version of the form of Spec. A helper refuses a Spec with another Format.
const Format = 1

// Spec describes a preview for the helper. Every path is absolute.
type Spec struct {
	Format  int           `json:"format"`
	Command []string      `json:"command"` // path and arguments of the program
	Dir     string        `json:"dir"`
	Helper  []string      `json:"helper"`  // the arguments that make the helper program build a cage
	Folders []string      `json:"folders"` // folders that get a layer, so the command may write in them; a folder that contains a mount gets no layer
	Empty   []string      `json:"empty"`   // files and folders that the command sees as empty
	Env     []string      `json:"env"`     // the names of the variables that the command gets
	Keep    []uintptr     `json:"keep"`    // the capabilities that the command keeps
	Time    time.Duration `json:"time"`    // time after which the command is ended, counted from the start of the helper
	Until   time.Duration `json:"until"`   // time after which the list must be complete, counted from the start of the helper
	Bytes   int64         `json:"bytes"`   // limit of the bytes written, and also of the memory used
	Listed  int           `json:"listed"`  // largest number of listed changes; further changes are only counted
}

// Encode writes a Spec as one argument.
func (s *Spec) Encode() (string, error) {
	s.Format = Format
	text, err := json.Marshal(s)
	return string(text), err
}
