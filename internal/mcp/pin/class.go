package pin

// Class is the kind of a change. A greater class is more serious. The zero value is an unknown
// class, which needs approval.
type Class uint8

// The classes.
const (
	_        Class = iota
	Shown          // a change of texts and pictures in lists: title, icons, _meta, a warning hint, the server's version
	Removed        // an entry is missing now
	Narrowed       // fewer parameters, types or values, or a tighter bound, and no new text
	Loosened       // a restricting hint is missing now
	Text           // a text for a model changed: descriptions, defaults, instructions
	Started        // the command or address that starts the server has changed
	Widened        // the entry takes or returns something new, or the effect of the change is unknown
	Added          // an entry is new
	Refused        // the entry has something that is never approved: hidden characters, or a name that looks like another
)

// classWords are the words for classes in reports. asks tells which classes need approval.
var (
	classWords = [...]string{"unknown", "shown", "removed", "narrowed", "loosened", "text", "started", "widened", "new", "refused"}
	asks       = [...]bool{0: true, Loosened: true, Text: true, Started: true, Widened: true, Added: true, Refused: true}
)

func (c Class) String() string { return classWords[c] }

// NeedsApproval reports whether a person must approve the change before it takes effect.
func (c Class) NeedsApproval() bool { return asks[c] }
