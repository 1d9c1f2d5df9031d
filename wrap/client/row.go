package client

import "cmp"

// Row describes one kind of client file: where it is and how servers stand in
// it. Everything the engines need to know of a client is data in a Row.
type Row struct {
	ID     string `toml:"id"`     // unique: "claude-code-local"
	Client string `toml:"client"` // the word --client takes: "claude-code"
	Name   string `toml:"name"`   // for people: "Claude Code"
	Scope  Scope  `toml:"scope"`
	Paths  Paths  `toml:"paths"`
	// Ancestors: the client looks for its project files in the project's
	// directory and in every directory above it.
	Ancestors bool     `toml:"ancestors"`
	ReadBy    []string `toml:"read_by"` // other clients that read the same file, by name

	Format Format `toml:"format"`
	BOMOK  bool   `toml:"bom_ok"` // the client reads a file that starts with a byte order mark

	// KeyPath leads from the root to the container of servers. Segments are
	// literal keys ("amp.mcpServers" is one); "*" walks every member. Empty: the
	// root itself is the container.
	KeyPath   []string  `toml:"key_path"`
	Container Container `toml:"container"`
	NameField string    `toml:"name_field"` // of an element, in a list or in tables
	// Ignore names members of the container that are no servers unless they
	// hold a command ("servers", where two forms of a file share a key).
	Ignore []string `toml:"ignore"`

	CommandForm CommandForm `toml:"command_form"`
	Command     string      `toml:"command"` // key of the command, "command" when empty
	Args        string      `toml:"args"`    // key of the arguments, "args" when empty
	Env         string      `toml:"env"`     // key of the environment, "env" when empty
	// Nested is a member that may hold command and args in the entry's stead
	// ("transport").
	Nested string `toml:"nested"`

	// URLFields are the keys that make an entry remote; TypeField is the key
	// that tells the transport. StdioTypes are its values for a local process;
	// when empty every value is accepted for an entry with a command.
	URLFields  []string `toml:"url_fields"`
	TypeField  string   `toml:"type_field"`
	StdioTypes []string `toml:"stdio_types"`

	// What a remote entry holds besides its url. EnvHeadersField maps headers to
	// names of variables, BearerField names the variable of a bearer token, and
	// PassEnvField lists the only variables that a process gets. RemoteKeeps are
	// members that say the same of a process, beside those that always do.
	HeadersField    string   `toml:"headers_field"`
	EnvHeadersField string   `toml:"env_headers_field"`
	BearerField     string   `toml:"bearer_field"`
	PassEnvField    string   `toml:"pass_env_field"`
	RemoteKeeps     []string `toml:"remote_keeps"`
	RemoteTypes     []string `toml:"remote_types"`
	ExclusiveFields []string `toml:"exclusive_fields"` // may not stand beside a url

	StrictKeys       bool     `toml:"strict_keys"`   // an unknown key in an entry breaks the file
	ExpandsArgs      bool     `toml:"expands_args"`  // variables are expanded in args as in the command
	EnvExpands       bool     `toml:"env_expands"`   // variables are expanded in the environment as in url and headers
	Interpolation    []string `toml:"interpolation"` // regular expressions of what the client expands
	FillsHeaders     []string `toml:"fills_headers"` // regular expressions of what it expands in headers alone
	SpaceInCommandOK bool     `toml:"space_in_command_ok"`
	// SandboxFields are members by which the client puts the process into a sandbox of its
	// own, in which the proxy cannot keep its record.
	SandboxFields []string `toml:"sandbox_fields"`
	// Retired names the client that took this one's place, and where it looks.
	Retired string `toml:"retired"`

	ReadOnly     bool     `toml:"read_only"`     // listed, never edited
	RewritesFile bool     `toml:"rewrites_file"` // the client prints the file anew at times
	Processes    []string `toml:"processes"`     // names; the file is edited only while none runs
	Lock         string   `toml:"lock"`          // "directory": the client takes FILE.lock
	Restart      string   `toml:"restart"`       // what a person does for the edit to take effect

	Confidence Confidence `toml:"confidence"`
	Source     string     `toml:"source"` // where the facts of the row come from
}

// Scope is for whom a file holds.
type Scope string

// The scopes.
const (
	User      Scope = "user"
	Local     Scope = "local" // one project's part of the user's file
	Project   Scope = "project"
	Profile   Scope = "profile"
	Workspace Scope = "workspace"
	Plugin    Scope = "plugin"
	Managed   Scope = "managed"
)

// Format is the language a file is written in.
type Format string

// The formats.
const (
	JSON  Format = "json"  // RFC 8259
	JSONC Format = "jsonc" // JSON with comments and trailing commas
	JSON5 Format = "json5"
	TOML  Format = "toml"
	YAML  Format = "yaml"
)

// Container is how the servers of a file are kept together.
type Container string

// The containers.
const (
	Map    Container = "map"    // members by name
	List   Container = "list"   // elements that hold their name
	Tables Container = "tables" // TOML's array of tables; elements as in a list
)

// CommandForm is how an entry says what to start.
type CommandForm string

// The forms of a command.
const (
	StringCommand CommandForm = "string" // command: a string, args: a list
	ArrayCommand  CommandForm = "array"  // command: a list that starts with the program
	ObjectCommand CommandForm = "object" // command: {path, args}; a string is read as well
)

// Confidence says how well a row is known.
type Confidence string

// The degrees of confidence.
const (
	First        Confidence = "first"        // from the vendor's source or documentation
	Experimental Confidence = "experimental" // not seen on a real install
)

func (r Row) commandKey() string { return cmp.Or(r.Command, "command") }
func (r Row) argsKey() string    { return cmp.Or(r.Args, "args") }
func (r Row) envKey() string     { return cmp.Or(r.Env, "env") }
func (r Row) typeKey() string    { return cmp.Or(r.TypeField, "type") }

// stdioType gives the word that makes an entry a process.
func (r Row) stdioType() string {
	if len(r.StdioTypes) > 0 {
		return r.StdioTypes[0]
	}
	return "stdio"
}
