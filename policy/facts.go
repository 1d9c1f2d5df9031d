package policy

import "time"

// Facts holds the facts about a call that are not in its message. The code that makes a call
// fills them: the gate from its session, a fixture from its file, replay from the record. A
// JSON tag is the name under which a record keeps the fact.
type Facts struct {
	// At is the time of the call, for rules with a when; zero if it is not known, and then such a
	// rule is a maybe. For a recorded call it is the time of the record.
	At time.Time `json:"-"`

	// Cwd is the folder at which relative paths start, absolute or below ~/: the folder that
	// the server was started in. It is "" if it is not known; then an absolute glob allows no
	// relative path. URIs of resources do not start at a folder.
	Cwd string `json:"cwd"`

	// OS is Windows if the server is known to run on Windows; then paths are compared as Windows
	// does. With any other value nothing is assumed about the server's system.
	OS string `json:"os"`

	// Elsewhere means that relative paths may start at other folders than Cwd: the server got
	// folders as arguments, or as the client's roots.
	Elsewhere bool `json:"elsewhere"`

	// Assurances are the server's assurances about the tool; zero if the tool was not listed.
	Assurances Assurances `json:"annotations"`

	// Seen holds what the call's session has seen before the call. No record keeps Seen: it
	// follows from the earlier records.
	Seen Seen `json:"-"`
}
