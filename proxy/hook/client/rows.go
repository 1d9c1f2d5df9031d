package client

// list is a short name for a type, so that the rows are short.
type list = []string

// likeClaude returns a row with the payload form of Claude Code, which other clients have copied.
func likeClaude(r Row) *Row {
	r.Event, r.Session, r.Cwd = list{"hook_event_name"}, list{"session_id"}, list{"cwd"}
	r.Call, r.Tool, r.Input = list{"tool_use_id", "tool_call_id"}, list{"tool_name"}, list{"tool_input"}
	if r.MCPServer == nil {
		r.MCPServer = list{"mcp_server.name"}
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

// claudeModes are the permission modes in which Claude Code shows its dialog for a hook's question.
// In auto, dontAsk, bypassPermissions and unknown modes, a program may answer in place of the
// person.
var claudeModes = list{"", "default", "acceptEdits", "plan"}

// rows has the order of wrap --hooks. If several clients write the same payload, the first one in
// the table wins. docs/hooks.md describes how each client treats an answer, and for which calls it
// runs no hook. The table is constant, because otherwise each start of the hook would have to build
// it.
var rows = []Row{
	{ID: "claude-code", Seen: "2.1.330", From: Real, Like: true, Model: modelHabits{decodes: true}, NeedSession: true, NeedCall: true, Marks: list{"prompt_id", "effort", "agent_type"}, Without: list{"timestamp", "client_type", "!cwd"},
		Asks: true, Modes: claudeModes, Begun: list{"source"}, Attended: "CLAUDE_CODE_SESSION_ATTENDED", Project: list{"CLAUDE_PROJECT_DIR"}},
	{ID: "codex", Seen: "0.169.0", From: Real, Like: true, NeedSession: true, Marks: list{"turn_id"}, Without: list{"timestamp", "client_type", "tool_name&!turn_id", "prompt&!turn_id", "!cwd"}},
	{ID: "gemini-cli", Seen: "0.61.0", From: Real, Like: true, NeedSession: true, Events: geminiEvents, MCP: single, MCPServer: list{"mcp_context.server_name"}, MCPTool: list{"mcp_context.tool_name"},
		Marks: list{"timestamp"}, Without: list{"permission_mode", "!transcript_path"}, Deny: Decision, Project: list{"GEMINI_PROJECT_DIR"}},
	// If failClosed is set, Cursor treats an allowed call without output as a broken hook.
	{ID: "cursor", Seen: "3.16", From: FromUsers, Version: list{"cursor_version"}, Event: list{"hook_event_name"}, Session: list{"conversation_id", "session_id"}, NeedSession: true, Call: list{"tool_use_id", "generation_id"},
		Cwd: list{"cwd", "workspace_roots"}, Roots: list{"workspace_roots"}, Tool: list{"tool_name"}, Input: list{"tool_input"}, MCP: colon, Deny: Permission, Project: list{"CURSOR_PROJECT_DIR"},
		Marks: list{"cursor_version", "conversation_id", "generation_id", "workspace_roots"}, Without: list{"!conversation_id&!generation_id&!cursor_version"}, Modes: list{""},
		Allow: `{"permission":"allow"}`, Pass: `{}`,
		Events: []Event{
			{Name: "preToolUse", Kind: Before}, {Name: "beforeShellExecution", Kind: Before, Tool: "Shell", Asks: true},
			{Name: "beforeMCPExecution", Kind: Before, Asks: true}, {Name: "beforeReadFile", Kind: Before, Tool: "Read"},
			{Name: "beforeTabFileRead", Kind: Before, Tool: "Read"},
			// Cursor also runs the hooks in Claude Code's file. These payloads have Claude Code's
			// event names, but otherwise Cursor's members.
			{Name: "PreToolUse", Kind: Before}, {Name: "UserPromptSubmit", Kind: Prompt, Pass: `{"continue":true}`}, {Name: "SessionStart", Kind: Session},
			{Name: "sessionStart", Kind: Session}, {Name: "beforeSubmitPrompt", Kind: Prompt, Pass: `{"continue":true}`}, {Name: "postToolUse", Kind: Other},
			{Name: "afterShellExecution", Kind: Other}, {Name: "afterMCPExecution", Kind: Other}, {Name: "afterFileEdit", Kind: Other},
			{Name: "afterTabFileEdit", Kind: Other}, {Name: "afterAgentResponse", Kind: Other}, {Name: "afterAgentThought", Kind: Other},
			{Name: "postToolUseFailure", Kind: Other}, {Name: "subagentStart", Kind: Other}, {Name: "subagentStop", Kind: Other}, {Name: "preCompact", Kind: Other},
			{Name: "stop", Kind: Other}, {Name: "sessionEnd", Kind: Other},
		}},
	// VS Code's extension host writes hook_event_name and session_id. The earlier documentation had
	// hookEventName and sessionId. Copilot CLI and Qwen Code write some of the same members.
	{ID: "vscode", Seen: "1.135", From: FromCode, Event: list{"hook_event_name", "hookEventName"}, Session: list{"session_id", "sessionId"}, NeedSession: true, Call: list{"tool_use_id", "toolUseId"}, Cwd: list{"cwd"},
		Tool: list{"tool_name"}, Input: list{"tool_input"}, MCP: underscored, NameLimit: 64, MCPServer: list{"mcp_server.name"}, Asks: true, Modes: list{""}, Deny: TopLevel, Events: likeEvents,
		Marks: list{"hookEventName", "timestamp", "tool_use_id"}, Without: list{"!timestamp", "permission_mode", "conversation_id", "client_type", "turn_id", "toolInput", "workspaceRoot",
			"tool_name&!tool_use_id", "!tool_name&!transcript_path&!hookEventName"}},
	{ID: "copilot-cli", Seen: "1.0.102", From: Real, Event: list{"hook_event_name", "hookName"}, Session: list{"sessionId", "session_id"}, NeedSession: true, Call: list{"toolCallId", "tool_use_id"}, Cwd: list{"cwd"},
		Tool: list{"toolName", "tool_name"}, Input: list{"toolArgs", "tool_input"}, Deny: TopLevel, MCP: dashed, Servers: list{"github-mcp-server"},
		Marks: list{"toolArgs", "timestamp"}, Without: list{"permission_mode", "conversation_id", "transcript_path", "toolInput", "client_type", "hookEventName", "!timestamp"},
		Events: []Event{
			{Name: "postToolUse", Kind: Other, By: "toolResult"}, {Name: "preToolUse", Kind: Before, By: "toolName"}, {Name: "PreToolUse", Kind: Before},
			{Name: "userPromptSubmitted", Kind: Prompt, By: "prompt"}, {Name: "sessionStart", Kind: Session, By: "source"},
			{Name: "SessionStart", Kind: Session}, {Name: "UserPromptSubmit", Kind: Prompt}, {Name: "PostToolUse", Kind: Other}, {Name: "permissionRequest", Kind: Other},
			{Name: "sessionEnd", Kind: Other, By: "reason"}, {Name: "SessionEnd", Kind: Other}, {Name: "agentStop", Kind: Other, By: "stopReason"}, {Name: "Stop", Kind: Other},
			{Name: "subagentStart", Kind: Other, By: "agentName"}, {Name: "subagentStop", Kind: Other}, {Name: "errorOccurred", Kind: Other, By: "error"},
			{Name: "notification", Kind: Other, By: "message"}, {Name: "preCompact", Kind: Other, By: "trigger"},
		}},
	{ID: "windsurf", Seen: "Cascade hooks of 2026", From: FromCode, Event: list{"agent_action_name"}, Session: list{"trajectory_id"}, NeedSession: true, Call: list{"execution_id"}, Cwd: list{"tool_info.cwd"}, Chosen: true,
		Input: list{"tool_info"}, MCPServer: list{"tool_info.mcp_server_name"}, MCPTool: list{"tool_info.mcp_tool_name"}, MCP: apart,
		Events: []Event{
			{Name: "pre_run_command", Kind: Before, Tool: "run_command"}, {Name: "pre_read_code", Kind: Before, Tool: "read_code"},
			{Name: "pre_write_code", Kind: Before, Tool: "write_code"}, {Name: "pre_mcp_tool_use", Kind: Before},
			{Name: "pre_user_prompt", Kind: Prompt}, {Name: "post_run_command", Kind: Other}, {Name: "post_read_code", Kind: Other},
			{Name: "post_write_code", Kind: Other}, {Name: "post_mcp_tool_use", Kind: Other}, {Name: "post_cascade_response", Kind: Other},
		}},
	// Cline's extension writes the names of the hook files (PreToolUse). The SDK of its CLI has
	// other names.
	{ID: "cline", Seen: "3.0.65 (CLI)", From: Real, Event: list{"hookName"}, Session: list{"taskId"}, NeedSession: true, Call: list{"tool_call.id"}, Cwd: list{"workspaceRoots", "workspaceInfo.rootPath"},
		Tool: list{"tool_call.name", "preToolUse.toolName"}, Input: list{"tool_call.input", "preToolUse.parameters"}, MCP: extension, Deny: Cancel, Exit0: true,
		Events: []Event{
			{Name: "PreToolUse", Kind: Before}, {Name: "tool_call", Kind: Before},
			{Name: "TaskStart", Kind: Session}, {Name: "agent_start", Kind: Session}, {Name: "TaskResume", Kind: Session}, {Name: "agent_resume", Kind: Session},
			{Name: "UserPromptSubmit", Kind: Prompt}, {Name: "prompt_submit", Kind: Prompt},
			{Name: "PostToolUse", Kind: Other}, {Name: "tool_result", Kind: Other}, {Name: "TaskCancel", Kind: Other}, {Name: "agent_abort", Kind: Other},
			{Name: "TaskComplete", Kind: Other}, {Name: "agent_end", Kind: Other}, {Name: "TaskError", Kind: Other}, {Name: "agent_error", Kind: Other},
			{Name: "PreCompact", Kind: Other}, {Name: "SessionShutdown", Kind: Other}, {Name: "session_shutdown", Kind: Other}, {Name: "Notification", Kind: Other},
		}},
	{ID: "qwen-code", Seen: "0.24.4", From: Real, Like: true, Model: modelHabits{bridge: "tool_call"}, NeedSession: true, Marks: list{"timestamp", "tool_use_id&tool_call_id"}, Without: list{"client_type", "turn_id", "timestamp&!permission_mode", "!timestamp", "toolInput", "workspaceRoot"}, Project: list{"QWEN_PROJECT_DIR"}},
	{ID: "factory", Seen: "0.186", From: FromCode, Like: true, NeedSession: true, Without: list{"timestamp", "client_type", "turn_id", "tool_use_id", "!permission_mode"}, Project: list{"FACTORY_PROJECT_DIR"}},
	{ID: "kiro", Seen: "CLI 3", From: FromCode, Like: true, MCP: slashed, Deny: Specific, Without: list{"conversation_id", "generation_id", "turn_id", "timestamp", "client_type", "permission_mode", "!cwd"}, Events: []Event{
		{Name: "preToolUse", Kind: Before}, {Name: "agentSpawn", Kind: Session}, {Name: "userPromptSubmit", Kind: Prompt},
		{Name: "PreToolUse", Kind: Before}, {Name: "SessionStart", Kind: Session}, {Name: "UserPromptSubmit", Kind: Prompt}, // event names of version 3
		{Name: "postToolUse", Kind: Other}, {Name: "PostToolUse", Kind: Other}, {Name: "stop", Kind: Other}, {Name: "Stop", Kind: Other},
	}},
	// Antigravity treats any exit code other than 0 as a broken hook and then runs the tool. But it
	// always reads the output.
	{ID: "antigravity", Seen: "1.2", From: FromUsers, Event: list{"hook_event_name", "hookEventName", "eventName"}, Session: list{"conversationId"}, NeedSession: true, Call: list{"toolCall.id"},
		Cwd: list{"cwd", "workspacePaths"}, Tool: list{"toolCall.name"}, Input: list{"toolCall.args"}, Deny: Decision, Exit0: true, MCP: underscored,
		Allow: `{"decision":"allow"}`, Pass: `{}`, Marks: list{"conversationId"},
		Events: []Event{{Name: "PreToolUse", Kind: Before, By: "toolCall"}, {Name: "PostToolUse", Kind: Other, By: "stepIdx"},
			{Name: "PreInvocation", Kind: Other, By: "invocationNum"}, {Name: "PostInvocation", Kind: Other}, {Name: "Stop", Kind: Other, By: "terminationReason"}}},
	{ID: "goose", Seen: "1.43", From: FromCode, Event: list{"event"}, Session: list{"session_id"}, NeedSession: true, Call: list{"tool_call_id"}, Cwd: list{"working_dir", "cwd"},
		Tool: list{"tool_name"}, Input: list{"tool_input"}, MCP: extension, Deny: Block, Marks: list{"working_dir"}, Events: likeEvents},
	// The clawai plugin (wrap's catalogue) writes the payload. The plugin knows the servers.
	{ID: "opencode", Seen: "1.18.34", From: Real, Like: true, NeedSession: true, NeedCall: true, MCP: single, MCPTool: list{"mcp_server.tool"}, Model: modelHabits{folds: true, bare: true},
		Events: []Event{{Name: "tool.execute.before", Kind: Before}, {Name: "session.start", Kind: Session}, {Name: "chat.message", Kind: Prompt}}},
	{ID: "kimi-code", Seen: "2.1.0", From: Real, Like: true, NeedSession: true, Marks: list{"client_type", "tool_call_id"}, Without: list{"transcript_path", "permission_mode", "tool_use_id", "timestamp", "!client_type&!tool_call_id"}},
	{ID: "grok", Seen: "0.2.32", From: FromCode, Event: list{"hookEventName"}, Session: list{"sessionId"}, NeedSession: true, Call: list{"toolUseId"}, Cwd: list{"cwd", "workspaceRoot"},
		Tool: list{"toolName"}, Input: list{"toolInput"}, MCP: extension, Deny: Decision, Marks: list{"toolInput", "workspaceRoot"}, Project: list{"GROK_PROJECT_DIR"},
		Events: []Event{
			{Name: "pre_tool_use", Kind: Before}, {Name: "session_start", Kind: Session}, {Name: "user_prompt_submit", Kind: Prompt},
			{Name: "post_tool_use", Kind: Other}, {Name: "post_tool_use_failure", Kind: Other}, {Name: "session_end", Kind: Other}, {Name: "stop", Kind: Other},
			{Name: "stop_failure", Kind: Other}, {Name: "subagent_start", Kind: Other}, {Name: "subagent_stop", Kind: Other}, {Name: "pre_compact", Kind: Other},
			{Name: "post_compact", Kind: Other}, {Name: "notification", Kind: Other}, {Name: "permission_request", Kind: Other}, {Name: "permission_denied", Kind: Other},
		}},
	// The payload has no folder, but DEVIN_PROJECT_DIR has it.
	{ID: "devin", Seen: "3000.6.14", From: FromUsers, Like: true, Without: list{"timestamp", "client_type", "turn_id", "permission_mode", "transcript_path", "cwd"}, Project: list{"DEVIN_PROJECT_DIR"}},
}
