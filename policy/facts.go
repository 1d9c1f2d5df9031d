package policy

import "time"

// Facts holds the facts about a call that are not in its message. The code that makes a call
// fills them: the gate from its session, a fixture from its file, replay from the record. A tag
// names the member of a record that keeps the fact.
type Facts struct {
	// At is the time that rules with a when are asked about; zero if it is not known, and then
	// such a rule is a maybe. In a record it is the record's own time.
	At time.Time `json:"-"`

	// Cwd is the folder at which relative paths start, absolute or below ~/: the folder that
	// the server was started in. It is "" if it is not known; then an absolute glob allows no
	// relative path. URIs of resources do not start at a folder.
	Cwd string `json:"cwd"`

	// OS is Windows if the server is known to run there; then paths are compared as Windows
	// does. It is "" for all other servers: nothing is assumed about their system.
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

// TextFact is a fact that is a plain text. Records and fixtures keep it in the member Name.
type TextFact struct {
	Name  string
	Field func(*Facts) *string
	Valid func(text string) bool // for fixtures; nil admits every text
	Form  string                 // what a text that is not valid should be: "is ..."
}

// textFacts has a row for each fact that is a plain text, in the order of the record.
var textFacts = []TextFact{
	{"cwd", func(f *Facts) *string { return &f.Cwd }, IsFolder, "is no folder: write an absolute path, or one below ~/"},
	{"os", func(f *Facts) *string { return &f.OS }, IsOS, `is "windows", "linux" or "darwin"`},
}

// TextFacts returns the facts that are plain texts.
func TextFacts() []TextFact { return textFacts }
