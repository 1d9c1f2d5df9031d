package pin

// Class is the kind of a change. A greater class weighs more. The zero value is an unknown class,
// and needs approval.
type Class uint8

// The classes.
const (
	_        Class = iota
	Shown          // title, icons, _meta, a warning hint, the version that a server claims
	Removed        // an entry is gone
	Narrowed       // fewer parameters, types or values, or a tighter bound; no new text
	Loosened       // a restricting hint is gone
	Text           // a text for a model changed: descriptions, defaults, instructions
	Started        // the server starts in another way
	Widened        // the entry takes or returns something new, or the change is unknown
	Added          // an entry is new
	Refused        // the entry has something that can never be approved: hidden characters, or a name that looks like another
)

// classWords are the classes' names in reports; asks marks the classes that need approval.
var (
	classWords = [...]string{"unknown", "shown", "removed", "narrowed", "loosened", "text", "started", "widened", "new", "refused"}
	asks       = [...]bool{0: true, Loosened: true, Text: true, Started: true, Widened: true, Added: true, Refused: true}
)

func (c Class) String() string { return classWords[c] }

// NeedsApproval reports whether a person must look before the change takes effect.
func (c Class) NeedsApproval() bool { return asks[c] }
