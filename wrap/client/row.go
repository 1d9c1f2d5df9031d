package client

import "cmp"

// Row describes one kind of file of a client: its places and the form of its servers. This package
// has no other knowledge about the client.
type Row struct {
	ID     string `toml:"id"`     // unique: "claude-code-local"
	Client string `toml:"client"` // the client's word for --client: "claude-code"
	Name   string `toml:"name"`   // name for people: "Claude Code"
	Scope  Scope  `toml:"scope"`
	Paths  Paths  `toml:"paths"`
	// Ancestors means that the client looks for project files in the project's directory and in all
	// directories above it.
	Ancestors bool     `toml:"ancestors"`
	ReadBy    []string `toml:"read_by"` // names of other clients that read the same file

	Format Format `toml:"format"`
	BOMOK  bool   `toml:"bom_ok"` // the client accepts a byte order mark at the start of the file

	// KeyPath holds the keys from the root of the file to the container of servers. A key is
	// literal: "amp.mcpServers" is one key. "*" stands for every member. If KeyPath is empty, the
	// root is the container.
	KeyPath   []string  `toml:"key_path"`
	Container Container `toml:"container"`
	NameField string    `toml:"name_field"` // key of the server's name in an element; used if Container is List or Tables
	// Ignore lists members of the container that count as servers only if they have a command. An
	// example is "servers", if the client has two forms of the file.
	Ignore []string `toml:"ignore"`

	CommandForm CommandForm `toml:"command_form"`
	Command     string      `toml:"command"` // key of the command; "" means "command"
	Args        string      `toml:"args"`    // key of the arguments; "" means "args"
	Env         string      `toml:"env"`     // key of the environment; "" means "env"
	// Nested is a member of an entry in which the command and args can be, such as "transport"; ""
	// for none.
	Nested string `toml:"nested"`

	// URLFields are the keys of the url; an entry with one of them is remote. TypeField is the key
	// of the transport. StdioTypes are the values of TypeField for a local process. If StdioTypes
	// is empty, a process can have any value there.
	URLFields  []string `toml:"url_fields"`
	TypeField  string   `toml:"type_field"`
	StdioTypes []string `toml:"stdio_types"`

	// Keys of other members of an entry. HeadersField has headers with their values.
	// EnvHeadersField has headers with names of variables. BearerField has the name of the variable
	// that holds the bearer token. PassEnvField lists the variables that the client passes to a
	// process; it passes no others. RemoteKeeps are members, besides shared, that mean the same for
	// a process and for a remote server.
	HeadersField    string   `toml:"headers_field"`
	EnvHeadersField string   `toml:"env_headers_field"`
	BearerField     string   `toml:"bearer_field"`
	PassEnvField    string   `toml:"pass_env_field"`
	RemoteKeeps     []string `toml:"remote_keeps"`
	RemoteTypes     []string `toml:"remote_types"`
	ExclusiveFields []string `toml:"exclusive_fields"` // members that are not allowed in an entry with a url

	StrictKeys       bool     `toml:"strict_keys"`   // the client rejects a file if an entry has an unknown key
	ExpandsArgs      bool     `toml:"expands_args"`  // the client expands variables in args too
	EnvExpands       bool     `toml:"env_expands"`   // the client expands variables in the environment too
	Interpolation    []string `toml:"interpolation"` // regular expressions for text that the client expands
	FillsHeaders     []string `toml:"fills_headers"` // regular expressions for text that the client expands in headers only
	SpaceInCommandOK bool     `toml:"space_in_command_ok"`
	// SandboxField is the member with which the client starts the process in its own sandbox.
	// SandboxRules is the member with the rules of the sandbox; it is in the entry or beside the
	// container.
	SandboxField string `toml:"sandbox_field"`
	SandboxRules string `toml:"sandbox_rules"`
	// Retired names the client that has replaced this one, and where its files are; "" if this
	// client is still in use.
	Retired string `toml:"retired"`

	ReadOnly  bool     `toml:"read_only"` // the file is shown but never edited
	Processes []string `toml:"processes"` // names of programs; the file is edited only if none of them runs
	Lock      string   `toml:"lock"`      // "directory": the client locks with a directory FILE.lock; "" for no lock
	Restart   string   `toml:"restart"`   // what a person must do before the edit has an effect
	// Writers are names of programs that can write the complete file from memory: the client's own
	// programs, and programs that run the client. The list is empty if no program does so.
	Writers []string `toml:"writers"`

	Confidence Confidence `toml:"confidence"`
	Source     string     `toml:"source"` // where the facts in the row come from
}

// Scope tells for whom or where a file is valid: for the user, or in a folder.
type Scope string

// Values of Scope.
const (
	User      Scope = "user"
	Local     Scope = "local" // the part of the user's file that is for one project
	Project   Scope = "project"
	Profile   Scope = "profile"
	Workspace Scope = "workspace"
	Plugin    Scope = "plugin"
	Managed   Scope = "managed"
)

// Format is the format of a file.
type Format string

// Values of Format.
const (
	JSON  Format = "json"  // RFC 8259
	JSONC Format = "jsonc" // JSON with comments and trailing commas
	JSON5 Format = "json5"
	TOML  Format = "toml"
	YAML  Format = "yaml"
)

// Container is the form of the container of servers.
type Container string

// Values of Container.
const (
	Map    Container = "map"    // an object with a member for each server, by name
	List   Container = "list"   // a list of elements that contain their name
	Tables Container = "tables" // TOML's array of tables; each table has its name, as in a list
)

// CommandForm is the form of the command in an entry.
type CommandForm string

// Values of CommandForm.
const (
	StringCommand CommandForm = "string" // command is a string, args is a list
	ArrayCommand  CommandForm = "array"  // command is a list that begins with the program
	ObjectCommand CommandForm = "object" // command is an object {path, args}; a string is also accepted
)

// Confidence tells how reliable the facts in a row are.
type Confidence string

// Values of Confidence.
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
