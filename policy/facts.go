package policy

import "time"

// Facts holds the facts about a call that are not in its message. The code that makes a call
// fills them: the gate from its session, a fixture from its file, replay from the record. A
// JSON tag is the name under which a record keeps the fact.
type Facts struct {
	// At is the time of the call, for rules with the key "when". It is zero if the time is not
	// known; then such a rule matches at most with Maybe. For a recorded call At is the time of the
	// record.
	At time.Time `json:"-"`

	// Cwd is the folder at which relative paths start: the folder in which the server was started,
	// absolute or below ~/. Cwd is "" if the folder is not known; then an absolute glob allows no
	// relative path. URIs of resources do not start at a folder.
	Cwd string `json:"cwd"`

	// OS is Windows if the server is known to run on Windows; the policy then compares paths as
	// Windows does. With any other value the policy assumes nothing about the server's system.
	OS string `json:"os"`

	// Elsewhere means that relative paths may start at other folders than Cwd: the server got
	// folders as arguments, or as the client's roots.
	Elsewhere bool `json:"elsewhere"`

	// Assurances are the server's assurances about the tool; zero if the tool was not listed.
	Assurances Assurances `json:"annotations"`

	// Who holds two names of the person or the machine that makes the call: one for people to read,
	// and one that is unique. Roles and Groups are the caller's roles and groups; either set can be
	// known and empty. Env is the environment in which the machine works; "" if it is not known.
	// Agent is the client that makes the call; "" if it is not certain, because a client's own
	// statement is not a fact.
	Who    NameSet `json:"who"`
	Roles  NameSet `json:"roles"`
	Groups NameSet `json:"groups"`
	Env    string  `json:"env"`
	Agent  string  `json:"agent"`

	// Seen holds what the call's session has seen before the call. No record keeps Seen: the
	// earlier records of the session tell the same.
	Seen Seen `json:"-"`
}

// WithIdentity returns a copy of f in which the fields Who, Roles, Groups and Env come from the
// other Facts.
func (f *Facts) WithIdentity(other *Facts) Facts {
	all := *f
	all.Who, all.Roles, all.Groups, all.Env = other.Who, other.Roles, other.Groups, other.Env
	return all
}

// DescribeIdentity returns the known facts about the caller, and about the caller's environment and
// agent, as words for people: "by ana@team.example", "with role oncall". A set that is known and
// empty has words, too.
func (f *Facts) DescribeIdentity() (words []string) {
	set := func(before string, n NameSet) {
		if text := describeNames(n); text != "" {
			words = append(words, before+" "+text)
		}
	}
	text := func(before, s string) {
		if s != "" {
			words = append(words, before+" "+s)
		}
	}
	set("by", f.Who)
	set("with role", f.Roles)
	set("with group", f.Groups)
	text("in environment", f.Env)
	text("from agent", f.Agent)
	return words
}

// TextFact is a fact that is a plain text. Records and fixtures keep it in the member Name.
type TextFact struct {
	Name  string
	Field func(*Facts) *string
	Valid func(text string) bool // whether a text in a fixture is valid; nil accepts every text
	Form  string                 // the end of the error message for a text that is not valid: "is not a folder: ..."
}

// textFacts has a row for each fact that is a plain text, in the order of the record.
var textFacts = []TextFact{
	{"cwd", func(f *Facts) *string { return &f.Cwd }, IsFolder, "is not a folder: write an absolute path, or one below ~/"},
	{"os", func(f *Facts) *string { return &f.OS }, IsOS, `is "windows", "linux" or "darwin"`},
	{"env", func(f *Facts) *string { return &f.Env }, IsIdentityName, noName},
	{"agent", func(f *Facts) *string { return &f.Agent }, IsIdentityName, noName},
}

// TextFacts returns the facts that are plain texts.
func TextFacts() []TextFact { return textFacts }

const noName = "is not a name: 1 to 200 characters that people can see"
