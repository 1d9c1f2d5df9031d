package client

// is are the places of something in a payload.
type is = []string

// like is the shape that Claude Code has given to hooks and others have taken over.
func like(r Row) *Row {
	r.Event, r.Session, r.Cwd = is{"hook_event_name", "hookEventName"}, is{"session_id", "sessionId"}, is{"cwd"}
	r.Call, r.Tool, r.Input = is{"tool_use_id", "toolUseId"}, is{"tool_name"}, is{"tool_input"}
	if r.MCPServer == nil {
		r.MCPServer = is{"mcp_server.name"}
	}
	if r.MCP == noMCP {
		r.MCP = doubled
	}
	if r.Deny == Plain {
		r.Deny = Specific
	}
	if r.Events == nil {
		r.Events = likeEvents
	}
	return &r
}

var likeEvents = []Event{
	{Name: "PreToolUse", Kind: Before}, {Name: "SessionStart", Kind: Session}, {Name: "UserPromptSubmit", Kind: Prompt},
	{Name: "PostToolUse", Kind: Other}, {Name: "PostToolUseFailure", Kind: Other}, {Name: "SessionEnd", Kind: Other}, {Name: "Stop", Kind: Other},
	{Name: "SubagentStart", Kind: Other}, {Name: "SubagentStop", Kind: Other}, {Name: "PreCompact", Kind: Other}, {Name: "Notification", Kind: Other},
}

var geminiEvents = []Event{
	{Name: "BeforeTool", Kind: Before}, {Name: "SessionStart", Kind: Session}, {Name: "BeforeAgent", Kind: Prompt},
	{Name: "AfterTool", Kind: Other}, {Name: "AfterAgent", Kind: Other}, {Name: "SessionEnd", Kind: Other}, {Name: "PreCompress", Kind: Other},
	{Name: "Notification", Kind: Other},
}

// rows are in the order of the catalogue of wrap --hooks. What each client does with an
// answer, and what it never shows a hook, stands in docs/hooks.md. All of it is constant: what
// a start of the hook would have to make first, each call would pay for.
var rows = []Row{
	{ID: "claude-code", Like: true, Camel: "vscode", NeedSession: true, NeedCall: true, Asks: true, Begun: is{"source"}, Attended: "CLAUDE_CODE_SESSION_ATTENDED", Project: is{"CLAUDE_PROJECT_DIR"}},
	{ID: "codex", Like: true, NeedSession: true},
	{ID: "gemini-cli", Like: true, NeedSession: true, Events: geminiEvents, MCP: single, MCPServer: is{"mcp_context.server_name"}, MCPTool: is{"mcp_context.tool_name"},
		Deny: Decision, Project: is{"GEMINI_PROJECT_DIR"}},
	{ID: "cursor", Event: is{"hook_event_name"}, Session: is{"conversation_id", "session_id"}, NeedSession: true, Call: is{"tool_use_id", "generation_id"},
		Cwd: is{"cwd", "workspace_roots"}, Tool: is{"tool_name"}, Input: is{"tool_input"}, MCP: colon, Deny: Permission, Project: is{"CURSOR_PROJECT_DIR"},
		Events: []Event{
			{Name: "preToolUse", Kind: Before}, {Name: "beforeShellExecution", Kind: Before, Tool: "Shell", Asks: true},
			{Name: "beforeMCPExecution", Kind: Before, Asks: true}, {Name: "beforeReadFile", Kind: Before, Tool: "Read"},
			{Name: "sessionStart", Kind: Session}, {Name: "beforeSubmitPrompt", Kind: Prompt}, {Name: "postToolUse", Kind: Other},
			{Name: "afterShellExecution", Kind: Other}, {Name: "afterMCPExecution", Kind: Other}, {Name: "afterFileEdit", Kind: Other},
			{Name: "stop", Kind: Other}, {Name: "sessionEnd", Kind: Other},
		}},
	{ID: "vscode", Like: true, NeedSession: true, Asks: true, Deny: TopLevel},
	{ID: "copilot-cli", Event: is{"hook_event_name", "hookEventName", "hookName"}, Session: is{"sessionId", "session_id"}, Call: is{"toolCallId", "tool_use_id"}, Cwd: is{"cwd"},
		Tool: is{"toolName", "tool_name"}, Input: is{"toolArgs", "tool_input"}, Deny: TopLevel,
		Events: []Event{
			{Name: "", Kind: Before}, {Name: "preToolUse", Kind: Before}, {Name: "PreToolUse", Kind: Before},
			{Name: "sessionStart", Kind: Session}, {Name: "SessionStart", Kind: Session}, {Name: "userPromptSubmitted", Kind: Prompt},
			{Name: "UserPromptSubmit", Kind: Prompt}, {Name: "postToolUse", Kind: Other}, {Name: "PostToolUse", Kind: Other},
		}},
	{ID: "windsurf", Event: is{"agent_action_name"}, Session: is{"trajectory_id"}, NeedSession: true, Call: is{"execution_id"}, Cwd: is{"tool_info.cwd"},
		Input: is{"tool_info"}, MCPServer: is{"tool_info.mcp_server_name"}, MCPTool: is{"tool_info.mcp_tool_name"}, MCP: apart,
		Events: []Event{
			{Name: "pre_run_command", Kind: Before, Tool: "run_command"}, {Name: "pre_read_code", Kind: Before, Tool: "read_code"},
			{Name: "pre_write_code", Kind: Before, Tool: "write_code"}, {Name: "pre_mcp_tool_use", Kind: Before},
			{Name: "pre_user_prompt", Kind: Prompt}, {Name: "post_run_command", Kind: Other}, {Name: "post_read_code", Kind: Other},
			{Name: "post_write_code", Kind: Other}, {Name: "post_mcp_tool_use", Kind: Other},
		}},
	{ID: "cline", Event: is{"hookName"}, Session: is{"taskId"}, NeedSession: true, Cwd: is{"workspaceRoots"}, Tool: is{"preToolUse.toolName"},
		Input: is{"preToolUse.parameters"}, MCPServer: is{"preToolUse.parameters.server_name"}, MCPTool: is{"preToolUse.parameters.tool_name"}, MCP: apart,
		Deny: Cancel, Events: []Event{
			{Name: "PreToolUse", Kind: Before}, {Name: "TaskStart", Kind: Session}, {Name: "TaskResume", Kind: Session}, {Name: "UserPromptSubmit", Kind: Prompt},
			{Name: "PostToolUse", Kind: Other}, {Name: "TaskCancel", Kind: Other}, {Name: "TaskComplete", Kind: Other}, {Name: "PreCompact", Kind: Other},
		}},
	{ID: "qwen-code", Like: true, NeedSession: true},
	{ID: "factory", Like: true, NeedSession: true, Project: is{"FACTORY_PROJECT_DIR"}},
	{ID: "kiro", Like: true, MCP: slashed, Deny: Specific, Events: []Event{
		{Name: "preToolUse", Kind: Before}, {Name: "agentSpawn", Kind: Session}, {Name: "userPromptSubmit", Kind: Prompt},
		{Name: "PreToolUse", Kind: Before}, {Name: "SessionStart", Kind: Session}, {Name: "UserPromptSubmit", Kind: Prompt}, // of v3
		{Name: "postToolUse", Kind: Other}, {Name: "PostToolUse", Kind: Other}, {Name: "stop", Kind: Other},
	}},
	{ID: "antigravity", Event: is{"hook_event_name", "hookEventName", "eventName"}, Session: is{"conversationId"}, NeedSession: true, Call: is{"toolCall.id"},
		Cwd: is{"cwd", "workspacePaths"}, Tool: is{"toolCall.name"}, Input: is{"toolCall.args"}, Deny: Decision,
		Events: []Event{{Name: "", Kind: Before}, {Name: "PreToolUse", Kind: Before}, {Name: "PostToolUse", Kind: Other}}},
	{ID: "goose", Like: true, NeedSession: true, MCP: extension},
	// Its payload is written by our plugin (wrap's catalogue), which knows the servers.
	{ID: "opencode", Like: true, NeedSession: true, NeedCall: true, MCP: single, MCPTool: is{"mcp_server.tool"}, Events: []Event{{Name: "tool.execute.before", Kind: Before}}},
}
