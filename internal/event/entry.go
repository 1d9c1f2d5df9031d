package event

import (
	"fmt"
	"slices"
	"strings"
)

// Entry is one record as it was read. Text may hold markers (redact.IsRedacted).
type Entry struct {
	Event
	Seq     uint64
	Session string
	Digest  string // of the frame's bytes, as written: sha256:HEX or hmac:HEX
	ArgsCut bool   // Args lacks members
	File    string // name of the segment
	Line    int
	Raw     []byte // the line as stored, without LF
}

// UnenforcedDecision gives what the policy would have done in a session that enforced nothing:
// what the rules said, unless a limit was reached.
func (e *Entry) UnenforcedDecision() string {
	if e.Stage == "observe" && e.Code == "limit" {
		return "deny"
	}
	return e.Policy
}

// FoundKinds gives the kinds that Finds names, each once.
func (e *Entry) FoundKinds() (kinds []string) {
	for _, line := range e.Finds {
		if kind, _, _ := strings.Cut(line, " "); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// Damage is a place in the record that is not what its writer wrote. Reading
// goes on behind it; audit.Verify tells all there is.
type Damage struct {
	File string
	Line int
	What string
}

func (d *Damage) Error() string { return fmt.Sprintf("%s:%d: %s", d.File, d.Line, d.What) }
