package client

import "cmp"

// Row describes one kind of client file: its places and the form of its servers. It is all that this
// package needs to know about a client.
type Row struct {
	ID     string `toml:"id"`     // unique: "claude-code-local"
	Client string `toml:"client"` // value of --client: "claude-code"
	Name   string `toml:"name"`   // name for people: "Claude Code"
	Scope  Scope  `toml:"scope"`
	Paths  Paths  `toml:"paths"`
	// Ancestors means that the client looks for its project files in the project's directory
	// and in every directory above it.
	Ancestors bool     `toml:"ancestors"`
	ReadBy    []string `toml:"read_by"` // other clients that read the same file, by name

	Format Format `toml:"format"`
	BOMOK  bool   `toml:"bom_ok"` // the client reads a file that starts with a byte order mark

	// KeyPath holds the keys from the root to the container of servers. A key is literal:
	// "amp.mcpServers" is one key. "*" stands for every member. An empty path means that the root is
	// the container.
	KeyPath   []string  `toml:"key_path"`
	Container Container `toml:"container"`
	NameField string    `toml:"name_field"` // key of the name in an element, in a list or in tables
	// Ignore lists members of the container that are servers only if they have a command (such as
	// "servers", if two forms of the file use the same container).
	Ignore []string `toml:"ignore"`

	CommandForm CommandForm `toml:"command_form"`
	Command     string      `toml:"command"` // key of the command, "command" when empty
	Args        string      `toml:"args"`    // key of the arguments, "args" when empty
	Env         string      `toml:"env"`     // key of the environment, "env" when empty
	// Nested is a member of an entry that may contain command and args ("transport"); "" for none.
	Nested string `toml:"nested"`

	// URLFields are the keys of the url: an entry with one of them is remote. TypeField is the key of
	// the transport. StdioTypes are the values of TypeField for a local process. When StdioTypes is
	// empty, a process may have any value.
	URLFields  []string `toml:"url_fields"`
	TypeField  string   `toml:"type_field"`
	StdioTypes []string `toml:"stdio_types"`

	// Keys of further members. HeadersField maps headers to values, EnvHeadersField maps headers to
	// names of variables, and BearerField has the name of the variable with a bearer token.
	// PassEnvField lists the only variables that the client passes to a process. RemoteKeeps are
	// members, besides shared, that mean the same for a process as for a remote server.
	HeadersField    string   `toml:"headers_field"`
	EnvHeadersField string   `toml:"env_headers_field"`
	BearerField     string   `toml:"bearer_field"`
	PassEnvField    string   `toml:"pass_env_field"`
	RemoteKeeps     []string `toml:"remote_keeps"`
	RemoteTypes     []string `toml:"remote_types"`
	ExclusiveFields []string `toml:"exclusive_fields"` // members that an entry with a url must not have

	StrictKeys       bool     `toml:"strict_keys"`   // the client rejects a file with an unknown key in an entry
	ExpandsArgs      bool     `toml:"expands_args"`  // the client expands variables in args as in the command
	EnvExpands       bool     `toml:"env_expands"`   // the client expands variables in the environment as in url and headers
	Interpolation    []string `toml:"interpolation"` // regular expressions for the texts that the client expands
	FillsHeaders     []string `toml:"fills_headers"` // regular expressions for the texts that the client expands only in headers
	SpaceInCommandOK bool     `toml:"space_in_command_ok"`
	// SandboxField is the member with which the client starts the process in a sandbox of its own.
	// SandboxRules is the member with the rules of the sandbox, of an entry or beside the container.
	SandboxField string `toml:"sandbox_field"`
	SandboxRules string `toml:"sandbox_rules"`
	// Retired names the client that replaced this one, and the places of its files; "" when there is
	// none.
	Retired string `toml:"retired"`

	ReadOnly  bool     `toml:"read_only"` // the file is listed, but never edited
	Processes []string `toml:"processes"` // program names; the file is edited only while none of them runs
	Lock      string   `toml:"lock"`      // "directory": the client locks with FILE.lock
	Restart   string   `toml:"restart"`   // what a person must do for the edit to take effect
	// Writers are the names of the programs that sometimes write the complete file from memory: the
	// client's own, and those that run it. None: the client does not do this.
	Writers []string `toml:"writers"`

	Confidence Confidence `toml:"confidence"`
	Source     string     `toml:"source"` // source of the facts in the row
}

// Scope is the user or the folder that a file applies to.
type Scope string

// The scopes.
const (
	User      Scope = "user"
	Local     Scope = "local" // the part of the user's file for one project
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

// Container is the form of a file's container of servers.
type Container string

// The containers.
const (
	Map    Container = "map"    // an object with a member for each server, by name
	List   Container = "list"   // a list of elements that contain their name
	Tables Container = "tables" // TOML's array of tables, with elements as in a list
)

// CommandForm is the form of an entry's command.
type CommandForm string

// The forms of a command.
const (
	StringCommand CommandForm = "string" // command: a string, args: a list
	ArrayCommand  CommandForm = "array"  // command: a list that starts with the program
	ObjectCommand CommandForm = "object" // command: {path, args}; a string is read as well
)

// Confidence is how reliable a row is.
type Confidence string

// The levels of confidence.
const (
	First        Confidence = "first"        // from the vendor's source or documentation
	Experimental Confidence = "experimental" // not seen on a real installation
)

func (r Row) commandKey() string { return cmp.Or(r.Command, "command") }
func (r Row) argsKey() string    { return cmp.Or(r.Args, "args") }
func (r Row) envKey() string     { return cmp.Or(r.Env, "env") }
func (r Row) typeKey() string    { return cmp.Or(r.TypeField, "type") }

// stdioType returns the value of the type that Wrap writes for a process.
func (r Row) stdioType() string {
	if len(r.StdioTypes) > 0 {
		return r.StdioTypes[0]
	}
	return "stdio"
}
