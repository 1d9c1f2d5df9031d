package propose

import (
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/policy"
)

const home = "/home/me"

// look is a disk of some folders and files.
func look(path string) (there, folder bool) {
	folders := []string{"/", "/home", home, home + "/projects", home + "/projects/app", home + "/notes", home + "/.ssh", "/srv", "/srv/data"}
	files := []string{home + "/projects/db.sqlite", home + "/single.json", home + "/.ssh/id", "/srv/s.js"}
	return slices.Contains(folders, path) || slices.Contains(files, path), slices.Contains(folders, path)
}

func propose(t *testing.T, rules string, s Server) *Table {
	t.Helper()
	p, err := policy.Parse("policy.toml", []byte(rules), policy.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	s.Name, s.Home, s.Look = "files", home, look
	if s.Command == nil {
		s.Command = []string{"x"}
	}
	if s.Known, err = servers.RecogniseServer(s.Command[0], s.Command[1:], ""); err != nil {
		t.Fatal(err)
	}
	table := NewTable(p, s)
	// Whatever is proposed is a table that loads.
	if _, err := policy.Parse("policy.toml", []byte(rules+"\n"+table.Text()), policy.Options{Home: home}); err != nil {
		t.Fatalf("%v\n%s", err, table.Text())
	}
	return table
}

func rule(action, tool, more string) string {
	return "[[rule]]\naction = \"" + action + "\"\ntool = [\"" + strings.ReplaceAll(tool, " ", `", "`) + "\"]\n" + more + "\n"
}

// What the catalogue has to say to the owner stands in the table.
func TestNotes(t *testing.T) {
	s := Server{Command: []string{"npx", "-y", "@modelcontextprotocol/server-memory"}}
	if text := propose(t, rule("allow", "*", ""), s).Text(); !strings.Contains(text, "\n# Note: unless its client's entry sets MEMORY_FILE_PATH, it keeps its data in its program's folder") {
		t.Error(text)
	}
}

func TestProposals(t *testing.T) {
	const filesystem = "/x/node_modules/.bin/mcp-server-filesystem"
	any := rule("allow", "*", "")
	for _, c := range []struct {
		name, rules            string
		command                []string
		env                    []Variable
		read, write, net, left string
	}{
		{name: "nothing"},
		{name: "under, read", rules: rule("allow", "read_file", `where.path = { under = ["~/projects"] }`), read: "~/projects"},
		{name: "under, write", rules: rule("prompt", "write_file", `where.path = { under = ["~/projects"] }`), write: "~/projects"},
		{name: "both", rules: rule("allow", "read_file", `args.path = ["~/**"]`) + rule("prompt", "write_file", `args.path = "~/projects/app/**"`), read: "~", write: "~/projects/app"},
		{name: "inside", rules: rule("allow", "read_file", `args.path = ["~/projects/**", "~/projects/app/**", "~/notes/*.md"]`), read: "~/notes ~/projects"},
		{name: "covered", rules: rule("allow", "read_file", `args.path = ["~/projects/app/**"]`) + rule("allow", "write_file", `args.path = "~/projects/**"`), write: "~/projects"},
		{name: "denied", rules: rule("deny", "write_file", `args.path = "~/projects/**"`)},
		{name: "other server", rules: rule("allow", "write_file", "server = \"other\"\nargs.path = \"~/projects/**\"")},
		{name: "this server", rules: rule("allow", "write_file", "server = \"fi*\"\nargs.path = \"~/projects/**\""), write: "~/projects"},
		{name: "keys", rules: rule("allow", "read_file", `args.path = ["~/.ssh/*.pub"]`), left: "~/.ssh stays shut"},
		{name: "home to write", rules: rule("allow", "write_file", `args.path = ["~/**"]`), left: "is not a place that a table can name"},
		{name: "not there", rules: rule("allow", "read_file", `args.path = ["~/none/**"]`), left: "~/none is not there"},
		{name: "cwd", rules: rule("allow", "read_file", `where.path = { under = ["${cwd}"] }`), read: "${cwd}"},
		{name: "named folders", rules: "[folders]\np = [\"~/projects\"]\n" + rule("allow", "read_file", `args.path = "${p}/**"`), read: "~/projects"},
		{name: "any path", rules: any, left: "with any path"},
		{name: "hosts", rules: rule("allow", "fetch", `where.url = { host = ["api.example.com", "*.example.org"] }`), net: "*.example.org api.example.com", left: "with any path"},
		{name: "odd host", rules: rule("allow", "fetch", `where.url = { host = "a*.example.com" }`), left: "is not a host that a table can name"},
		{name: "argument, any path", rules: any, command: []string{filesystem, home + "/projects"}, write: "~/projects"},
		{name: "argument, only reading", rules: rule("allow", "read_text_file list_directory", ""), command: []string{filesystem, home + "/projects"}, read: "~/projects"},
		{name: "argument, cut", rules: rule("allow", "write_file", `args.path = "~/projects/app/**"`), command: []string{filesystem, home + "/projects"}, write: "~/projects/app"},
		{name: "argument, no rule", command: []string{filesystem, home + "/projects"}, left: "no rule lets the server be asked"},
		{name: "argument with a rule of another folder", rules: rule("allow", "write_file", `args.path = "~/notes/**"`), command: []string{filesystem, home + "/projects"}, write: "~/notes", left: "~/projects is its own argument, and no rule"},
		{name: "option", rules: any, command: []string{"x", "--root=" + home + "/notes", "/srv/s.js"}, write: "~/notes"},
		{name: "a file", rules: any, command: []string{"x", "--db", home + "/projects/db.sqlite"}, write: "~/projects"},
		{name: "a file in the home", rules: any, command: []string{"x", home + "/single.json"}, write: "~/single.json"},
		{name: "a file that is not there", rules: any, command: []string{"x", home + "/new.json"}, left: "~/new.json (its own argument) is not there"},
		{name: "a variable", rules: any, env: []Variable{{"STORE", "/srv/data/new.json"}}, write: "/srv/data"},
		{name: "a database", rules: any, command: []string{"x", "postgresql://me:secret@db.example.com/x"}, env: []Variable{{"API", "https://api.example.com:8443/v1"}}, net: "api.example.com:8443 db.example.com:5432", left: "with any path"},
		{name: "the catalogue", rules: rule("allow", "get_*", ""), command: []string{"npx", "-y", "@modelcontextprotocol/server-github"}, net: "api.github.com", left: "with any path"},
		{name: "tools by chance", rules: rule("allow", "get_*", `where.path = { under = ["~/projects"] }`), command: []string{"npx", "-y", "@modelcontextprotocol/server-github"}, net: "api.github.com"},
		{name: "tools by name", rules: rule("allow", "get_*", `where.path = { under = ["~/projects"] }`) + rule("allow", "get_commit", `where.path = { under = ["~/projects"] }`), command: []string{"npx", "-y", "@modelcontextprotocol/server-github"}, net: "api.github.com", read: "~/projects"},
		{name: "tools of another server", rules: rule("allow", "write_file", `args.path = "~/projects/**"`), command: []string{"npx", "-y", "@modelcontextprotocol/server-github"}, net: "api.github.com"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := propose(t, c.rules, Server{Command: c.command, Env: c.env})
			for i, list := range [][]Value{table.Read, table.Write, table.Net} {
				var texts []string
				for _, v := range list {
					texts = append(texts, v.Text)
					if len(v.Why) == 0 {
						t.Errorf("%s has no reason", v.Text)
					}
				}
				if got, want := strings.Join(texts, " "), []string{c.read, c.write, c.net}[i]; got != want {
					t.Errorf("list %d is %q, want %q\n%s", i, got, want, table.Text())
				}
			}
			if left := strings.Join(table.Left, "\n"); !strings.Contains(left, c.left) || (c.left == "") != (left == "") {
				t.Errorf("left %s", left)
			}
			if strings.Contains(table.Text(), "secret") {
				t.Errorf("%s", table.Text())
			}
		})
	}
}

func TestText(t *testing.T) {
	table := propose(t, rule("allow", "read_file", "where.path = { under = [\"~/projects\"] }")+rule("prompt", "write_file", `where.path = { under = ["~/projects/app"] }`),
		Server{Env: []Variable{{"TOKEN", "x"}}})
	const want = `[server.files.sandbox]
level = "enforce"
read = [
  "~/projects", # policy.toml:1 allows read_file
]
write = [
  "~/projects/app", # policy.toml:5 asks about write_file
]
net = [] # no rule, argument or catalogue row names a host
env = [
  "TOKEN", # its client's entry sets it
]
`
	if got := table.Text(); got != want {
		t.Errorf("%s", got)
	}
}

// FuzzTexts: no name, argument or glob makes a table that does not load, or that says more than a
// table of this server.
func FuzzTexts(f *testing.F) {
	f.Add("files", "/srv/data\n[x]", "~/a\"b/**", "*.a.org")
	f.Add("a b", "postgres://u@h:1/x", "~/..", "https://x/\u202e")
	f.Fuzz(func(t *testing.T, name, argument, path, host string) {
		empty := Table{Server: name}
		if p, err := policy.Parse("p.toml", []byte(empty.Text()), policy.Options{}); err != nil || p.CageTables()[0].Server != name {
			return // no table can be about such a server
		}
		o := &proposer{s: Server{Name: name, Command: []string{"x", argument}, Home: home, Look: look}, table: Table{Server: name}}
		o.anyChange = []string{argument}
		addValue(&o.opened, placeOf(path), path)
		o.addHost(host, host)
		o.addOwnPlaces()
		o.settlePlaces()
		text := o.table.Text()
		q, err := policy.Parse("p.toml", []byte(text), policy.Options{Home: home})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if tables := q.CageTables(); len(tables) != 1 || tables[0].Server != name || len(q.Rules()) != 0 {
			t.Errorf("%d tables\n%s", len(tables), text)
		}
	})
}
