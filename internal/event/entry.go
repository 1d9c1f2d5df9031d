package event

import (
	"fmt"
	"slices"
	"strings"
)

// Entry is one record as read from the log. Secrets in its texts may be replaced by redaction
// markers (redact.IsRedacted).
type Entry struct {
	Event
	Seq     uint64
	Session string
	Digest  string // digest of the frame's bytes: sha256:HEX or hmac:HEX
	ArgsCut bool   // Args is incomplete
	File    string // name of the segment
	Line    int
	Raw     []byte // the line as stored, without the line feed
}

// IsObserved reports whether the session of a record only observed. Such a session allows calls
// that the policy denies.
func (e *Entry) IsObserved() bool { return e.Stage == "observe" }

// HookDetail is the beginning of Detail in the record of a call about which an agent asked its hook.
const HookDetail = "hook "

// IsOfHook reports whether an agent asked its hook about the call. No reply to such a call is recorded.
func (e *Entry) IsOfHook() bool { return strings.HasPrefix(e.Detail, HookDetail) }

// UnenforcedDecision returns what the policy decided in a session that only observed: the decision
// of the rules, or deny when a call was over a limit.
func (e *Entry) UnenforcedDecision() string {
	if e.IsObserved() && e.Code == "limit" {
		return "deny"
	}
	return e.Policy
}

// FoundKinds returns the kinds in Finds without repeats.
func (e *Entry) FoundKinds() (kinds []string) {
	for _, line := range e.Finds {
		if kind, _, _ := strings.Cut(line, " "); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// Damage is a place in the record that differs from what its writer wrote. The reader continues
// after this place. audit.Verify reports all damage.
type Damage struct {
	File string
	Line int
	What string
}

func (d *Damage) Error() string { return fmt.Sprintf("%s:%d: %s", d.File, d.Line, d.What) }
