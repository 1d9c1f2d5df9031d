package client

// is lists places in a payload.
type is = []string

// likeClaude returns a row with the payload shape of Claude Code, which other clients have
// adopted.
func likeClaude(r Row) *Row {
	r.Event, r.Session, r.Cwd = is{"hook_event_name"}, is{"session_id"}, is{"cwd"}
	r.Call, r.Tool, r.Input = is{"tool_use_id", "tool_call_id"}, is{"tool_name"}, is{"tool_input"}
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
	{Name: "PostToolUse", Kind: Other}, {Name: "PostToolUseFailure", Kind: Other}, {Name: "PostToolBatch", Kind: Other},
	{Name: "SessionEnd", Kind: Other}, {Name: "Stop", Kind: Other}, {Name: "StopFailure", Kind: Other},
	{Name: "SubagentStart", Kind: Other}, {Name: "SubagentStop", Kind: Other}, {Name: "PreCompact", Kind: Other}, {Name: "PostCompact", Kind: Other},
	{Name: "PostCompaction", Kind: Other}, {Name: "Notification", Kind: Other}, {Name: "PermissionRequest", Kind: Other}, {Name: "PermissionDenied", Kind: Other},
	{Name: "UserPromptExpansion", Kind: Other}, {Name: "InstructionsLoaded", Kind: Other}, {Name: "ConfigChange", Kind: Other}, {Name: "CwdChanged", Kind: Other},
	{Name: "FileChanged", Kind: Other}, {Name: "TaskCreated", Kind: Other}, {Name: "TaskCompleted", Kind: Other}, {Name: "TeammateIdle", Kind: Other},
	{Name: "Elicitation", Kind: Other}, {Name: "ElicitationResult", Kind: Other}, {Name: "WorktreeCreate", Kind: Other}, {Name: "WorktreeRemove", Kind: Other},
	{Name: "Setup", Kind: Other}, {Name: "MessageDisplay", Kind: Other}, {Name: "Interrupt", Kind: Other}, {Name: "PermissionResult", Kind: Other},
	{Name: "UserPromptQueued", Kind: Other}, {Name: "TurnStarted", Kind: Other}, {Name: "TurnEnded", Kind: Other}, {Name: "TaskStarted", Kind: Other},
	{Name: "TodoCreated", Kind: Other}, {Name: "TodoCompleted", Kind: Other},
}

var geminiEvents = []Event{
	{Name: "BeforeTool", Kind: Before}, {Name: "SessionStart", Kind: Session}, {Name: "BeforeAgent", Kind: Prompt},
	{Name: "AfterTool", Kind: Other}, {Name: "AfterAgent", Kind: Other}, {Name: "SessionEnd", Kind: Other}, {Name: "PreCompress", Kind: Other},
	{Name: "BeforeModel", Kind: Other}, {Name: "AfterModel", Kind: Other}, {Name: "BeforeToolSelection", Kind: Other}, {Name: "Notification", Kind: Other},
}

// The modes in which Claude Code shows its dialog for a hook's question. In auto, dontAsk,
// bypassPermissions and unknown modes something else may answer.
var claudeModes = is{"", "default", "acceptEdits", "plan"}

// rows are in the order of the catalogue of wrap --hooks. If several clients write the same
// payload, the first one counts. docs/hooks.md describes what each client does with an answer and
// what it never shows a hook. The table is constant, because each start of the hook would pay for
// building it.
var rows = []Row{
	{ID: "claude-code", Seen: "2.1.330", From: Real, Like: true, NeedSession: true, NeedCall: true, Marks: is{"prompt_id", "effort", "agent_type"}, Without: is{"timestamp", "client_type", "!cwd"},
		Asks: true, Modes: claudeModes, Begun: is{"source"}, Attended: "CLAUDE_CODE_SESSION_ATTENDED", Project: is{"CLAUDE_PROJECT_DIR"}},
	{ID: "codex", Seen: "0.169.0", From: Real, Like: true, NeedSession: true, Marks: is{"turn_id"}, Without: is{"timestamp", "client_type", "tool_name&!turn_id", "prompt&!turn_id", "!cwd"}},
	{ID: "gemini-cli", Seen: "0.61.0", From: Real, Like: true, NeedSession: true, Events: geminiEvents, MCP: single, MCPServer: is{"mcp_context.server_name"}, MCPTool: is{"mcp_context.tool_name"},
		Marks: is{"timestamp"}, Without: is{"permission_mode", "!transcript_path"}, Deny: Decision, Project: is{"GEMINI_PROJECT_DIR"}},
	// With failClosed, Cursor treats an allowed call without output as a broken hook.
	{ID: "cursor", Seen: "3.16", From: FromUsers, Version: is{"cursor_version"}, Event: is{"hook_event_name"}, Session: is{"conversation_id", "session_id"}, NeedSession: true, Call: is{"tool_use_id", "generation_id"},
		Cwd: is{"cwd", "workspace_roots"}, Tool: is{"tool_name"}, Input: is{"tool_input"}, MCP: colon, Deny: Permission, Project: is{"CURSOR_PROJECT_DIR"},
		Marks: is{"cursor_version", "conversation_id", "generation_id", "workspace_roots"}, Without: is{"!conversation_id&!generation_id&!cursor_version"}, Modes: is{""},
		Allow: `{"permission":"allow"}`, Pass: `{}`,
		Events: []Event{
			{Name: "preToolUse", Kind: Before}, {Name: "beforeShellExecution", Kind: Before, Tool: "Shell", Asks: true},
			{Name: "beforeMCPExecution", Kind: Before, Asks: true}, {Name: "beforeReadFile", Kind: Before, Tool: "Read"},
			{Name: "beforeTabFileRead", Kind: Before, Tool: "Read"},
			// Cursor runs the hooks in Claude Code's file with Claude's event names and its own
			// members.
			{Name: "PreToolUse", Kind: Before}, {Name: "UserPromptSubmit", Kind: Prompt, Pass: `{"continue":true}`}, {Name: "SessionStart", Kind: Session},
			{Name: "sessionStart", Kind: Session}, {Name: "beforeSubmitPrompt", Kind: Prompt, Pass: `{"continue":true}`}, {Name: "postToolUse", Kind: Other},
			{Name: "afterShellExecution", Kind: Other}, {Name: "afterMCPExecution", Kind: Other}, {Name: "afterFileEdit", Kind: Other},
			{Name: "afterTabFileEdit", Kind: Other}, {Name: "afterAgentResponse", Kind: Other}, {Name: "afterAgentThought", Kind: Other},
			{Name: "postToolUseFailure", Kind: Other}, {Name: "subagentStart", Kind: Other}, {Name: "subagentStop", Kind: Other}, {Name: "preCompact", Kind: Other},
			{Name: "stop", Kind: Other}, {Name: "sessionEnd", Kind: Other},
		}},
	// VS Code's extension host writes hook_event_name and session_id; the earlier documentation
	// had hookEventName and sessionId. Copilot CLI and Qwen Code have the same common members.
	{ID: "vscode", Seen: "1.135", From: FromCode, Event: is{"hook_event_name", "hookEventName"}, Session: is{"session_id", "sessionId"}, NeedSession: true, Call: is{"tool_use_id", "toolUseId"}, Cwd: is{"cwd"},
		Tool: is{"tool_name"}, Input: is{"tool_input"}, MCP: underscored, NameLimit: 64, MCPServer: is{"mcp_server.name"}, Asks: true, Modes: is{""}, Deny: TopLevel, Events: likeEvents,
		Marks: is{"hookEventName", "timestamp", "tool_use_id"}, Without: is{"!timestamp", "permission_mode", "conversation_id", "client_type", "turn_id", "toolInput", "workspaceRoot",
			"tool_name&!tool_use_id", "!tool_name&!transcript_path&!hookEventName"}},
	{ID: "copilot-cli", Seen: "1.0.102", From: Real, Event: is{"hook_event_name", "hookName"}, Session: is{"sessionId", "session_id"}, NeedSession: true, Call: is{"toolCallId", "tool_use_id"}, Cwd: is{"cwd"},
		Tool: is{"toolName", "tool_name"}, Input: is{"toolArgs", "tool_input"}, Deny: TopLevel, MCP: dashed, Servers: is{"github-mcp-server"},
		Marks: is{"toolArgs", "timestamp"}, Without: is{"permission_mode", "conversation_id", "transcript_path", "toolInput", "client_type", "hookEventName", "!timestamp"},
		Events: []Event{
			{Name: "postToolUse", Kind: Other, By: "toolResult"}, {Name: "preToolUse", Kind: Before, By: "toolName"}, {Name: "PreToolUse", Kind: Before},
			{Name: "userPromptSubmitted", Kind: Prompt, By: "prompt"}, {Name: "sessionStart", Kind: Session, By: "source"},
			{Name: "SessionStart", Kind: Session}, {Name: "UserPromptSubmit", Kind: Prompt}, {Name: "PostToolUse", Kind: Other}, {Name: "permissionRequest", Kind: Other},
			{Name: "sessionEnd", Kind: Other, By: "reason"}, {Name: "SessionEnd", Kind: Other}, {Name: "agentStop", Kind: Other, By: "stopReason"}, {Name: "Stop", Kind: Other},
			{Name: "subagentStart", Kind: Other, By: "agentName"}, {Name: "subagentStop", Kind: Other}, {Name: "errorOccurred", Kind: Other, By: "error"},
			{Name: "notification", Kind: Other, By: "message"}, {Name: "preCompact", Kind: Other, By: "trigger"},
		}},
	{ID: "windsurf", Seen: "Cascade hooks of 2026", From: FromCode, Event: is{"agent_action_name"}, Session: is{"trajectory_id"}, NeedSession: true, Call: is{"execution_id"}, Cwd: is{"tool_info.cwd"},
		Input: is{"tool_info"}, MCPServer: is{"tool_info.mcp_server_name"}, MCPTool: is{"tool_info.mcp_tool_name"}, MCP: apart,
		Events: []Event{
			{Name: "pre_run_command", Kind: Before, Tool: "run_command"}, {Name: "pre_read_code", Kind: Before, Tool: "read_code"},
			{Name: "pre_write_code", Kind: Before, Tool: "write_code"}, {Name: "pre_mcp_tool_use", Kind: Before},
			{Name: "pre_user_prompt", Kind: Prompt}, {Name: "post_run_command", Kind: Other}, {Name: "post_read_code", Kind: Other},
			{Name: "post_write_code", Kind: Other}, {Name: "post_mcp_tool_use", Kind: Other}, {Name: "post_cascade_response", Kind: Other},
		}},
	// Cline's extension writes the names of the hook files (PreToolUse); the SDK of its CLI has
	// its own names.
	{ID: "cline", Seen: "3.0.65 (CLI)", From: Real, Event: is{"hookName"}, Session: is{"taskId"}, NeedSession: true, Call: is{"tool_call.id"}, Cwd: is{"workspaceRoots", "workspaceInfo.rootPath"},
		Tool: is{"tool_call.name", "preToolUse.toolName"}, Input: is{"tool_call.input", "preToolUse.parameters"}, MCP: extension, Deny: Cancel, Exit0: true,
		Events: []Event{
			{Name: "PreToolUse", Kind: Before}, {Name: "tool_call", Kind: Before},
			{Name: "TaskStart", Kind: Session}, {Name: "agent_start", Kind: Session}, {Name: "TaskResume", Kind: Session}, {Name: "agent_resume", Kind: Session},
			{Name: "UserPromptSubmit", Kind: Prompt}, {Name: "prompt_submit", Kind: Prompt},
			{Name: "PostToolUse", Kind: Other}, {Name: "tool_result", Kind: Other}, {Name: "TaskCancel", Kind: Other}, {Name: "agent_abort", Kind: Other},
			{Name: "TaskComplete", Kind: Other}, {Name: "agent_end", Kind: Other}, {Name: "TaskError", Kind: Other}, {Name: "agent_error", Kind: Other},
			{Name: "PreCompact", Kind: Other}, {Name: "SessionShutdown", Kind: Other}, {Name: "session_shutdown", Kind: Other}, {Name: "Notification", Kind: Other},
		}},
	{ID: "qwen-code", Seen: "0.24.4", From: Real, Like: true, NeedSession: true, Marks: is{"timestamp", "tool_use_id&tool_call_id"}, Without: is{"client_type", "turn_id", "timestamp&!permission_mode", "!timestamp", "toolInput", "workspaceRoot"}, Project: is{"QWEN_PROJECT_DIR"}},
	{ID: "factory", Seen: "0.186", From: FromCode, Like: true, NeedSession: true, Without: is{"timestamp", "client_type", "turn_id", "tool_use_id", "!permission_mode"}, Project: is{"FACTORY_PROJECT_DIR"}},
	{ID: "kiro", Seen: "CLI 3", From: FromCode, Like: true, MCP: slashed, Deny: Specific, Without: is{"conversation_id", "generation_id", "turn_id", "timestamp", "client_type", "permission_mode", "!cwd"}, Events: []Event{
		{Name: "preToolUse", Kind: Before}, {Name: "agentSpawn", Kind: Session}, {Name: "userPromptSubmit", Kind: Prompt},
		{Name: "PreToolUse", Kind: Before}, {Name: "SessionStart", Kind: Session}, {Name: "UserPromptSubmit", Kind: Prompt}, // names of v3
		{Name: "postToolUse", Kind: Other}, {Name: "PostToolUse", Kind: Other}, {Name: "stop", Kind: Other}, {Name: "Stop", Kind: Other},
	}},
	// Antigravity treats any exit code but 0 as a broken hook, and the tool runs. It reads the
	// output in both cases.
	{ID: "antigravity", Seen: "1.2", From: FromUsers, Event: is{"hook_event_name", "hookEventName", "eventName"}, Session: is{"conversationId"}, NeedSession: true, Call: is{"toolCall.id"},
		Cwd: is{"cwd", "workspacePaths"}, Tool: is{"toolCall.name"}, Input: is{"toolCall.args"}, Deny: Decision, Exit0: true, MCP: underscored,
		Allow: `{"decision":"allow"}`, Pass: `{}`, Marks: is{"conversationId"},
		Events: []Event{{Name: "PreToolUse", Kind: Before, By: "toolCall"}, {Name: "PostToolUse", Kind: Other, By: "stepIdx"},
			{Name: "PreInvocation", Kind: Other, By: "invocationNum"}, {Name: "PostInvocation", Kind: Other}, {Name: "Stop", Kind: Other, By: "terminationReason"}}},
	{ID: "goose", Seen: "1.43", From: FromCode, Event: is{"event"}, Session: is{"session_id"}, NeedSession: true, Call: is{"tool_call_id"}, Cwd: is{"working_dir", "cwd"},
		Tool: is{"tool_name"}, Input: is{"tool_input"}, MCP: extension, Deny: Block, Marks: is{"working_dir"}, Events: likeEvents},
	// The clawai plugin (wrap's catalogue) writes the payload, and the plugin knows the servers.
	{ID: "opencode", Seen: "1.18.34", From: Real, Like: true, NeedSession: true, NeedCall: true, MCP: single, MCPTool: is{"mcp_server.tool"},
		Events: []Event{{Name: "tool.execute.before", Kind: Before}, {Name: "session.start", Kind: Session}, {Name: "chat.message", Kind: Prompt}}},
	{ID: "kimi-code", Seen: "2.1.0", From: Real, Like: true, NeedSession: true, Marks: is{"client_type", "tool_call_id"}, Without: is{"transcript_path", "permission_mode", "tool_use_id", "timestamp", "!client_type&!tool_call_id"}},
	{ID: "grok", Seen: "0.2.32", From: FromCode, Event: is{"hookEventName"}, Session: is{"sessionId"}, NeedSession: true, Call: is{"toolUseId"}, Cwd: is{"cwd", "workspaceRoot"},
		Tool: is{"toolName"}, Input: is{"toolInput"}, MCP: extension, Deny: Decision, Marks: is{"toolInput", "workspaceRoot"}, Project: is{"GROK_PROJECT_DIR"},
		Events: []Event{
			{Name: "pre_tool_use", Kind: Before}, {Name: "session_start", Kind: Session}, {Name: "user_prompt_submit", Kind: Prompt},
			{Name: "post_tool_use", Kind: Other}, {Name: "post_tool_use_failure", Kind: Other}, {Name: "session_end", Kind: Other}, {Name: "stop", Kind: Other},
			{Name: "stop_failure", Kind: Other}, {Name: "subagent_start", Kind: Other}, {Name: "subagent_stop", Kind: Other}, {Name: "pre_compact", Kind: Other},
			{Name: "post_compact", Kind: Other}, {Name: "notification", Kind: Other}, {Name: "permission_request", Kind: Other}, {Name: "permission_denied", Kind: Other},
		}},
	// The payload names no folder; DEVIN_PROJECT_DIR does.
	{ID: "devin", Seen: "3000.6.14", From: FromUsers, Like: true, Without: is{"timestamp", "client_type", "turn_id", "permission_mode", "transcript_path", "cwd"}, Project: is{"DEVIN_PROJECT_DIR"}},
}
