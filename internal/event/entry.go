package event

import (
	"fmt"
	"slices"
	"strings"
)

// Entry is one record as read from the log. Its text may contain redaction markers
// (redact.IsRedacted).
type Entry struct {
	Event
	Seq     uint64
	Session string
	Digest  string // digest of the frame's bytes: sha256:HEX or hmac:HEX
	ArgsCut bool   // Args is incomplete
	File    string // name of the segment
	Line    int
	Raw     []byte // the line as stored, without LF
}

// IsObserved reports whether the session of a record enforced nothing, so that its decisions to
// allow are not the policy's.
func (e *Entry) IsObserved() bool { return e.Stage == "observe" }

// HookDetail begins the detail of a record whose call an agent asked its hook about.
const HookDetail = "hook "

// IsOfHook reports whether an agent asked its hook about the call. No reply to such a call is recorded.
func (e *Entry) IsOfHook() bool { return strings.HasPrefix(e.Detail, HookDetail) }

// UnenforcedDecision returns the decision of the policy in a session that enforced
// nothing: the decision of the rules, or deny when a limit was reached.
func (e *Entry) UnenforcedDecision() string {
	if e.IsObserved() && e.Code == "limit" {
		return "deny"
	}
	return e.Policy
}

// FoundKinds returns the kinds in Finds, each once.
func (e *Entry) FoundKinds() (kinds []string) {
	for _, line := range e.Finds {
		if kind, _, _ := strings.Cut(line, " "); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// Damage is a place in the record that differs from what its writer wrote. Reading
// continues after it; audit.Verify reports all damage.
type Damage struct {
	File string
	Line int
	What string
}

func (d *Damage) Error() string { return fmt.Sprintf("%s:%d: %s", d.File, d.Line, d.What) }
