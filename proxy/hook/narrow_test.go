package hook_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/hook"
	"github.com/clawai/clawai/proxy/hook/client"
)

// A rule names a server as the client's files do; the client writes it into the tool's name
// with other characters.
func TestServersAsTheFilesNameThem(t *testing.T) {
	like := func(tool string) string {
		return `{"session_id":"s","transcript_path":"/t","cwd":"/p","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"` + tool + `","tool_input":{},"tool_use_id":"u"}`
	}
	vscode := func(tool string) string {
		return `{"timestamp":"t","transcript_path":"/t","session_id":"s","hook_event_name":"PreToolUse","tool_name":"` + tool + `","tool_input":{},"tool_use_id":"u"}`
	}
	goose := func(tool string) string {
		return `{"event":"PreToolUse","session_id":"s","tool_name":"` + tool + `","tool_input":{},"working_dir":"/p","tool_call_id":"u"}`
	}
	const codex = `{"session_id":"s","turn_id":"t","cwd":"/p","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"mcp__my_notes__delete","tool_input":{},"tool_use_id":"u"}`
	for _, c := range []struct {
		client, payload string
		files, want     []string
		others          []string
	}{
		{"claude-code", like("mcp__my_server__delete"), []string{"my.server"}, []string{"my.server"}, nil},
		{"claude-code", like("mcp__io_github_a_b__delete"), []string{"io.github.a/b", "other"}, []string{"io.github.a/b"}, nil},
		{"claude-code", like("mcp__my_server__delete"), []string{"my server", "my_server"}, []string{"my server", "my_server"}, nil},
		{"claude-code", like("mcp__a_connector__delete"), []string{"other"}, []string{"a_connector"}, nil},
		{"codex", codex, []string{"my-notes"}, []string{"my-notes"}, nil},
		{"goose", goose("mynotes__delete"), []string{"My Notes"}, []string{"My Notes"}, nil},
		{"vscode", vscode("mcp_io.github.git_delete"), []string{"io.github.github/github-mcp-server"}, []string{"io.github.github/github-mcp-server"}, nil},
		{"vscode", vscode("mcp_my_server_delete"), []string{"My -> Server", "My & @ Server"}, []string{"My & @ Server"}, nil},
		{"vscode", vscode("mcp_github2_delete"), []string{"github"}, []string{"github2", "github"}, nil},
		{"vscode", vscode("mcp_io.github.gi2_delete"), []string{"io.github.github/x"}, []string{"io.github.gi2", "io.github.github/x"}, nil},
		{"vscode", vscode("mcp_git2_delete"), []string{"github"}, []string{"git2"}, nil},
		{"vscode", vscode("mcp_io_github_git_delete"), []string{"io.github.github/github-mcp-server"}, []string{"io.github.github/github-mcp-server"}, nil},
		{"vscode", vscode("mcp_github-enterp_delete"), nil, []string{"github-enterp", "github-enterprise"}, []string{"github-enterprise"}},
		{"vscode", vscode("mcp_github-enterp_delete"), []string{"github-enterprise"}, []string{"github-enterprise"}, nil},
		{"vscode", vscode("mcp_github-enterp_delete"), []string{"github-enterprise"}, []string{"github-enterprise", "github-enterprise-two"}, []string{"github-enterprise-two", "other"}},
		{"claude-code", like("mcp__my_server__delete"), nil, []string{"my_server", "my.server"}, []string{"my.server"}},
	} {
		req, err := client.FindRow(c.client).Read([]byte(c.payload), "")
		if err != nil {
			t.Errorf("%s: %v", c.payload, err)
			continue
		}
		if req.Row.ID != c.client || !req.HasSpelledServer() {
			t.Errorf("%s: read as one of %s, spelled %v", c.payload, req.Row.ID, req.HasSpelledServer())
		}
		req.NarrowServers(c.files, c.others)
		var got []string
		for _, call := range req.Calls {
			got = append(got, call.Server)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %q: %q, want %q", c.payload, c.files, got, c.want)
		}
	}
}

// VS Code writes "_" for each "." of a name, and cuts it: a rule by the server's own name holds.
func TestNamesAsVSCodeWritesThem(t *testing.T) {
	p, err := policy.Parse("p", []byte(`
[[rule]]
action = "deny"
server = "github"
tool = ["repo.delete", "`+strings.Repeat("long.", 14)+`"]
[[rule]]
action = "allow"
server = "github"
tool = "*"
`), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for tool, denied := range map[string]bool{
		"repo_delete": true, "repo.delete": true, "repo_deleted": false, "list_issues": false,
		strings.Repeat("long_", 14)[:64-len("mcp_github_")]: true, strings.Repeat("long_", 14)[:63-len("mcp_github_")]: false,
	} {
		payload := `{"timestamp":"t","transcript_path":"/t","session_id":"s","hook_event_name":"PreToolUse","tool_name":"mcp_github_` + tool + `","tool_input":{},"tool_use_id":"u"}`
		o := options(p, "vscode", &record{})
		o.Servers = func(*client.Row, string) ([]string, []string) { return []string{"github"}, nil }
		if a := hook.Run(t.Context(), []byte(payload), o); (a.Code == 2) != denied {
			t.Errorf("%s: exit %d %s", tool, a.Code, a.Stderr)
		}
	}
}

// A payload that has no client's form, with a tool that another brings along, is not judged
// under the name of the client that was registered.
func TestToolOfAnother(t *testing.T) {
	payload := func(tool string) []byte {
		return []byte(`{"timestamp":"t","session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","client_type":"x","tool_name":"` + tool + `","tool_input":{"command":"x"},"tool_use_id":"u"}`)
	}
	if req, err := client.FindRow("claude-code").Read(payload("run_in_terminal"), ""); err == nil {
		t.Errorf("judged as one of %s", req.Row.ID)
	}
	for _, tool := range []string{"Bash", "NobodysTool", "mcp__a__b"} {
		if req, err := client.FindRow("claude-code").Read(payload(tool), ""); err != nil || req.Row.ID != "claude-code" {
			t.Errorf("%s: %v, %s", tool, err, req.Row.ID)
		}
	}
}
