// Package layer runs one command in namespaces of its own, where every write goes into layers over
// the real folders, and lists what the layers hold when the command has ended. It is what the
// program clawai-sandbox does for a preview. It knows no policy: internal/cage/preview has looked
// at the disk.
package layer

import (
	"encoding/json"
	"time"
)

// Word is the first argument by which the helper of cages runs a command for a preview.
const Word = "preview"

// Format is the number of this form of Spec. A helper of another version refuses it.
const Format = 1

// Spec is a preview as the helper runs it. Every path is absolute.
type Spec struct {
	Format  int           `json:"format"`
	Command []string      `json:"command"` // a program by its path, and its words
	Dir     string        `json:"dir"`
	Helper  []string      `json:"helper"`  // the words by which the helper builds a cage
	Folders []string      `json:"folders"` // what may be written, each by a layer over it; the first may be left out if it contains a mount
	Empty   []string      `json:"empty"`   // what is empty inside
	Env     []string      `json:"env"`     // the names of the variables that the command gets
	Keep    []uintptr     `json:"keep"`    // the capabilities that the command keeps
	Time    time.Duration `json:"time"`    // until when the command may run, from the start of the helper
	Until   time.Duration `json:"until"`   // until when the list must be made
	Bytes   int64         `json:"bytes"`   // how much it may write, and how much memory it may use
	Listed  int           `json:"listed"`  // how many changes are listed, beside their counts
}

// Encode writes a Spec as one argument.
func (s *Spec) Encode() (string, error) {
	s.Format = Format
	text, err := json.Marshal(s)
	return string(text), err
}
