//go:build e2e

package e2e

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy/glob"
	"github.com/pelletier/go-toml/v2"
)

// python are the profiles whose servers are Python packages, and not installed here.
var python = []string{"git", "fetch", "sqlite", "time"}

// packages start the servers that the other profiles speak of.
func packages(s site) map[string][]string {
	node := func(script string, args ...string) []string {
		return append([]string{"node", "node_modules/" + script}, args...)
	}
	return map[string][]string{
		"filesystem":          serverCommand(s, "filesystem"),
		"github":              node("@modelcontextprotocol/server-github/dist/index.js"),
		"postgres":            node("@modelcontextprotocol/server-postgres/dist/index.js", "postgres://localhost/nowhere"),
		"browser":             node("@playwright/mcp/cli.js", "--headless"),
		"shell":               node("mcp-server-commands/build/index.js"),
		"memory":              node("@modelcontextprotocol/server-memory/dist/index.js"),
		"everything":          node("@modelcontextprotocol/server-everything/dist/index.js"),
		"sequential-thinking": node("@modelcontextprotocol/server-sequential-thinking/dist/index.js"),
		"context7":            node("@upstash/context7-mcp/dist/index.js"),
		"chrome-devtools":     node("chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"),
		"slack": append([]string{"env", "SLACK_TEAM_ID=T0", "SLACK_BOT_TOKEN=" + "xoxb" + "-none"},
			node("@modelcontextprotocol/server-slack/dist/index.js")...),
	}
}

// elsewhere are the tools that a profile names and its npm package does not
// have: GitHub's and Slack's own servers are no npm packages.
var elsewhere = map[string][]string{
	"github": {
		"get_secret_scanning_alert", "list_secret_scanning_alerts", "delete_file", "get_file_blame", "get_repository_tree",
		"get_commit", "list_branches", "list_tags", "get_tag", "search_commits", "search_orgs", "get_me", "get_teams",
		"get_team_members", "list_repository_collaborators", "list_starred_repositories", "list_releases", "get_latest_release",
		"get_release_by_tag", "issue_read", "list_issue_types", "list_issue_fields", "get_label", "list_label", "ui_get",
		"pull_request_read", "search_pull_requests", "list_discussions", "get_discussion", "get_discussion_comments",
		"list_discussion_categories", "projects_get", "projects_list", "actions_get", "actions_list", "get_job_logs",
		"list_notifications", "get_notification_details", "list_gists", "get_gist", "list_dependabot_alerts",
		"get_dependabot_alert", "list_code_scanning_alerts", "get_code_scanning_alert", "get_code_quality_finding",
		"list_global_security_advisories", "get_global_security_advisory", "list_repository_security_advisories",
		"list_org_repository_security_advisories", "issue_write", "sub_issue_write", "label_write", "assign_copilot_to_issue",
		"discussion_comment_write", "projects_write", "update_pull_request", "pull_request_review_write",
		"add_comment_to_pending_review", "add_reply_to_pull_request_comment", "request_copilot_review", "create_gist",
		"update_gist", "star_repository", "unstar_repository", "actions_run_trigger", "dismiss_notification",
		"mark_all_notifications_read", "manage_notification_subscription", "manage_repository_notification_subscription",
	},
	"slack": {
		"slack_search_channels", "slack_list_channel_members", "slack_search_users", "slack_read_user_profile",
		"slack_search_public", "slack_read_channel", "slack_read_thread", "slack_send_message_draft",
		"slack_search_public_and_private", "slack_read_canvas", "slack_read_file", "slack_send_message",
		"slack_schedule_message", "slack_create_canvas", "slack_update_canvas", "slack_create_conversation",
	},
}

// shut are tools that no rule names: everything else is refused.
var shut = []string{"get-env", "get-roots-list"}

// witnesses are names that only a glob has, for fixtures that tell it from a narrower one.
var witnesses = []string{"read_", "performance__trace", "screencast_"}

// tool is what a server declares.
type tool struct {
	Name        string
	InputSchema struct{ Properties map[string]any }
}

// rule is what a profile says of tools.
type rule struct {
	Action   string
	Tool     any // a glob, or a list of them
	Args     map[string]any
	Where    map[string]any
	ArgsOnly any `toml:"args_only"`
	Find     []string
	On       string
}

// globs are those of the tools that the rule is about.
func (r *rule) globs(t *testing.T) (all globs) {
	t.Helper()
	list, ok := r.Tool.([]any)
	if !ok && r.Tool != nil {
		list = []any{r.Tool}
	}
	for _, text := range list {
		pattern, err := glob.Compile(text.(string))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pattern)
	}
	return all
}

type globs []*glob.Pattern

func (all globs) Match(name string) bool {
	return slices.ContainsFunc(all, func(p *glob.Pattern) bool { return p.Match(name) })
}

// only are the names that a rule lists in args_only.
func (r *rule) only() (names []string) {
	list, _ := r.ArgsOnly.([]any)
	for _, name := range list {
		names = append(names, name.(string))
	}
	return names
}

// closed are the profiles whose rules say all that the server's tools take. Those of
// github and slack are for two servers, and that of shell asks where it does not know.
var closed = []string{"filesystem", "postgres", "browser", "chrome-devtools", "memory", "context7", "sequential-thinking", "everything"}

// apart are arguments that a rule above asks about, or that keep a call shut.
var apart = map[string][]string{
	"browser": {"filename", "url"},
	"chrome-devtools": {
		"url", "filePath", "requestFilePath", "responseFilePath", "outputDirPath", "initScript", "extraHttpHeaders",
	},
}

// TestProfilesNameRealTools holds each profile to what its server declares: no
// rule for a tool or an argument that does not exist, no tool that was
// forgotten, no fixture that shows a call nobody can make.
func TestProfilesNameRealTools(t *testing.T) {
	for _, p := range fixtures.ListProfiles() {
		t.Run(p.Name, func(t *testing.T) {
			src, err := fixtures.ComposePolicy(p.Name)
			if err != nil {
				t.Fatal(err)
			}
			s := newSite(t, string(src))
			server := packages(s)[p.Name]
			if server == nil {
				if slices.Contains(python, p.Name) {
					t.Log("a Python package; its names are those of its documentation")
					return
				}
				if p.Name == "coding-agent" {
					t.Log("of no server: internal/text/builtin has the agents' tools")
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
		if r.Tool == nil {
			continue // of prompts or resources
		}
		pattern := r.globs(t)
		for _, one := range pattern {
			if !slices.ContainsFunc(others, one.Match) && !slices.ContainsFunc(declared, func(tl tool) bool { return one.Match(tl.Name) }) {
				t.Errorf("a tool of %v is none", r.Tool)
			}
		}
		arguments := map[string]bool{}
		for _, tl := range declared {
			if !pattern.Match(tl.Name) {
				continue
			}
			covered[tl.Name] = covered[tl.Name] || r.Tool != "*" && r.Find == nil && r.On == ""
			for name := range tl.InputSchema.Properties {
				arguments[name] = true
			}
		}
		for _, conditions := range []map[string]any{r.Args, r.Where} {
			for name := range conditions {
				if !arguments[name] && !slices.ContainsFunc(others, pattern.Match) {
					t.Errorf("no tool %v has an argument %s", r.Tool, name)
				}
			}
		}
	}
	for _, tl := range declared {
		if !covered[tl.Name] && !slices.Contains(shut, tl.Name) {
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
		if r.Tool == nil || r.Action == "deny" {
			continue
		}
		if r.ArgsOnly == nil {
			if r.Action == "allow" && slices.Contains(closed, profile) {
				t.Errorf("the allow for %v does not say which arguments there are", r.Tool)
			}
			continue
		}
		pattern := r.globs(t)
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
				t.Errorf("args_only of the rule for %v lists %s, which no tool has, or the rule names", r.Tool, name)
			}
			delete(arguments, name)
		}
		for _, name := range apart[profile] {
			delete(arguments, name)
		}
		for name := range arguments {
			t.Errorf("args_only of the rule for %v lacks %s", r.Tool, name)
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
		if strings.Contains(params.Name, "/") {
			continue // a hostile server's, which a "*" would let pass (policy lint, star-stops-at-slash)
		}
		real := slices.ContainsFunc(declared, func(tl tool) bool { return tl.Name == params.Name })
		if !real && !slices.Contains(others, params.Name) && !slices.Contains(witnesses, params.Name) {
			t.Errorf("%s calls %s, which the server does not have", path, params.Name)
		}
	}
}
