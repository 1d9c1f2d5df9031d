//go:build e2e

package e2e

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/policy/check"
	"github.com/clawai/clawai/policy/glob"
	"github.com/pelletier/go-toml/v2"
)

// packages start the servers that the profiles speak of. The git and the fetch
// server are Python packages and not installed here.
func packages(s site) map[string][]string {
	node := func(script string, args ...string) []string {
		return append([]string{"node", "node_modules/" + script}, args...)
	}
	return map[string][]string{
		"filesystem": serverCommand(s, "filesystem"),
		"github":     node("@modelcontextprotocol/server-github/dist/index.js"),
		"postgres":   node("@modelcontextprotocol/server-postgres/dist/index.js", "postgres://localhost/nowhere"),
		"browser":    node("@playwright/mcp/cli.js", "--headless"),
		"shell":      node("mcp-server-commands/build/index.js"),
		"slack": append([]string{"env", "SLACK_TEAM_ID=T0", "SLACK_BOT_TOKEN=" + "xoxb" + "-none"},
			node("@modelcontextprotocol/server-slack/dist/index.js")...),
	}
}

// elsewhere are the tools that a profile names and its npm package does not
// have: GitHub's own server is no npm package.
var elsewhere = map[string][]string{
	"github": {
		"get_secret_scanning_alert", "list_secret_scanning_alerts",
		"issue_read", "issue_write", "pull_request_read", "pull_request_review_write",
	},
}

// tool is what a server declares.
type tool struct {
	Name        string
	InputSchema struct{ Properties map[string]any }
}

// rule is what a profile says of tools.
type rule struct {
	Action   string
	Tool     string
	Args     map[string]any
	Where    map[string]any
	ArgsOnly any `toml:"args_only"`
}

// only are the names that a rule lists in args_only.
func (r *rule) only() (names []string) {
	list, _ := r.ArgsOnly.([]any)
	for _, name := range list {
		names = append(names, name.(string))
	}
	return names
}

// closed are the profiles whose rules say all that the server's tools take. That of
// github is for two servers, and that of shell asks where it does not know.
var closed = []string{"filesystem", "postgres", "browser", "slack"}

// TestProfilesNameRealTools holds each profile to what its server declares: no
// rule for a tool or an argument that does not exist, no tool that was
// forgotten, no fixture that shows a call nobody can make.
func TestProfilesNameRealTools(t *testing.T) {
	for _, p := range fixtures.Profiles() {
		t.Run(p.Name, func(t *testing.T) {
			src, err := fixtures.Policy(p.Name)
			if err != nil {
				t.Fatal(err)
			}
			s := newSite(t, string(src))
			server := packages(s)[p.Name]
			if server == nil {
				if p.Name == "git" || p.Name == "fetch" {
					t.Log("a Python package; its names are those of its documentation")
					return
				}
				t.Fatal("no server to compare with")
			}
			declared := declaredTools(t, s, server)
			checkRules(t, src, declared, elsewhere[p.Name])
			checkFurther(t, p.Name, src, declared)
			checkFixtures(t, p.Name, declared, elsewhere[p.Name])
		})
	}
}

// declaredTools asks the server behind the proxy, under the profile itself.
func declaredTools(t *testing.T, s site, server []string) []tool {
	t.Helper()
	out, err := s.inspector(proxied(server))("--method", "tools/list")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var reply struct{ Result struct{ Tools []tool } }
	if err := json.Unmarshal([]byte(out), &reply); err != nil || len(reply.Result.Tools) == 0 {
		t.Fatalf("no tools: %v\n%.500s", err, out)
	}
	return reply.Result.Tools
}

func checkRules(t *testing.T, src []byte, declared []tool, others []string) {
	t.Helper()
	var policy struct{ Rule []rule }
	if err := toml.Unmarshal(src, &policy); err != nil {
		t.Fatal(err)
	}
	covered := map[string]bool{}
	for _, r := range policy.Rule {
		if r.Tool == "" {
			continue // of prompts or resources
		}
		pattern, err := glob.Compile(r.Tool)
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(others, pattern.Match)
		arguments := map[string]bool{}
		for _, tl := range declared {
			if !pattern.Match(tl.Name) {
				continue
			}
			found = true
			covered[tl.Name] = covered[tl.Name] || r.Tool != "*"
			for name := range tl.InputSchema.Properties {
				arguments[name] = true
			}
		}
		if !found {
			t.Errorf("no tool is called %s", r.Tool)
		}
		for _, conditions := range []map[string]any{r.Args, r.Where} {
			for name := range conditions {
				if !arguments[name] {
					t.Errorf("no tool %s has an argument %s", r.Tool, name)
				}
			}
		}
	}
	for _, tl := range declared {
		if !covered[tl.Name] {
			t.Errorf("no rule speaks of the tool %s", tl.Name)
		}
	}
}

// checkFurther holds args_only to the schemas: it lists what tools declare, and in a
// profile that is closed an allow lists all of it, or leaves it to be asked about.
func checkFurther(t *testing.T, profile string, src []byte, declared []tool) {
	t.Helper()
	var policy struct{ Rule []rule }
	if err := toml.Unmarshal(src, &policy); err != nil {
		t.Fatal(err)
	}
	for _, r := range policy.Rule {
		if r.Tool == "" || r.Action == "deny" {
			continue
		}
		if r.ArgsOnly == nil {
			if r.Action == "allow" && slices.Contains(closed, profile) {
				t.Errorf("the allow for %s does not say which arguments there are", r.Tool)
			}
			continue
		}
		pattern, err := glob.Compile(r.Tool)
		if err != nil {
			t.Fatal(err)
		}
		arguments := map[string]bool{}
		for _, tl := range declared {
			named := len(r.Args)+len(r.Where) == 0
			for name := range tl.InputSchema.Properties {
				named = named || r.Args[name] != nil || r.Where[name] != nil
			}
			if !pattern.Match(tl.Name) || !named {
				continue
			}
			for name := range tl.InputSchema.Properties {
				if r.Args[name] == nil && r.Where[name] == nil {
					arguments[name] = true
				}
			}
		}
		for _, name := range r.only() {
			if !arguments[name] {
				t.Errorf("args_only of the rule for %s lists %s, which no tool has, or the rule names", r.Tool, name)
			}
			delete(arguments, name)
		}
		if profile == "browser" {
			delete(arguments, "filename") // asked about by a rule above
			delete(arguments, "url")      // of browser_tabs: likewise
		}
		for name := range arguments {
			t.Errorf("args_only of the rule for %s lacks %s", r.Tool, name)
		}
	}
}

func checkFixtures(t *testing.T, profile string, declared []tool, others []string) {
	t.Helper()
	found, err := check.FindFixtures(filepath.Join("../../fixtures", profile))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		fx, err := check.ReadFixture(path)
		if err != nil {
			t.Fatal(err)
		}
		if fx.Method != "tools/call" || fx.Expected.String() == "deny" {
			continue // a call that is denied may be of a tool that is not there
		}
		var params struct{ Name string }
		if err := json.Unmarshal(fx.Params, &params); err != nil {
			t.Fatal(err)
		}
		real := slices.ContainsFunc(declared, func(tl tool) bool { return tl.Name == params.Name })
		if !real && !slices.Contains(others, params.Name) {
			t.Errorf("%s calls %s, which the server does not have", path, params.Name)
		}
	}
}
