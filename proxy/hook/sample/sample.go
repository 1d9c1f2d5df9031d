// Package sample holds, for each client, one request to run a shell command. The request has the
// client's current form. `clawai doctor` passes this request to the hook command in the file of an
// installed client.
package sample

import "strings"

// CommandRequest returns a client's request to run a command. It returns false if there is none for
// this client. The command must not have characters that JSON escapes.
func CommandRequest(client, command string) ([]byte, bool) {
	text, ok := requests[client]
	return []byte(strings.ReplaceAll(text, "COMMAND", command)), ok
}

const like = `"session_id":"doctor","cwd":"/","hook_event_name":"PreToolUse",`

var requests = map[string]string{
	"claude-code": `{` + like + `"transcript_path":"/t","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"COMMAND"},"tool_use_id":"toolu_1"}`,
	"codex":       `{` + like + `"turn_id":"t","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"COMMAND"},"tool_use_id":"c"}`,
	"gemini-cli": `{"session_id":"doctor","transcript_path":"/t","cwd":"/","hook_event_name":"BeforeTool","timestamp":"t","tool_name":"run_shell_command",` +
		`"tool_input":{"command":"COMMAND"}}`,
	"cursor": `{"conversation_id":"doctor","generation_id":"g","hook_event_name":"preToolUse","cursor_version":"3.16","workspace_roots":["/"],` +
		`"tool_name":"Shell","tool_input":{"command":"COMMAND"},"tool_use_id":"t","cwd":"/"}`,
	"vscode":      `{"timestamp":"t","cwd":"/","hook_event_name":"PreToolUse","session_id":"doctor","transcript_path":"/t","tool_name":"run_in_terminal","tool_input":{"command":"COMMAND"},"tool_use_id":"t"}`,
	"copilot-cli": `{"sessionId":"doctor","timestamp":1,"cwd":"/","toolName":"bash","toolArgs":{"command":"COMMAND"}}`,
	"windsurf":    `{"agent_action_name":"pre_run_command","trajectory_id":"doctor","execution_id":"e","tool_info":{"command_line":"COMMAND","cwd":"/"}}`,
	"cline": `{"clineVersion":"","taskId":"doctor","workspaceRoots":["/"],"parent_agent_id":null,"hookName":"tool_call",` +
		`"tool_call":{"id":"1","name":"run_commands","input":{"commands":["COMMAND"]}},"preToolUse":{"toolName":"run_commands","parameters":{"commands":"[\"COMMAND\"]"}}}`,
	"qwen-code": `{` + like + `"transcript_path":"/t","timestamp":"t","permission_mode":"default","tool_name":"run_shell_command",` +
		`"tool_input":{"command":"COMMAND"},"tool_use_id":"toolu_1","tool_call_id":"c"}`,
	"factory":     `{` + like + `"transcript_path":"/t","permission_mode":"auto-low","tool_name":"Execute","tool_input":{"command":"COMMAND"}}`,
	"kiro":        `{"hook_event_name":"PreToolUse","cwd":"/","tool_name":"execute_bash","tool_input":{"command":"COMMAND"}}`,
	"antigravity": `{"conversationId":"doctor","stepIdx":1,"toolCall":{"name":"run_command","args":{"CommandLine":"COMMAND","Cwd":"/"}},"workspacePaths":["/"]}`,
	"goose": `{"event":"PreToolUse","session_id":"doctor","matcher_context":"developer__shell","tool_call_id":"c","tool_name":"developer__shell",` +
		`"tool_input":{"command":"COMMAND"},"working_dir":"/"}`,
	"kimi-code": `{` + like + `"client_type":"kimi_code_cli","tool_name":"Bash","tool_input":{"command":"COMMAND"},"tool_call_id":"c"}`,
	"grok": `{"hookEventName":"pre_tool_use","sessionId":"doctor","cwd":"/","workspaceRoot":"/","permissionMode":"default","toolName":"run_terminal_command",` +
		`"toolUseId":"u","toolInput":{"command":"COMMAND"},"timestamp":"t"}`,
	"devin":    `{"hook_event_name":"PreToolUse","session_id":"doctor","tool_name":"exec","tool_input":{"command":"COMMAND"}}`,
	"opencode": `{"hook_event_name":"tool.execute.before","session_id":"doctor","tool_use_id":"c","cwd":"/","tool_name":"bash","tool_input":{"command":"COMMAND"}}`,
}
