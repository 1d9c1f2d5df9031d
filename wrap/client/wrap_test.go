package client

import (
	"errors"
	"testing"
)

// rows of the shapes that occur, one for each engine and form.
var (
	rowJSON   = Row{Name: "json", Format: JSON, KeyPath: []string{"mcpServers"}, URLFields: []string{"url"}, TypeField: "type", StdioTypes: []string{"stdio", "local"}}
	rowJSONC  = Row{Name: "jsonc", Format: JSONC, KeyPath: []string{"mcpServers"}, URLFields: []string{"url"}, TypeField: "type", StdioTypes: []string{"stdio", "local"}}
	rowJSON5  = Row{Name: "json5", Format: JSON5, KeyPath: []string{"mcp", "servers"}, URLFields: []string{"url"}}
	rowLocal  = Row{Name: "local", Format: JSON, KeyPath: []string{"projects", "*", "mcpServers"}}
	rowAmp    = Row{Name: "amp", Format: JSONC, KeyPath: []string{"amp.mcpServers"}}
	rowArray  = Row{Name: "array", Format: JSONC, KeyPath: []string{"mcp"}, CommandForm: ArrayCommand, TypeField: "type", StdioTypes: []string{"local"}, URLFields: []string{"url"}, Ignore: []string{"servers"}}
	rowObject = Row{Name: "object", Format: JSONC, KeyPath: []string{"context_servers"}, CommandForm: ObjectCommand}
	rowNested = Row{Name: "nested", Format: JSON, KeyPath: []string{"mcpServers"}, Nested: "transport", TypeField: "type", StdioTypes: []string{"stdio"}, URLFields: []string{"url"}}
)

var clawai = Wrapper{Path: "/usr/local/bin/clawai"}

func entryOf(t *testing.T, r Row, src, name string) Entry {
	t.Helper()
	entries, err := Read(r, []byte(src))
	if err != nil {
		t.Fatalf("Read: %v\n%s", err, src)
	}
	for _, e := range entries {
		if e.Name == name {
			return e
		}
	}
	t.Fatalf("no server %q in %v", name, entries)
	return Entry{}
}

type pair struct {
	name          string
	row           Row
	server        string
	before, after string
}

var jsonPairs = []pair{
	{"args", rowJSON, "fs",
		`{"mcpServers": {"fs": {"command": "npx", "args": ["-y", "x"]}}}`,
		`{"mcpServers": {"fs": {"command": "/usr/local/bin/clawai", "args": ["proxy", "--server", "fs", "--", "npx", "-y", "x"]}}}`},
	{"no args", rowJSON, "fs",
		`{"mcpServers": {"fs": {"command": "npx", "env": {}}}}`,
		`{"mcpServers": {"fs": {"command": "/usr/local/bin/clawai","args":["proxy","--server","fs","--","npx"], "env": {}}}}`},
	{"empty args", rowJSON, "fs",
		`{"mcpServers": {"fs": {"args":[],"command":"npx"}}}`,
		`{"mcpServers": {"fs": {"args":["proxy", "--server", "fs", "--", "npx"],"command":"/usr/local/bin/clawai"}}}`},
	{"empty args right after the command", rowJSON, "fs",
		`{"mcpServers":{"fs":{"command":"npx","args":[]}}}`,
		`{"mcpServers":{"fs":{"command":"/usr/local/bin/clawai","args":["proxy", "--server", "fs", "--", "npx"]}}}`},
	{"comments, trailing commas, CRLF, BOM", rowJSONC, "f s",
		"\ufeff{ // top\r\n\t\"mcpServers\": {\r\n\t\t\"f s\": {\r\n\t\t\t\"command\": \"n\\u0070x\", // run\r\n\t\t\t\"args\": [ // list\r\n\t\t\t\t\"-y\",\r\n\t\t\t],\r\n\t\t},\r\n\t},\r\n}",
		"\ufeff{ // top\r\n\t\"mcpServers\": {\r\n\t\t\"f s\": {\r\n\t\t\t\"command\": \"/usr/local/bin/clawai\", // run\r\n\t\t\t\"args\": [\"proxy\", \"--server\", \"f s\", \"--\", \"n\\u0070x\",  // list\r\n\t\t\t\t\"-y\",\r\n\t\t\t],\r\n\t\t},\r\n\t},\r\n}"},
	{"a name to quote", rowJSON, "a\"\\\n\u00e9\U0001f600",
		`{"mcpServers": {"a\"\\\né😀": {"command": "x", "args": [""]}}}`,
		`{"mcpServers": {"a\"\\\né😀": {"command": "/usr/local/bin/clawai", "args": ["proxy", "--server", "a\"\\\u000aé😀", "--", "x", ""]}}}`},
	{"json5", rowJSON5, "fs",
		`{mcp: {servers: {fs: {command: 'np\x78', args: ['-y', +.5e3 && 0]}}}}`, ""},
	{"json5 strings", rowJSON5, "fs",
		`{mcp: {servers: {fs: {command: 'np\x78', args: ['-\
y',], n: +.5e3, h: 0xFF, i: -Infinity}}}}`,
		`{mcp: {servers: {fs: {command: "/usr/local/bin/clawai", args: ["proxy", "--server", "fs", "--", 'np\x78', '-\
y',], n: +.5e3, h: 0xFF, i: -Infinity}}}}`},
	{"every project", rowLocal, "fs",
		`{"projects": {"/a": {}, "/b": {"mcpServers": {"fs": {"command": "x"}}}}, "x": [1, {"mcpServers": 2}]}`,
		`{"projects": {"/a": {}, "/b": {"mcpServers": {"fs": {"command": "/usr/local/bin/clawai","args":["proxy","--server","fs","--","x"]}}}}, "x": [1, {"mcpServers": 2}]}`},
	{"a dotted key", rowAmp, "fs",
		`{"amp": {"mcpServers": {}}, "amp.mcpServers": {"fs": {"command": "x", "args": ["--", ""]}}}`,
		`{"amp": {"mcpServers": {}}, "amp.mcpServers": {"fs": {"command": "/usr/local/bin/clawai", "args": ["proxy", "--server", "fs", "--", "x", "--", ""]}}}`},
	{"a command that is a list", rowArray, "fs",
		`{"mcp": {"fs": {"type": "local", "command": [ "npx", "-y" ]}}}`,
		`{"mcp": {"fs": {"type": "local", "command": ["/usr/local/bin/clawai", "proxy", "--server", "fs", "--",  "npx", "-y" ]}}}`},
	{"a command that is an object", rowObject, "fs",
		`{"context_servers": {"fs": {"command": {"path": "npx", "args": ["-y"], "env": {}}}}}`,
		`{"context_servers": {"fs": {"command": {"path": "/usr/local/bin/clawai", "args": ["proxy", "--server", "fs", "--", "npx", "-y"], "env": {}}}}}`},
	{"a command that is an object, no args", rowObject, "fs",
		`{"context_servers": {"fs": {"command": {"path": "npx"}, "settings": {}}}}`,
		`{"context_servers": {"fs": {"command": {"path": "/usr/local/bin/clawai","args":["proxy","--server","fs","--","npx"]}, "settings": {}}}}`},
	{"an object row with a string", rowObject, "fs",
		`{"context_servers": {"fs": {"source": "custom", "command": "npx", "args": ["-y"]}}}`,
		`{"context_servers": {"fs": {"source": "custom", "command": "/usr/local/bin/clawai", "args": ["proxy", "--server", "fs", "--", "npx", "-y"]}}}`},
	{"nested transport", rowNested, "fs",
		`{"mcpServers": {"fs": {"transport": {"type": "stdio", "command": "npx", "args": ["-y"]}, "disabled": false}}}`,
		`{"mcpServers": {"fs": {"transport": {"type": "stdio", "command": "/usr/local/bin/clawai", "args": ["proxy", "--server", "fs", "--", "npx", "-y"]}, "disabled": false}}}`},
}

// check wraps and unwraps one pair: the text expected, and back to the byte.
func (p pair) check(t *testing.T) {
	e, err := Read(p.row, []byte(p.before))
	if p.after == "" {
		if err == nil {
			t.Fatalf("read without an error: %v", e)
		}
		return
	}
	entry := entryOf(t, p.row, p.before, p.server)
	after, err := Wrap(p.row, []byte(p.before), entry, clawai)
	if err != nil {
		t.Fatal(err)
	}
	if string(after) != p.after {
		t.Fatalf("wrapped\n%s\nwant\n%s", after, p.after)
	}
	again, err := Wrap(p.row, after, entry, clawai)
	if err != nil || string(again) != p.after {
		t.Fatalf("wrapped twice: %v\n%s", err, again)
	}
	wrapped := entryOf(t, p.row, p.after, p.server)
	if wrapped.Wrapped == nil || wrapped.Wrapped.Differs != nil || wrapped.Wrapped.Server != p.server || wrapped.Command != entry.Command {
		t.Fatalf("read back as %+v, wrapper %+v", wrapped, wrapped.Wrapped)
	}
	back, err := Unwrap(p.row, after, wrapped)
	if err != nil || string(back) != p.before {
		t.Fatalf("unwrapped: %v\n%s\nwant\n%s", err, back, p.before)
	}
}

func TestWrapJSON(t *testing.T) {
	for _, p := range jsonPairs {
		t.Run(p.name, p.check)
	}
}

func editError(t *testing.T, err error) *EditError {
	t.Helper()
	var e *EditError
	if !errors.As(err, &e) {
		t.Fatalf("error is %T %v, want *EditError", err, err)
	}
	return e
}
