package policy

import "time"

// Facts are what is known of a call beside its message. Whoever makes calls fills them: the
// gate from its session, a fixture from its file, replay from the record. A tag names the member
// of a record that keeps the fact.
type Facts struct {
	// At is the time that rules with a when are asked about; zero when it is not known, and then
	// such a rule is a maybe. The record's own time says it.
	At time.Time `json:"-"`

	// Cwd is the folder at which relative paths start, absolute or below ~/: the one that the
	// server was started in. "" when it is not known; then an absolute glob allows no relative
	// path. URIs of resources start nowhere.
	Cwd string `json:"cwd"`

	// OS is Windows where the server is known to run there; then paths are compared as Windows
	// does. "" for all others: nothing is taken for granted of their system.
	OS string `json:"os"`

	// Elsewhere says that relative paths may start at other folders than Cwd: the server was
	// given some as arguments, or as the client's roots.
	Elsewhere bool `json:"elsewhere"`

	// Assurances are what the tool's server says to its good; zero where it was not listed.
	Assurances Assurances `json:"annotations"`

	// Seen is what the call's session has seen before it. No record keeps it: the records before
	// it say it.
	Seen Seen `json:"-"`
}
