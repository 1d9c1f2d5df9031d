package policy

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/text/builtin"
)

// A rule is about a built-in tool by its own name or by that of its class, and so about
// its arguments. No server's tool has a class.
func TestBuiltin(t *testing.T) {
	const (
		readHome = "[[rule]]\naction = \"allow\"\ntool = \"read\"\nargs.path = \"/home/u/**\"\n"
		ownPath  = "[[rule]]\naction = \"allow\"\ntool = \"Read\"\nargs.file_path = \"/home/u/**\"\n"
		noSecret = "[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.path = \"**/.ssh/**\"\n"
		lookHome = "[[rule]]\naction = \"allow\"\ntool = \"search\"\nargs.path = \"/home/u/**\"\n"
		all      = "[[rule]]\naction = \"allow\"\ntool = \"*\"\n"
	)
	read := func(path string) *Call {
		return &Call{Server: "claude-code", Method: builtin.Method, Subject: ToolSubject, Names: []string{"Read"}, Args: []byte(`{"file_path":"` + path + `"}`)}
	}
	with := func(c *Call, change func(*Call)) *Call { change(c); return c }
	for _, tt := range []struct {
		name, src string
		call      *Call
		want      Action
		line      int
	}{
		{"by the class", readHome, read("/home/u/a"), Allow, 1},
		{"by the tool's own names", ownPath, read("/home/u/a"), Allow, 1},
		{"elsewhere", readHome, read("/etc/passwd"), Deny, 0},
		{"elsewhere, by its own names", ownPath, read("/etc/passwd"), Deny, 0},
		{"a deny by the class's argument", noSecret + all, read("/home/u/.ssh/id"), Deny, 1},
		{"both names of the argument in rules", readHome + ownPath, read("/home/u/a"), Allow, 1},
		{"the later names it otherwise", noSecret + ownPath, read("/home/u/a"), Allow, 5},
		{"the first that matches by either name decides", "[[rule]]\naction = \"deny\"\ntool = \"Read\"\n" + readHome, read("/home/u/a"), Deny, 1},
		{"an exception by the class", "[[rule]]\naction = \"allow\"\ntool = \"*\"\nnot.tool = \"read\"\n", read("/home/u/a"), Deny, 0},
		{"no more than the class's argument", "[[rule]]\naction = \"allow\"\ntool = \"read\"\nargs.path = \"/home/u/**\"\nargs_only = true\n", read("/home/u/a"), Allow, 1},
		{"another argument beside it", readHome, with(read("/home/u/a"), func(c *Call) {
			c.Args = []byte(`{"file_path":"/home/u/a","other_file":"/etc/passwd"}`)
		}), Deny, 0},
		{"what is written is no place", "[[rule]]\naction = \"allow\"\ntool = \"write\"\nargs.path = \"/home/u/**\"\n", with(read(""), func(c *Call) {
			c.Server, c.Names = "codex", []string{"apply_patch"}
			c.Args = []byte(`{"path":["/home/u/a"],"input":"/etc/passwd"}`)
		}), Allow, 1},
		{"nor where another rule names it", "[[rule]]\naction = \"allow\"\ntool = \"write\"\nargs.path = \"/home/u/**\"\n" + "[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.command = \"x\"\n", with(read(""), func(c *Call) {
			c.Server, c.Names = "codex", []string{"apply_patch"}
			c.Args = []byte(`{"path":["/home/u/a"],"command":"*** Begin Patch"}`)
		}), Allow, 1},
		{"one of several places", "[[rule]]\naction = \"allow\"\ntool = \"write\"\nargs.path = \"/home/u/**\"\n", with(read(""), func(c *Call) {
			c.Server, c.Names = "codex", []string{"apply_patch"}
			c.Args = []byte(`{"path":["/home/u/a","/etc/passwd"],"input":"x"}`)
		}), Deny, 0},
		{"a name within an object is no argument's", readHome, with(read("/home/u/a"), func(c *Call) {
			c.Args = []byte(`{"x":{"file_path":"/home/u/a"}}`)
		}), Deny, 0},
		{"what the contract of a tool knows", lookHome, with(read(""), func(c *Call) {
			c.Names, c.Args = []string{"Grep"}, []byte(`{"path":"/home/u/a","pattern":"/x","type":"/etc/x","glob":"./a"}`)
		}), Allow, 1},
		{"and it alone", lookHome + "args_only = true\n", with(read(""), func(c *Call) {
			c.Names, c.Args = []string{"Grep"}, []byte(`{"path":"/home/u/a","type":"go"}`)
		}), Deny, 0},
		{"what its contract does not know", lookHome, with(read(""), func(c *Call) {
			c.Names, c.Args = []string{"Grep"}, []byte(`{"path":"/home/u/a","kind":"/etc/x"}`)
		}), Deny, 0},
		{"a place that was worked out", lookHome, with(read(""), func(c *Call) {
			c.Names, c.Args = []string{"Grep"}, []byte(`{"places":["/home/u/b","/etc/x"],"path":"/home/u/a"}`)
		}), Deny, 0},
		{"a place that was worked out, and denied", noSecret + all, with(read(""), func(c *Call) {
			c.Names, c.Args = []string{"Grep"}, []byte(`{"places":["/home/u/.ssh/x"],"path":"/home/u/a"}`)
		}), Deny, 1},
		{"what a search reaches", lookHome, with(read(""), func(c *Call) {
			c.Names, c.Args = []string{"Grep"}, []byte(`{"reach":["./*env"],"path":"/home/u/a"}`)
		}), Deny, 0},
		{"the same names of a tool without a contract", "[[rule]]\naction = \"allow\"\ntool = \"shell\"\nargs.command = \"ls\"\n", with(read(""), func(c *Call) {
			c.Names, c.Args = []string{"Bash"}, []byte(`{"places":["/etc/x"],"command":"ls"}`)
		}), Deny, 0},
		{"in another case", readHome, with(read("/home/u/a"), func(c *Call) { c.Args = []byte(`{"File_Path":"/home/u/a"}`) }), Deny, 0},
		{"a server's tool of that name", readHome, with(read("/home/u/a"), func(c *Call) { c.Method = "tools/call" }), Deny, 0},
		{"a server's tool called as the class", readHome, with(read("/home/u/a"), func(c *Call) {
			c.Method, c.Names, c.Args = "tools/call", []string{"read"}, []byte(`{"file_path":"/home/u/a"}`)
		}), Deny, 0},
		{"another client", readHome, with(read("/home/u/a"), func(c *Call) { c.Server = "files" }), Deny, 0},
		{"a tool that nobody knows", readHome, with(read("/home/u/a"), func(c *Call) { c.Names = []string{"Telepathy"} }), Deny, 0},
		{"which is judged by its own name", "[[rule]]\naction = \"allow\"\ntool = \"Telepathy\"\n", with(read("/home/u/a"), func(c *Call) { c.Names = []string{"Telepathy"} }), Allow, 1},
		{"below the folder of the call", readHome, with(read("a"), func(c *Call) { c.Cwd = "/home/u/p" }), Allow, 1},
		{"and above it", readHome, with(read("../../../etc/passwd"), func(c *Call) { c.Cwd = "/home/u/p" }), Deny, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Parse("p", []byte(tt.src), Options{})
			if err != nil {
				t.Fatal(err)
			}
			d := p.Decide(tt.call)
			line := 0
			if d.Rule != nil {
				line = d.Rule.Pos.Line
			}
			if d.Action != tt.want || line != tt.line {
				t.Errorf("%v by line %d (%s), want %v by %d", d.Action, line, d.Reason, tt.want, tt.line)
			}
			if traced := p.Trace(tt.call); traced.Decision.Action != d.Action {
				t.Errorf("the trace says %v", traced.Decision.Action)
			}
		})
	}
}

func TestBuiltinTrace(t *testing.T) {
	p, err := Parse("p", []byte("[[rule]]\naction = \"allow\"\ntool = \"fetch\"\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	trace := p.Trace(&Call{Server: "claude-code", Method: builtin.Method, Subject: ToolSubject, Names: []string{"Read"}})
	if got := trace.Steps[0].At.Got; got != "Read (read)" {
		t.Errorf("%q", got)
	}
	trace = p.Trace(&Call{Server: "claude-code", Method: "tools/call", Subject: ToolSubject, Names: []string{"Read"}})
	if got := trace.Steps[0].At.Got; got != "Read" {
		t.Errorf("%q", got)
	}
}

// What programs take their input from a person for is a maybe to patterns that do not
// spell the whole of the command: what is typed into them later is not judged.
func TestInteractivePrograms(t *testing.T) {
	for _, program := range []string{"bash", "sh", "zsh", "python3", "node", "psql", "sqlite3 db", "mysql", "ssh host", "irb", "vim", "sudo -s"} {
		name, _, _ := strings.Cut(program, " ")
		p, err := Parse("p", []byte("[[rule]]\naction = \"allow\"\ntool = \"shell\"\nwhere.command = { command = [\""+name+" **\"] }\n"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := Call{Server: "codex", Method: builtin.Method, Subject: ToolSubject, Names: []string{"Bash"}, Args: []byte(`{"command":"` + program + `"}`)}
		if d := p.Decide(&c); d.Action != Deny {
			t.Errorf("%s: %v", program, d.Action)
		}
	}
}
