package policy

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/policy/where/disk"
)

// folderHome is the home folder of these tests.
const folderHome = "/home/user"

func parseFolders(src string) (*Policy, error) {
	return Parse("p.toml", []byte(src), Options{Home: folderHome, Disk: disk.PlainDisk()})
}

// withFolders returns a policy with one rule about a list of folders.
func withFolders(list, lines string) string {
	return "[folders]\nprojects = " + list + "\n\n[[rule]]\naction = \"allow\"\ntool = \"t\"\n" + lines + "\n"
}

func TestFoldersAreRefused(t *testing.T) {
	rule := "\n[[rule]]\naction = 'deny'\ntool = 't'\n"
	glob := `args.path = "${projects}/**"`
	for _, c := range []struct{ name, src, want string }{
		{"no list", "[folders]\nprojects = '~/x'", `2:1: projects must be a list of folders, not a string (write [folders], and below it projects = ["~/projects"])`},
		{"a number", "[folders]\nprojects = [1]", `2:13: projects must be a list of folders, not of a number`},
		{"a list in a list", "[folders]\nprojects = [['~/x']]", `2:1: projects must be a list of folders, not of a list`},
		{"a table", "[folders]\nprojects.x = ['~/x']", `2:1: projects must be a list of folders, not a table`},
		{"cwd", "[folders]\ncwd = ['~/x']", `2:1: cwd is the folder in which a server was started (take another name)`},
		{"a capital letter", "[folders]\nProjects = ['~/x']", `2:1: "Projects" is not a name of folders (a name has small letters, digits and _)`},
		{"no name", "[folders]\n'' = ['~/x']", `2:1: "" is not a name of folders`},
		{"twice", "[folders]\na = ['~/x']\na = ['~/y']", `3:1: a is given twice (one list holds all folders of a name)`},
		{"a relative folder", "[folders]\na = ['x/y']", `2:6: "x/y" does not say where it begins (write a whole path, or one below ~/)`},
		{"a folder of another user", "[folders]\na = ['~ana/y']", `2:6: "~ana/y" does not say where it begins`},
		{"a variable", "[folders]\na = ['$HOME/y']", `2:6: "$HOME/y" does not say where it begins`},
		{"a URI", "[folders]\na = ['file:///y']", `2:6: "file:///y" does not say where it begins`},
		{"a folder of a drive's own folder", "[folders]\na = ['C:y']", `2:6: "C:y" does not say where it begins`},
		{"a root without a drive", "[folders]\na = ['\\y']", `2:6: "\\y" does not say where it begins`},
		{"nothing", "[folders]\na = ['']", `2:6: "" does not say where it begins`},
		{"a glob", "[folders]\na = ['~/*']", `2:6: "~/*" has a wildcard (name folders here, and write wildcards in the rules: ${projects}/**)`},
		{"going up", "[folders]\na = ['~/x/../y']", `2:6: "~/x/../y" is not a plain path (write it without "//", "." and "..")`},
		{"a dot", "[folders]\na = ['/x/./y']", `2:6: "/x/./y" is not a plain path`},
		{"two slashes", "[folders]\na = ['/x//y']", `2:6: "/x//y" is not a plain path`},
		{"a root", "[folders]\na = ['/']", `2:6: "/" is a whole disk (name a folder on it)`},
		{"a drive", "[folders]\na = ['C:\\']", `2:6: "C:\\" is a whole disk`},
		{"a share's host", "[folders]\na = ['\\\\host']", `2:6: "\\\\host" is a whole disk`},
		{"a name in a list", "[folders]\na = ['~/x']\nb = ['${a}/y']", `3:6: "${a}/y" holds the name of a list`},
		{"a list that is not there", "[folders]\na = ['${b}']", `2:6: "${b}" names no list above it (a list may hold the folders of another one: write that one first)`},
		{"a list below", "[folders]\na = ['${b}']\nb = ['~/x']", `2:6: "${b}" names no list above it`},
		{"a list in itself", "[folders]\na = ['~/x', '${a}']", `2:13: "${a}" names no list above it`},
		{"too many folders of lists", "[folders]\na = [" + strings.Repeat("'/x',", 40) + "]\nb = ['${a}', '${a}']", `3:1: b has more than 64 folders`},
		{"a folder that is too long", "[folders]\na = ['/" + strings.Repeat("x", maxFolderBytes) + "']", `is too long`},
		{"too many folders", "[folders]\na = [" + strings.Repeat("'/x',", maxFolders+1) + "]", `2:1: a has more than 64 folders`},
		{"too many names", "[folders]\n" + manyNames(), `66:1: more than 64 names`},
		{"a list of tables", "[[folders]]\na = ['~/x']", `1:1: [[folders]] must be [folders]`},
		{"a table in it", "[folders.a]\nb = ['~/x']", `1:1: a table in [folders]`},
		{"two tables", "[folders]\na = ['~/x']\n[folders]\nb = ['~/x']", `3:1: the table is given twice (one table holds all names)`},
		{"below a rule", "[[rule]]\naction = 'deny'\ntool = '*'\n[folders]\na = ['~/x']", `4:1: [folders] below a rule (put it above the first [[rule]], so that a reader knows the names)`},
		{"a pair", "folders = { a = ['~/x'] }", `1:1: folders is a table (write [folders], and below it projects = ["~/projects"])`},
		{"a misspelt table", "[folder]\na = ['~/x']", `1:1: unknown table "folder" (did you mean "folders"?)`},

		{"an unknown name", strings.TrimLeft(rule, "\n") + glob, `4:13: no list of [folders] is called "projects" (write [folders] above the rules, and below it projects = ["~/projects"])`},
		{"a misspelt name", "[folders]\nproject = ['~/x']" + rule + glob, `6:13: no list of [folders] is called "projects" (did you mean "project"?)`},
		{"an unknown name of an exception", strings.TrimLeft(rule, "\n") + `not.args.path = ["/x", "${a}"]`, `4:1: no list of [folders] is called "a"`},
		{"an unknown name below under", strings.TrimLeft(rule, "\n") + `where.path.under = ["${a}"]`, `4:1: no list of [folders] is called "a"`},
		{"an unknown name among places", strings.TrimLeft(rule, "\n") + `where.c.command = { run = "cat **", paths = ["!${a}/x", "./**"] }`, `no list of [folders] is called "a"`},
		{"an unknown name of a resource", "[[rule]]\naction = 'deny'\nresource = '${a}/**'", `3:12: no list of [folders] is called "a"`},
		{"an unknown name of a folder", strings.TrimLeft(rule, "\n") + "cwd = '${a}'", `4:7: no list of [folders] is called "a"`},
		{"an empty list in an allow", withFolders("[]", glob), `7:13: the list "projects" of [folders] is empty (give it a folder, or remove the rules that name it)`},
		{"an empty list in a deny", "[folders]\nprojects = []" + rule + glob, `6:13: the list "projects" of [folders] is empty`},
		{"a name with a tail", withFolders("['~/x']", `args.path = "${projects}-evil/**"`), `7:13: ${projects} stands at the beginning, before a / or alone`},
		{"a name inside", withFolders("['~/x']", `args.path = "/srv/${projects}/**"`), `7:13: ${projects} stands at the beginning`},
		{"a name behind a scheme", withFolders("['~/x']", `args.path = "file://${projects}/**"`), `7:13: ${projects} stands at the beginning`},
		{"two names", withFolders("['~/x']", `args.path = "${projects}/${projects}"`), `7:13: ${projects} stands at the beginning`},
		{"an expression", withFolders("['~/x']", `where.path.regex = "${projects}/.*"`), `7:20: regex takes no names of folders, and has ${projects}`},
		{"a host", withFolders("['~/x']", `where.path.host = ["${projects}"]`), `host takes no names of folders`},
		{"a command", withFolders("['~/x']", `where.c.command = ["cat ${projects}/x"]`), `run takes no names of folders`},
		{"a home as a folder to work in", withFolders("['~/x']", `cwd = "${projects}"`), `7:1: cwd takes whole paths, and "~/x" is none (name a list whose folders are whole paths)`},
		{"cwd as a folder to work in", withFolders("['${cwd}/x']", `cwd = "${projects}"`), `7:1: cwd takes whole paths`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseFolders(c.src)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s\nsays %v\nwant %s", c.src, err, c.want)
			}
		})
	}
}

func manyNames() string {
	var b strings.Builder
	for i := range maxNames + 1 {
		fmt.Fprintf(&b, "a%d = []\n", i)
	}
	return b.String()
}

// Texts that only look like names stay what they are.
func TestTextsLikeNames(t *testing.T) {
	for _, lines := range []string{
		`args.command = "*${ifs}*"`, `args.command = "${editor} *"`, `args.path = "${HOME}/**"`, `args.path = "${cwd}/**"`,
		`where.a.regex = "\\$\\{ifs\\}.*"`, `args.path = "$?projects}/**"`,
	} {
		if _, err := parseFolders(withFolders("[]", lines)); err != nil {
			t.Errorf("%s: %v", lines, err)
		}
	}
}

func folderCall(tool string, args any) *Call {
	src, _ := json.Marshal(args)
	return &Call{Method: "tools/call", Subject: ToolSubject, Names: []string{tool}, Args: src, Screened: true}
}

// Each folder of a name is as open as a folder that the rule names, and nothing beside it.
func TestFolderNames(t *testing.T) {
	src := withFolders(`["~/projects/", "/srv/data", "C:\\Users\\Ana\\code", "${cwd}/sub"]`, `args.path = ["${projects}", "${projects}/**"]`)
	p, err := parseFolders(src)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]Action{
		"~/projects": Allow, "~/projects/": Allow, "~/projects/a/b": Allow, "/home/user/projects/a": Allow, "file:///home/user/projects/a": Allow,
		"/srv/data": Allow, "/srv/data/a": Allow, "/work/sub/a": Allow, "sub/a": Allow,
		"~/projects-evil/a": Deny, "/srv/data2": Deny, "/srv/dat": Deny, "/srv/data/../x": Deny, "~/projects/../.ssh/id": Deny,
		"/srv/DATA/a": Deny, "/srv/data%2f..%2fx": Deny, "${projects}/a": Deny, "/work/a": Deny, "a": Deny, "/srv": Deny, "": Deny,
	} {
		c := folderCall("t", map[string]string{"path": path})
		c.Cwd = "/work"
		if d := p.Decide(c); d.Action != want {
			t.Errorf("%s: %v, want %v", path, d.Action, want)
		}
	}
	c := folderCall("t", map[string]string{"path": `c:\users\ana\CODE\x`})
	if c.OS = Windows; p.Decide(c).Action != Allow {
		t.Error("the folder on Windows is shut")
	}
	if l := p.Folders(); len(l) != 1 || l[0].Name != "projects" || l[0].Folders[0] != "~/projects" || len(l[0].Folders) != 4 {
		t.Error(l)
	}
	s := p.Sources()[0]
	if !slices.Equal(s.FolderNames, []string{"projects"}) || len(s.Args[0].Globs) != 8 {
		t.Error(s)
	}
}

func TestFolderNamesOfOtherKeys(t *testing.T) {
	head := "[folders]\nwork = ['/srv/a', '/srv/b']\n\n"
	for _, c := range []struct {
		name, rule string
		call       *Call
		want       Action
	}{
		{"resource", "action = 'allow'\nresource = '${work}/**'", &Call{Method: "resources/read", Subject: ResourceSubject, Names: []string{"/srv/b/x"}}, Allow},
		{"another resource", "action = 'allow'\nresource = '${work}/**'", &Call{Method: "resources/read", Subject: ResourceSubject, Names: []string{"/srv/c/x"}}, Deny},
		{"a resource's exception", "action = 'allow'\nresource = '/srv/**'\nnot.resource = '${work}/**'", &Call{Method: "resources/read", Subject: ResourceSubject, Names: []string{"/srv/b/x"}}, Deny},
		{"an exception", "action = 'allow'\ntool = 't'\nargs.path = '/srv/**'\nnot.args.path = '${work}/**'", folderCall("t", map[string]string{"path": "/srv/b/x"}), Deny},
		{"under", "action = 'allow'\ntool = 't'\nwhere.path.under = ['${work}/x']", folderCall("t", map[string]string{"path": "/srv/b/x/y"}), Allow},
		{"beside under", "action = 'allow'\ntool = 't'\nwhere.path.under = ['${work}/x']", folderCall("t", map[string]string{"path": "/srv/b/y"}), Deny},
		{"places", "action = 'allow'\ntool = 't'\nwhere.c.command = { run = ['cat **'], paths = ['${work}/**'] }", folderCall("t", map[string]string{"c": "cat /srv/b/y"}), Allow},
		{"other places", "action = 'allow'\ntool = 't'\nwhere.c.command = { run = ['cat **'], paths = ['${work}/**'] }", folderCall("t", map[string]string{"c": "cat /srv/c/y"}), Deny},
		{"shut places", "action = 'allow'\ntool = 't'\nwhere.c.command = { run = ['cat **'], paths = ['/srv/**', '!${work}/**'] }", folderCall("t", map[string]string{"c": "cat /srv/b/y"}), Deny},
		{"a folder to work in", "action = 'allow'\ntool = 't'\ncwd = '${work}/**'", &Call{Method: "tools/call", Subject: ToolSubject, Names: []string{"t"}, Facts: Facts{Cwd: "/srv/b/y"}}, Allow},
		{"another folder to work in", "action = 'allow'\ntool = 't'\ncwd = '${work}/**'", &Call{Method: "tools/call", Subject: ToolSubject, Names: []string{"t"}, Facts: Facts{Cwd: "/srv/c/y"}}, Deny},
		{"not this folder to work in", "action = 'allow'\ntool = 't'\nnot.cwd = '${work}/**'", &Call{Method: "tools/call", Subject: ToolSubject, Names: []string{"t"}, Facts: Facts{Cwd: "/srv/b/y"}}, Deny},
	} {
		p, err := parseFolders(head + "[[rule]]\n" + c.rule)
		if err != nil {
			t.Fatal(c.name, err)
		}
		c.call.Screened = true
		if d := p.Decide(c.call); d.Action != c.want {
			t.Errorf("%s: %v, want %v", c.name, d.Action, c.want)
		}
		if !slices.Equal(p.Sources()[0].FolderNames, []string{"work"}) {
			t.Errorf("%s: names %v", c.name, p.Sources()[0].FolderNames)
		}
		// What is written from the rule has the name, and means the same.
		again, err := parseFolders(head + p.CopyRule(p.Sources()[0].Rule, RuleCopy{}))
		if err != nil || again.Decide(c.call).Action != c.want || !strings.Contains(p.CopyRule(p.Sources()[0].Rule, RuleCopy{}), "${work}") {
			t.Errorf("%s: %v\n%s", c.name, err, p.CopyRule(p.Sources()[0].Rule, RuleCopy{}))
		}
	}
	local, err := parseFolders("[folders]\nwork = ['${cwd}/a', '~/b']\n[[rule]]\naction = 'allow'\ntool = 't'\nwhere.c.command = { run = ['cat **'], paths = ['${work}/**'] }")
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]Action{"cat a/x": Allow, "cat ~/b/x": Allow, "cat c/x": Deny} {
		c := folderCall("t", map[string]string{"c": command})
		c.Cwd = "/work"
		if d := local.Decide(c); d.Action != want {
			t.Errorf("%s: %v", command, d.Action)
		}
	}
}

// Two rules with the same condition both use its name.
func TestNamesOfEqualConditions(t *testing.T) {
	rule := "[[rule]]\naction = 'allow'\ntool = 't'\ncwd = '${work}'\n"
	p, err := parseFolders("[folders]\nwork = ['/srv/a']\n" + rule + rule)
	if err != nil || len(p.Sources()[1].FolderNames) != 1 {
		t.Error(err)
	}
}

// The lists of a file are its own: an owner's list opens nothing in a rule of a layer or of a file
// that the policy extends. Only in a profile the owner's lists stand in for the profile's.
func TestFolderNamesOfLayers(t *testing.T) {
	text := func(folder string) string {
		return "[folders]\nprojects = ['" + folder + "']\n[[rule]]\naction = 'allow'\ntool = 't'\nargs.path = '${projects}/**'\n"
	}
	call := func(path string) *Call { return folderCall("t", map[string]string{"path": path}) }

	layer, err := Parse("org.toml", []byte(text("/org")+"[[rule]]\naction = 'deny'\ntool = '*'\n"), Options{Layer: "organisation"})
	if err != nil {
		t.Fatal(err)
	}
	own, err := Parse("p.toml", []byte(text("/mine")), Options{Above: []*Policy{layer}})
	if err != nil || own.Decide(call("/mine/x")).Action != Deny || own.Decide(call("/org/x")).Action != Deny {
		t.Error(err)
	}

	extended := text("/theirs")
	extend := func(Extension) (string, []byte, error) { return "x.toml", []byte(extended), nil }
	head := `extends = [%s]` + "\n[folders]\nprojects = ['/mine']\n"
	file := fmt.Sprintf(head, `{ file = "x.toml", sha256 = "`+strings.Repeat("0", 64)+`" }`)
	profile := fmt.Sprintf(head, `"profile:x"`)
	const tables = "[[extends]]\nprofile = 'x'\n"
	mine := "[folders]\nprojects = ['/mine']\n"
	for _, c := range []struct {
		src, open, shut, from string
	}{
		{file, "/theirs/x", "/mine/x", "x.toml"}, {profile, "/mine/x", "/theirs/x", ""}, {`extends = ["profile:x"]`, "/theirs/x", "/mine/x", "profile:x"},
		{mine + tables, "/mine/x", "/theirs/x", ""}, {tables + mine, "/mine/x", "/theirs/x", ""}, {tables, "/theirs/x", "/mine/x", "profile:x"},
		{tables + tables, "/theirs/x", "/mine/x", "profile:x"}, {mine + "[[extends]]\nfile = 'x.toml'\nsha256 = '" + strings.Repeat("0", 64) + "'\n", "/theirs/x", "/mine/x", "x.toml"},
		{"[folders]\nothers = ['/mine']\n" + tables, "/theirs/x", "/mine/x", "profile:x"},
	} {
		p, err := Parse("p.toml", []byte(c.src), Options{Extend: extend})
		if err != nil {
			t.Fatal(err)
		}
		if p.Decide(call(c.open)).Action != Allow || p.Decide(call(c.shut)).Action != Deny {
			t.Errorf("%s\nopens %s or shuts %s", c.src, c.shut, c.open)
		}
		if l := p.Folders(); l[len(l)-1].From != c.from || slices.ContainsFunc(l[:len(l)-1], func(l FolderList) bool { return l.From != "" }) {
			t.Error(l)
		}
	}
	extended = "[[rule]]\naction = 'allow'\ntool = 't'\nargs.path = '${projects}/**'\n"
	if _, err := Parse("p.toml", []byte(file), Options{Extend: extend}); err == nil || !strings.Contains(err.Error(), "no list of [folders]") {
		t.Error(err)
	}
}

// A list may hold the folders of another one. In a profile, that is the owner's list if there is one.
func TestListsOfLists(t *testing.T) {
	const rules = "[[rule]]\naction = 'allow'\ntool = 'read'\nargs.path = '${reads}/**'\n[[rule]]\naction = 'allow'\ntool = 'write'\nargs.path = '${projects}/**'\n"
	const lists = "[folders]\nprojects = ['/theirs']\nreads = ['${projects}', '/docs']\n"
	extend := func(Extension) (string, []byte, error) { return "x.toml", []byte(lists + rules), nil }
	for _, c := range []struct {
		src               string
		open, shut, write string
	}{
		{lists + rules, "/theirs /docs", "/mine", "/theirs"},
		{`extends = ["profile:x"]`, "/theirs /docs", "/mine", "/theirs"},
		{"extends = ['profile:x']\n[folders]\nprojects = ['/mine']", "/mine /docs", "/theirs", "/mine"},
		{"extends = ['profile:x']\n[folders]\nprojects = ['/mine']\nreads = ['/other', '${projects}']", "/mine /other", "/docs /theirs", "/mine"},
		{"extends = ['profile:x']\n[folders]\nreads = ['/other']", "/other", "/docs /theirs", "/theirs"},
	} {
		p, err := Parse("p.toml", []byte(c.src), Options{Extend: extend})
		if err != nil {
			t.Fatal(c.src, err)
		}
		decide := func(tool, folder string) Action {
			return p.Decide(folderCall(tool, map[string]string{"path": folder + "/x"})).Action
		}
		for folder := range strings.FieldsSeq(c.open + " " + c.shut) {
			if want := strings.Contains(c.open, folder); (decide("read", folder) == Allow) != want {
				t.Errorf("%s\nreads %s: %v", c.src, folder, !want)
			}
			if want := folder == c.write; (decide("write", folder) == Allow) != want {
				t.Errorf("%s\nwrites %s: %v", c.src, folder, !want)
			}
		}
	}
	if _, err := Parse("p.toml", []byte("[folders]\na = []\nb = ['${a}']\n[[rule]]\naction = 'deny'\ntool = 't'\nargs.path = '${b}/x'\n"), Options{}); err == nil || !strings.Contains(err.Error(), `the list "b" of [folders] is empty`) {
		t.Error(err)
	}
}

// An answer "always" keeps the names of the rule that asked; a narrower folder is written out.
func TestNarrowKeepsNames(t *testing.T) {
	src := "[folders]\nprojects = ['~/projects', '/srv/data']\n\n[[rule]]\naction = 'prompt'\ntool = 'write'\nargs.path = '${projects}/**'\nnot.args.path = ['${projects}/shut/**']\n"
	p, err := parseFolders(src)
	if err != nil {
		t.Fatal(err)
	}
	c := folderCall("write", map[string]string{"path": "/srv/data/a/x"})
	for scope, want := range map[Scope]string{Tool: `args.path = "${projects}/**"`, Folder: `args.path = "/srv/data/a/**"`} {
		n, err := p.NarrowRule(p.Rules()[0], c, scope, Allow)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(n.Text, want) || !strings.Contains(n.Text, `not.args.path = "${projects}/shut/**"`) {
			t.Errorf("%v:\n%s", scope, n.Text)
		}
		out, err := p.InsertAbove([]byte(src), p.Rules()[0], n.Text)
		if err != nil {
			t.Fatal(err)
		}
		q, err := parseFolders(string(out))
		if err != nil || q.Decide(c).Action != Allow || q.Decide(folderCall("write", map[string]string{"path": "/srv/data/shut/x"})).Action != Deny {
			t.Errorf("%v\n%s", err, out)
		}
	}
	q, err := parseFolders("[folders]\na = ['/srv']\n[[rule]]\naction = 'prompt'\nresource = '${a}/**'\n")
	if err != nil {
		t.Fatal(err)
	}
	n, err := q.NarrowRule(q.Rules()[0], &Call{Method: "resources/read", Subject: ResourceSubject, Names: []string{"/srv/x"}, Screened: true}, Exact, Allow)
	if err != nil || !strings.Contains(n.Text, `resource = "/srv/x"`) {
		t.Error(err, n)
	}
	copied := p.CopyRule(p.Rules()[0], RuleCopy{Except: []ArgSource{{Path: []string{"path"}, Globs: []string{"**/x"}}}})
	if !strings.Contains(copied, `not.args.path = ["${projects}/shut/**", "**/x"]`) {
		t.Error(copied)
	}
}

// A rule of an extended text asks, and the answer "always" stands in the policy's own file. There the
// names of the text mean nothing, or another list: only a name of the owner's stays.
func TestNarrowWritesNamesOut(t *testing.T) {
	text := `[folders]
projects = ["/theirs"]

[[rule]]
action = "prompt"
tool = "write"
args.path = "${projects}/**"
args.to = "${projects}/**"
not.args.path = "${projects}/shut/**"
not.cwd = "${projects}/shut"
cwd = "${projects}/**"
where.path = { under = ["${projects}"] }
where.command.command = { run = ["cat **"], paths = ["${projects}/**"] }
description = "Ask"

[[rule]]
action = "prompt"
resource = "${projects}/**"
not.resource = "${projects}/shut/**"
description = "Ask about a resource"
`
	o := Options{Home: folderHome, Disk: disk.PlainDisk(), Extend: func(Extension) (string, []byte, error) { return "x.toml", []byte(text), nil }}
	pinned := "[[extends]]\nfile = 'x.toml'\nsha256 = '" + strings.Repeat("0", 64) + "'\n"
	for _, c := range []struct {
		name, src, folder string
		kept              bool
	}{
		{"a profile with its own list", "[[extends]]\nprofile = 'x'\n", "/theirs", false},
		{"a profile with the owner's", "[folders]\nprojects = ['/mine']\n[[extends]]\nprofile = 'x'\n", "/mine", true},
		{"a file", pinned, "/theirs", false},
		{"a file beside a list of the same name", "[folders]\nprojects = ['/mine']\n" + pinned, "/theirs", false},
	} {
		p, err := Parse("p.toml", []byte(c.src), o)
		if err != nil {
			t.Fatal(err)
		}
		call := folderCall("write", map[string]string{"path": c.folder + "/x", "to": c.folder + "/y", "command": "cat " + c.folder + "/z"})
		call.Cwd = c.folder + "/w"
		resource := &Call{Method: "resources/read", Subject: ResourceSubject, Names: []string{c.folder + "/x"}, Screened: true}
		for i, call := range []*Call{call, resource} {
			scope := Tool
			if i == 1 {
				scope = Folder
			}
			n, err := p.NarrowRule(p.Rules()[i], call, scope, Allow)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if strings.Contains(n.Text, "${projects}") != c.kept {
				t.Errorf("%s:\n%s", c.name, n.Text)
			}
			out, err := p.InsertAbove([]byte(c.src), p.Rules()[i], n.Text)
			if err != nil {
				t.Fatalf("%s: %v\n%s", c.name, err, n.Text)
			}
			q, err := Parse("p.toml", out, o)
			if err != nil || q.Decide(call).Action != Allow {
				t.Errorf("%s: %v\n%s", c.name, err, out)
			}
		}
	}
}

// A pinned text of a profile without names loads beside the owner's lists, and keeps its folders.
func TestListsBesideAProfileWithoutNames(t *testing.T) {
	o := Options{Home: folderHome, Extend: func(Extension) (string, []byte, error) {
		return "x.toml", []byte("[[rule]]\naction = 'allow'\ntool = 't'\nargs.path = '~/projects/**'\n"), nil
	}}
	p, err := Parse("p.toml", []byte("[folders]\nprojects = ['/mine']\n[[extends]]\nprofile = 'x'\n"), o)
	if err != nil || p.Decide(folderCall("t", map[string]string{"path": "~/projects/a"})).Action != Allow || p.Decide(folderCall("t", map[string]string{"path": "/mine/a"})).Action != Deny {
		t.Error(err)
	}
}

// A policy with names decides as the policy with the folders written out, and as the policy with a
// rule for each folder, where a rule has one condition.
func TestNamesMeanFolders(t *testing.T) {
	folders := []string{"~/a", "/srv/b", "/home/user/a/c", "${cwd}/d", "~", `C:\x`, "/srv/b.c"}
	rapid.Check(t, func(t *rapid.T) {
		lists := map[string][]string{}
		head := "[folders]\n"
		for _, name := range []string{"one", "two_2"} {
			lists[name] = rapid.SliceOfN(rapid.SampledFrom(folders), 1, 3).Draw(t, name)
			head += name + " = " + policytext.FormatList(policytext.QuoteAll(lists[name])) + "\n"
		}
		lists["both"] = append(slices.Clone(lists["one"]), "/srv/e")
		head += "both = [\"${one}\", \"/srv/e\"]\n"
		var named, listed, apart strings.Builder
		for i := range rapid.IntRange(1, 4).Draw(t, "rules") {
			action := rapid.SampledFrom([]string{"allow", "deny", "prompt"}).Draw(t, "action")
			key := rapid.SampledFrom([]string{"args.path", "not.args.path", `args."*"`, "where.path.under"}).Draw(t, "key")
			rest := rapid.SampledFrom([]string{"", "/**", "/*", "/x/**", "/**/.env"}).Draw(t, "rest")
			if key == "where.path.under" {
				rest = strings.ReplaceAll(strings.TrimRight(rest, "/*"), "/**", "")
			}
			name := rapid.SampledFrom([]string{"one", "two_2", "both"}).Draw(t, "name")
			var all []string
			for _, folder := range lists[name] {
				all = append(all, folder+rest)
			}
			rule := func(texts []string) string {
				return fmt.Sprintf("\n[[rule]]\naction = %q\ntool = \"t\"\n%s = %s\ndescription = \"%d\"\n", action, key, policytext.FormatList(policytext.QuoteAll(texts)), i)
			}
			named.WriteString(rule([]string{"${" + name + "}" + rest}))
			listed.WriteString(rule(all))
			if key == "not.args.path" || key == `args."*"` {
				apart.WriteString(rule(all))
				continue
			}
			for _, text := range all {
				apart.WriteString(rule([]string{text}))
			}
		}
		p, err := parseFolders(head + named.String())
		if err != nil {
			t.Fatalf("%s%s: %v", head, &named, err)
		}
		for range 20 {
			path := rapid.SampledFrom([]string{"~/a", "/srv/b", "/home/user/a/c", "d", "/work/d", "/srv/b.c", "/srv/b-evil", "~", "C:/x", "/SRV/b", "/srv/e"}).Draw(t, "path") +
				rapid.SampledFrom([]string{"", "/", "/x", "/x/y", "/../b/x", "/.env", "/%2e%2e/x", "//x", "-evil"}).Draw(t, "below")
			c := folderCall("t", map[string]any{"path": path})
			if rapid.Bool().Draw(t, "list") {
				c = folderCall("t", map[string]any{"path": []string{path, "/srv/b/x"}})
			}
			if rapid.Bool().Draw(t, "cwd") {
				c.Cwd = "/work"
			}
			if rapid.IntRange(0, 3).Draw(t, "os") == 0 {
				c.OS = Windows
			}
			got := p.Decide(c)
			for i, text := range []string{listed.String(), apart.String()} {
				q, err := parseFolders(text)
				if err != nil {
					t.Fatal(err)
				}
				want := q.Decide(c)
				if got.Action != want.Action || (got.Rule == nil) != (want.Rule == nil) || i == 0 && got.Rule != nil && got.Rule.Description != want.Rule.Description {
					t.Fatalf("%s%s\n%s on %q: %v, %v\n%s", head, &named, c.Args, c.Cwd, got, want, text)
				}
			}
		}
	})
}

// FuzzNames holds the search for names of folders to the expression that defines them.
func FuzzNames(f *testing.F) {
	for _, text := range []string{"", "${a}", "${projects}/**", "x${a}${b_1}", "${${a}", "$${a}}", "${}${A}${a", "${a}}${b}", "${cwd}/${projects}", "${a b}${c}"} {
		f.Add(text)
	}
	defined := regexp.MustCompile(`\$\{([a-z0-9_]+)\}`)
	f.Fuzz(func(t *testing.T, text string) {
		var got, want [][4]int
		for at, name := range eachName(text) {
			if text[at[0]+2:at[1]-1] != name {
				t.Errorf("%q: %q at %v", text, name, at)
			}
			got = append(got, [4]int{at[0], at[1], at[0] + 2, at[1] - 1})
		}
		for _, at := range defined.FindAllStringSubmatchIndex(text, -1) {
			want = append(want, [4]int(at))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	})
}
