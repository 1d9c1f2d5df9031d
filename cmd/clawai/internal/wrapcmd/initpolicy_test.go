package wrapcmd

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/cmd/clawai/internal/policycmd"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

func targetsOf(entries ...client.Entry) []wrap.Target {
	var all []wrap.Target
	for _, e := range entries {
		all = append(all, wrap.Target{File: &wrap.ConfigFile{}, Entry: e})
	}
	return all
}

// drafted is a plan with its text.
func drafted(mode initMode, targets []wrap.Target, told map[string][]toldTool, home string) (starterPlan, error) {
	p, err := planStarter(mode, targets, told, config.Folders{Home: home})
	if err == nil {
		err = p.writePolicyText()
	}
	return p, err
}

func filesystemOn(folders ...string) client.Entry {
	return client.Entry{Name: "files", Command: "npx", Args: append([]string{"@modelcontextprotocol/server-filesystem"}, folders...)}
}

// The folder a filesystem server is given stands in its rules, unless a rule
// would open more than a person may have thought of.
func TestTheServersOwnFolder(t *testing.T) {
	for folder, opened := range map[string]bool{
		"/srv/data":               true,
		"/home/user/Documents":    true,
		"/home/user/my files":     true,
		"/home/user":              false,
		"/home/user/":             false,
		"/home":                   false,
		"/":                       false,
		"projects":                false,
		"/srv/*":                  false,
		`/srv/a"b`:                false,
		"/srv/\u202ea":            false,
		"${HOME}/x":               false,
		"/home/user/../user/.":    false,
		"/home/username/projects": true,
	} {
		p, err := drafted(modeAsk, targetsOf(filesystemOn(folder)), nil, "/home/user")
		if err != nil {
			t.Fatal(err)
		}
		if (len(p.folders) == 1) != opened || strings.Contains(string(p.text), `projects = ["~/projects"]`) == opened || (p.askedServers == nil) != opened {
			t.Errorf("%s: %q stands in the rules, asked about: %q", folder, p.folders, p.askedServers)
		}
		if _, err := policy.Parse("policy.toml", p.text, policyfile.PolicyOptions("/home/user")); err != nil {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

// The folders of all filesystem servers stand in their rules together, and what none of them
// names is asked about, unless it is refused.
func TestTheServersOwnFolders(t *testing.T) {
	const owner = "/home/user"
	other := filesystemOn("/srv/other")
	other.Name = "other"
	for _, c := range []struct {
		name    string
		mode    initMode
		entries []client.Entry
		want    map[string]policy.Action // of reading a file
	}{
		{"two of one server", modeAsk, []client.Entry{filesystemOn(owner+"/Desktop", "~/Downloads")}, map[string]policy.Action{
			"/home/user/Desktop/a.txt": policy.Allow, "/home/user/Downloads/b/c.txt": policy.Allow, "/home/user/projects/a.txt": policy.Deny,
			"~/Desktop/a.txt": policy.Allow, "~/Downloads/b/c.txt": policy.Allow, "~/projects/a.txt": policy.Deny, "~/Desktop/../.ssh/id_rsa": policy.Deny,
			"/etc/passwd": policy.Deny, "/home/user/Downloads/.env": policy.Deny, "/home/user/Downloads/x/.env.example": policy.Allow,
		}},
		{"of two servers", modeAsk, []client.Entry{filesystemOn("/srv/data"), other}, map[string]policy.Action{
			"/srv/data/a": policy.Allow, "/srv/other/a": policy.Allow, "/srv/a": policy.Deny, "~/a": policy.Deny,
		}},
		{"the home too", modeAsk, []client.Entry{filesystemOn(owner, owner+"/Desktop")}, map[string]policy.Action{
			"/home/user/Desktop/a.txt": policy.Allow, "/home/user/a.txt": policy.Prompt, "/home/user/.ssh/id_rsa": policy.Deny,
		}},
		{"the home too, strictly", modeStrict, []client.Entry{filesystemOn(owner, owner+"/Desktop")}, map[string]policy.Action{
			"/home/user/Desktop/a.txt": policy.Allow, "/home/user/a.txt": policy.Deny,
		}},
		{"none", modeAsk, []client.Entry{filesystemOn()}, map[string]policy.Action{
			"/home/user/projects/a.txt": policy.Allow, "/home/user/a.txt": policy.Prompt,
		}},
		{"a relative one", modeAsk, []client.Entry{filesystemOn(".", "/srv/data")}, map[string]policy.Action{
			"/srv/data/a": policy.Allow, "/home/user/a.txt": policy.Prompt,
		}},
		{"in a container", modeAsk, []client.Entry{{Name: "files", Command: "docker", Args: []string{
			"run", "-i", "-v", "/home/user/x:/work", "--mount", "type=bind,src=/srv,dst=/projects/srv", "mcp/filesystem", "/work", "/projects",
		}}}, map[string]policy.Action{
			"/work/a": policy.Allow, "/projects/srv/a": policy.Allow, "/home/user/x/a": policy.Deny,
		}},
	} {
		p, err := drafted(c.mode, targetsOf(c.entries...), nil, owner)
		if err != nil {
			t.Fatal(err)
		}
		rules, err := policy.Parse("policy.toml", p.text, policyfile.PolicyOptions(owner))
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.name, err, p.text)
		}
		for path, want := range c.want {
			for _, e := range c.entries {
				call := policy.Call{Server: e.Name, Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"read_text_file"}, Args: []byte(`{"path":"` + path + `"}`), Screened: true}
				if d := rules.Decide(&call); d.Action != want {
					t.Errorf("%s: %s of %s is %v by %+v", c.name, path, e.Name, d.Action, d.Rule)
				}
				call.Names, call.Args = []string{"move_file"}, []byte(`{"source":"`+path+`","destination":"`+path+`2"}`)
				if d := rules.Decide(&call); want == policy.Allow && d.Action != policy.Prompt && !strings.Contains(path, ".env") {
					t.Errorf("%s: moving %s of %s is %v by %+v", c.name, path, e.Name, d.Action, d.Rule)
				}
			}
		}
	}
}

// The folders stand once, in the table, as a person writes them.
func TestFoldersInATable(t *testing.T) {
	p, err := drafted(modeAsk, targetsOf(filesystemOn("/home/user/Desktop", "/home/user/projects", "/home/user2/x")), nil, "/home/user")
	if err != nil {
		t.Fatal(err)
	}
	text := string(p.text)
	if table := "\n[folders]\nprojects = [\"~/Desktop\", \"~/projects\", \"/home/user2/x\"]\nreads = [\"${projects}\"]\n\n"; strings.Count(text, table) != 1 {
		t.Errorf("%s is not once in\n%.3000s", table, text)
	}
	if strings.Contains(text, "/home/user/") {
		t.Errorf("the home folder is spelled out:\n%.3000s", text)
	}
}

// A server that no profile knows is never opened by a profile's rules, whatever
// it is called, and a name that also means such a server does not open it.
func TestUnknownServersStayShut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"codex", "claude-code"}), rapid.StringMatching(`[a-z*?".\\\[\]{}'-]{1,8}`)).Draw(rt, "name")
		if policycmd.CheckNameable(name) != nil {
			rt.Skip("init leaves it out")
		}
		mode := rapid.SampledFrom(initModes).Draw(rt, "mode")
		known := filesystemOn("/srv/data")
		known.Name = rapid.SampledFrom([]string{"files", name}).Draw(rt, "known")
		targets := targetsOf(known, client.Entry{Name: name, Command: "x"})
		if rapid.Bool().Draw(rt, "reversed") {
			slices.Reverse(targets)
		}
		plan, err := planStarter(mode, targets, nil, config.Folders{Home: "/home/user"})
		if err != nil {
			rt.Fatal(err)
		}
		plan.agents = rapid.Bool().Draw(rt, "agents")
		if err := plan.writePolicyText(); err != nil {
			rt.Fatal(err)
		}
		p, err := policy.Parse("policy.toml", plan.text, policyfile.PolicyOptions("/home/user"))
		if err != nil {
			rt.Fatalf("%q: %v\n%s", name, err, plan.text)
		}
		tool := rapid.SampledFrom([]string{"read_file", "list_allowed_directories", "a/b", "x", "read", "task"}).Draw(rt, "tool")
		d := p.Decide(&policy.Call{
			Server: name, Method: "tools/call", Subject: policy.ToolSubject, Names: []string{tool},
			Args: []byte(`{"path":"/srv/data/notes"}`),
		})
		want := policy.Prompt
		if mode == modeStrict {
			want = policy.Deny
		}
		if plain := regexp.MustCompile(`^[ -~]+$`); d.Action != want && plain.MatchString(name) && name != "files" {
			rt.Errorf("%q, %s: %s is %s by %+v", name, mode, tool, d.Action, d.Rule)
		}
		if d.Action == policy.Allow {
			rt.Errorf("%q is open", name)
		}
	})
}

// What hooks ask about is answered as the starter for agents' own tools answers it, beside
// servers' rules, if the list of folders has theirs: its fixtures hold in every mode.
func TestAgentsOwnToolsHaveRules(t *testing.T) {
	found, err := check.FindFixtures("../../../../fixtures/coding-agent")
	if err != nil || len(found) < 20 {
		t.Fatalf("%d fixtures, %v", len(found), err)
	}
	for _, mode := range initModes {
		plan, err := planStarter(mode, targetsOf(filesystemOn("/srv/data", "/home/user/projects"), client.Entry{Name: "other", Command: "x"}), nil, config.Folders{Home: "/home/user"})
		if err != nil {
			t.Fatal(err)
		}
		plan.agents = true
		if err := plan.writePolicyText(); err != nil {
			t.Fatal(err)
		}
		p, err := policy.Parse("policy.toml", plan.text, policyfile.PolicyOptions("/home/user"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := client.HookRows()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if openFor(p.Sources(), client.Entry{Name: row.HookWord()}, "") != opened {
				t.Errorf("%s: no rule names %s", mode, row.HookWord())
			}
		}
		for _, path := range found {
			fx, err := check.ReadFixture(path)
			if err != nil {
				t.Fatal(err)
			}
			if r := check.JudgeFixture(p, fx, ""); r.IsMismatch() {
				t.Errorf("%s: %s is %s, expected %s", mode, path, r.Action, fx.Expected)
			}
		}
	}
}

// What comes back is looked at whichever server sends it: one with a starter, one of the catalogue, one
// that was asked for its tools, one that nobody knows, and one that is added later.
func TestWhatComesBackIsScreenedFromEveryServer(t *testing.T) {
	told := map[string][]toldTool{"weather": {{name: "get_forecast", reads: true, allow: true}}}
	for _, mode := range initModes {
		for _, entries := range [][]client.Entry{
			{filesystemOn("/srv/data"), {Name: "fetch", Command: "uvx", Args: []string{"mcp-server-fetch"}}, {Name: "weather", Command: "uvx"}, {Name: "odd", Command: "x"}},
			{{Name: "odd", Command: "x"}},
		} {
			plan, err := drafted(mode, targetsOf(entries...), told, "/home/user")
			if err != nil {
				t.Fatal(err)
			}
			p, err := policy.Parse("policy.toml", plan.text, policyfile.PolicyOptions("/home/user"))
			if err != nil {
				t.Fatal(err)
			}
			for _, server := range []string{"files", "fetch", "weather", "odd", "later"} {
				calls := []policy.Call{{Server: server, Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"get_forecast"}}}
				for _, kind := range []string{"secret", "hidden", "template-token"} {
					if d := p.DecideReply(policy.OnReply, calls, []string{kind}); len(d.Alters) == 0 {
						t.Errorf("%s, %d servers: %s in a reply of %s is %s", mode, len(entries), kind, server, d.Action)
					}
					if d := p.DecideReply(policy.OnList, calls, []string{kind}); d.Action > policy.Prompt && len(d.Alters) == 0 {
						t.Errorf("%s, %d servers: %s in a list of %s is %s", mode, len(entries), kind, server, d.Action)
					}
				}
			}
		}
	}
}

// A folder that "policy allow" refuses is not opened because a server was given it: calls there are
// asked about.
func TestFoldersThatInitDoesNotOpen(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := config.Folders{Home: home, Config: filepath.Join(home, ".config", "clawai"), State: filepath.Join(home, ".local", "state", "clawai")}
	if err := os.Symlink("/etc", filepath.Join(home, "link")); err != nil {
		t.Skip(err)
	}
	for folder, opened := range map[string]bool{
		"work": true, "": false, ".ssh": false, ".aws/x": false, ".config": false, ".config/clawai": false, ".local/state/clawai/audit": false, "link": false, "link/ssl": false,
	} {
		plan, err := planStarter(modeAsk, targetsOf(filesystemOn(filepath.Join(home, folder))), nil, at)
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.folders) > 0 != opened || len(plan.askedServers) > 0 == opened {
			t.Errorf("~/%s: opened %q, asked about at %q", folder, plan.folders, plan.askedServers)
		}
	}
}
