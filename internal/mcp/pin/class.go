package pin

// Class is what kind of change a change is. A greater one weighs more; the zero value is
// one that nobody has weighed, and is asked about.
type Class uint8

// The classes.
const (
	_        Class = iota
	Shown          // title, icons, _meta, a hint that warns, the version that a server claims
	Removed        // an entry is gone
	Narrowed       // a parameter, a type or a value less, a tighter bound; nothing new to read
	Loosened       // a hint that held it back is gone
	Text           // what a model reads says something else: descriptions, defaults, instructions
	Started        // the server is started in another way
	Widened        // it takes or gives something that it did not, or nobody knows what changed
	Added          // an entry is new
	Refused        // it holds what nobody needs to approve: hidden characters, a name like another
)

// words are their names in reports, asks those that somebody has to look at.
var (
	classWords = [...]string{"unknown", "shown", "removed", "narrowed", "loosened", "text", "started", "widened", "new", "refused"}
	asks       = [...]bool{0: true, Loosened: true, Text: true, Started: true, Widened: true, Added: true, Refused: true}
)

func (c Class) String() string { return classWords[c] }

// NeedsApproval reports whether somebody has to look before the change counts.
func (c Class) NeedsApproval() bool { return asks[c] }
