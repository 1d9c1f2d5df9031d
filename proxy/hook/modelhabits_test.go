package hook_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/hook/client"
)

// What a client makes of a call of its model before a hook sees it: the calls that the rules judge.
func TestWhatClientsMakeOfAModelsCall(t *testing.T) {
	const github = "github"
	for _, c := range []struct {
		client, tool, args string
		owners, others     []string
		want               string // SERVER TOOL ARGUMENTS; the calls in order. "": refused
	}{
		// Claude Code decodes \uXXXX that stands in a text.
		{"claude-code", "Bash", `{"command":"touch a"}`, nil, nil, `claude-code Bash {"command":"touch a"}`},
		{"claude-code", "Bash", `{"command":"t\\u006fuch a"}`, nil, nil, `claude-code Bash {"command":"t\\u006fuch a"}; claude-code Bash {"command":"touch a"}`},
		{"claude-code", "Bash", `{"command":"t\u005cu006fuch a"}`, nil, nil, `claude-code Bash {"command":"t\u005cu006fuch a"}; claude-code Bash {"command":"touch a"}`},
		{"claude-code", "Bash", `{"command":"t\\u006Fuch \\u0061"}`, nil, nil, `claude-code Bash {"command":"t\\u006Fuch \\u0061"}; claude-code Bash {"command":"touch a"}`},
		{"claude-code", "Bash", `{"command":"a\\\\u006f"}`, nil, nil, `claude-code Bash {"command":"a\\\\u006f"}`},
		{"claude-code", "Bash", `{"command":"a\\\\\\u006f"}`, nil, nil, `claude-code Bash {"command":"a\\\\\\u006f"}; claude-code Bash {"command":"a\\\\o"}`},
		{"claude-code", "Bash", `{"command":"\\ud83d\\ude00"}`, nil, nil, `claude-code Bash {"command":"\\ud83d\\ude00"}; claude-code Bash {"command":"\ud83d\ude00"}`},
		{"claude-code", "Bash", `{"command":"\\ud83d \\u000a \\u009f"}`, nil, nil, `claude-code Bash {"command":"\\ud83d \\u000a \\u009f"}`},
		{"claude-code", "Read", `{"file_path":"/work/\\u002e\\u002e/etc/passwd"}`, nil, nil, `claude-code Read {"file_path":"/work/\\u002e\\u002e/etc/passwd"}; claude-code Read {"file_path":"/work/../etc/passwd"}`},
		{"claude-code", "mcp__github__push", `{"files":[{"p":"\\u002f"}]}`, []string{github}, nil, `github push {"files":[{"p":"\\u002f"}]}; github push {"files":[{"p":"/"}]}`},
		{"codex", "exec_command", `{"cmd":"t\\u006fuch a"}`, nil, nil, `codex exec_command {"cmd":"t\\u006fuch a"}`},
		// Blanks at the end of a name are not there for some clients, and no tool has them.
		{"qwen-code", "run_shell_command ", `{"command":"a"}`, nil, nil, ""},
		{"qwen-code", "\trun_shell_command", `{"command":"a"}`, nil, nil, ""},
		{"gemini-cli", "run_shell_command\u00a0", `{"command":"a"}`, nil, nil, ""},
		{"claude-code", "\ufeffBash", `{"command":"a"}`, nil, nil, ""},
		{"claude-code", strings.Repeat("x", 201), `{}`, nil, nil, ""},
		// Qwen's bridge calls another tool.
		{"qwen-code", "tool_call", `{"name":"run_shell_command","arguments":{"command":"a"}}`, nil, nil, `qwen-code run_shell_command {"command":"a"}`},
		{"qwen-code", "tool_call", `{"name":" Run_Shell_Command ","arguments":{"command":"a"}}`, nil, nil, `qwen-code run_shell_command {"command":"a"}`},
		{"qwen-code", "tool_call", `{"name":"mcp__github__delete","arguments":{"repo":"a"}}`, []string{github}, nil, `github delete {"repo":"a"}`},
		{"qwen-code", "tool_call", `{"name":"MCP__GITHUB__DELETE","arguments":{"repo":"a"}}`, []string{"GitHub"}, nil, `GitHub DELETE {"repo":"a"}`},
		{"qwen-code", "tool_call", `{"name":"\u212aill"}`, nil, nil, ""}, // a client's small letters make "kill" of it
		{"qwen-code", "tool_call", `{"name":"mcp__github__delete"}`, []string{github}, nil, `github delete `},
		{"qwen-code", "tool_call", `{"arguments":{"command":"a"}}`, nil, nil, ""},
		{"qwen-code", "tool_call", `{"name":["x"],"arguments":{}}`, nil, nil, ""},
		{"qwen-code", "tool_call", `{"name":"x","arguments":[1]}`, nil, nil, ""},
		{"claude-code", "tool_call", `{"name":"Bash"}`, nil, nil, `claude-code tool_call {"name":"Bash"}`},
		// opencode finds a tool in small letters, and names a server's tool SERVER_TOOL.
		{"opencode", "bash", `{"command":"a"}`, nil, nil, `opencode bash {"command":"a"}`},
		{"opencode", "BASH", `{"command":"a"}`, nil, nil, `opencode bash {"command":"a"}`},
		{"opencode", "Read", `{"filePath":"/a"}`, nil, nil, `opencode read {"filePath":"/a"}`},
		{"opencode", "github_delete_repo", `{}`, []string{github}, nil, `github delete_repo {}`},
		{"opencode", "GitHub_delete_repo", `{}`, []string{github}, nil, `github delete_repo {}`},
		{"opencode", "git_hub_delete", `{}`, []string{"git.hub"}, nil, `git.hub delete {}`},
		{"opencode", "github_delete_repo", `{}`, nil, []string{github}, `opencode github_delete_repo {}; github delete_repo {}`},
		{"opencode", "my_own_tool", `{}`, []string{github}, nil, `opencode my_own_tool {}`},
		{"opencode", "mcp_x_y", `{}`, []string{"mcp"}, nil, `mcp x_y {}`},
		{"opencode", "apply_patch", `{"patchText":"*** Add File: a\n"}`, []string{"apply"}, nil, `opencode apply_patch {"path":["a"],"patchText":"*** Add File: a\n"}`},
	} {
		req, err := client.FindRow(c.client).ReadModelCall(client.ModelCall{Tool: c.tool, Args: []byte(c.args), Cwd: "/p"})
		if err == nil && req.HasSpelledServer() {
			req.NarrowServers(c.owners, c.others)
		}
		var got []string
		for i := range req.Calls {
			call := &req.Calls[i]
			got = append(got, fmt.Sprintf("%s %s %s", call.Server, strings.Join(call.Names, "|"), call.Args))
		}
		text := strings.Join(got, "; ")
		if err != nil {
			text = ""
		}
		if text != c.want {
			t.Errorf("%s %s %s: %v\n got %s\nwant %s", c.client, c.tool, c.args, err, text, c.want)
		}
	}
}

// A denial of a tool holds for whatever letters the client would find it by.
func TestDeniedInOtherLetters(t *testing.T) {
	p, err := policy.Parse("policy.toml", []byte("[[rule]]\naction = \"deny\"\nserver = \"github\"\ntool = \"deleteRepo*\"\n\n[[rule]]\naction = \"allow\"\ntool = \"*\"\n"), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		client, tool, args string
		want               policy.Action
	}{
		{"opencode", "github_deleteRepo", `{}`, policy.Deny},
		{"opencode", "GITHUB_DELETEREPO", `{}`, policy.Deny},
		{"opencode", "GitHub_DeleteRepos", `{}`, policy.Deny},
		{"opencode", "github_list", `{}`, policy.Allow},
		{"qwen-code", "tool_call", `{"name":"mcp__github__deleterepo","arguments":{}}`, policy.Deny},
		{"qwen-code", "tool_call", `{"name":"MCP__github__deleteREPO","arguments":{}}`, policy.Deny},
		{"qwen-code", "tool_call", `{"name":"mcp__github__list","arguments":{}}`, policy.Allow},
		{"qwen-code", "mcp__github__deleteRepo", `{}`, policy.Deny},
	} {
		req, err := client.FindRow(c.client).ReadModelCall(client.ModelCall{Tool: c.tool, Args: []byte(c.args)})
		if err != nil {
			t.Errorf("%s %s: %v", c.client, c.tool, err)
			continue
		}
		req.NarrowServers([]string{"github"}, nil)
		if got := p.DecideAll(req.Calls).Action; got != c.want {
			t.Errorf("%s %s %s: %v", c.client, c.tool, c.args, got)
		}
	}
}
