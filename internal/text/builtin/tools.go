package builtin

// client is a row of the table: an agent and its tools.
type client struct {
	id    string
	tools []row
}

// row describes tools of one client that take the same arguments.
type row struct {
	class string
	names []string
	// args maps names of the tool's arguments to names of the class: words of the form own>shared.
	// An argument whose names are equal is left out. list[].own>shared is for an argument that is a
	// list of objects or of texts.
	args    string
	extract extraction // the argument of the class that CompleteArguments must extract from a text

	// contract means that the tables know, for each other argument, whether it names files. globs,
	// nested and plain list the names of these arguments.
	contract bool
	globs    string // arguments with wildcards for files below the tool's path
	nested   string // arguments with objects: edits.filePath if the member filePath names a file, edits if no member does
	plain    string // arguments that never name a file
	content  bool   // the tool shows the content of the files below its path
	folder   bool   // if the call has no path, the tool searches the working folder
}

// extraction tells which argument of the class is extracted, and from what text.
type extraction uint8

const (
	noExtraction extraction = iota
	patchFiles              // the argument path gets the files that the patch in "content" names
	promptURLs              // the argument url gets every URL in the prompt
)

// patchArgs maps the names that clients use for the text of a patch to the name of the class.
const patchArgs = "input>content command>content patch>content patchText>content"

// claudeTools are the tools of Claude Code (2.1). Other clients have tools with the same names.
var claudeTools = []row{
	{class: "shell", names: []string{"Bash", "PowerShell", "Monitor"}, args: "run_in_background>background"},
	{class: "read", names: []string{"Read"}, args: "file_path>path", contract: true, plain: "pages"},
	{class: "read", names: []string{"NotebookRead"}, args: "notebook_path>path", contract: true, plain: "cell_id"},
	{class: "search", names: []string{"Glob"}, contract: true, globs: "pattern", folder: true},
	{class: "search", names: []string{"Grep"}, contract: true, globs: "glob", plain: "pattern type output_mode", content: true, folder: true},
	{class: "search", names: []string{"LS"}, contract: true, plain: "ignore"},
	{class: "search", names: []string{"LSP"}, args: "filePath>path query>pattern", contract: true, plain: "query operation"},
	{class: "write", names: []string{"Write"}, args: "file_path>path", contract: true, plain: "content"},
	{class: "write", names: []string{"Edit", "MultiEdit"}, args: "file_path>path new_string>content", contract: true,
		nested: "edits", plain: "old_string new_string"},
	{class: "write", names: []string{"NotebookEdit"}, args: "notebook_path>path new_source>content", contract: true, plain: "new_source cell_id cell_type edit_mode"},
	{class: "fetch", names: []string{"WebFetch"}},
	{class: "websearch", names: []string{"WebSearch"}},
	{class: "agent", names: []string{"Agent", "Task", "Workflow", "CronCreate"}},
	{class: "agent", names: []string{"SlashCommand"}, args: "command>prompt"},
	{class: "agent", names: []string{"SendMessage"}, args: "message>prompt"},
	{class: "agent", names: []string{"Skill"}, args: "args>prompt"},
	{class: "ask", names: []string{"AskUserQuestion"}},
	{class: "plan", names: []string{"EnterPlanMode", "ExitPlanMode"}},
	{class: "task", names: []string{"TodoWrite", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TaskOutput", "TaskStop", "BashOutput", "KillShell", "KillBash", "ToolSearch", "CronList", "CronDelete"}},
}

// geminiTools are the tools of Gemini CLI (0.61, with names of earlier versions) and of its fork.
var geminiTools = []row{
	{class: "shell", names: []string{"run_shell_command"}, args: "directory>cwd dir_path>cwd is_background>background"},
	{class: "read", names: []string{"read_file"}, args: "file_path>path absolute_path>path", contract: true},
	{class: "read", names: []string{"read_many_files"}, args: "include>path paths>path", contract: true, globs: "include paths", content: true,
		plain: "exclude file_filtering_options"},
	{class: "search", names: []string{"glob"}, args: "dir_path>path", contract: true, globs: "pattern", folder: true},
	{class: "search", names: []string{"grep_search", "search_file_content", "ripgrep"}, args: "dir_path>path", contract: true, globs: "include include_pattern glob",
		plain: "pattern exclude exclude_pattern", content: true, folder: true},
	{class: "search", names: []string{"list_directory"}, args: "dir_path>path", contract: true, plain: "ignore file_filtering_options"},
	{class: "write", names: []string{"write_file"}, args: "file_path>path", contract: true, plain: "content"},
	{class: "write", names: []string{"replace", "edit"}, args: "file_path>path new_string>content", contract: true,
		plain: "old_string new_string instruction"},
	{class: "search", names: []string{"lsp"}, args: "filePath>path query>pattern", contract: true, plain: "query operation"},
	{class: "write", names: []string{"notebook_edit"}, args: "notebook_path>path new_source>content", contract: true,
		plain: "new_source cell_id cell_type edit_mode"},
	{class: "fetch", names: []string{"web_fetch"}, extract: promptURLs},
	{class: "websearch", names: []string{"google_web_search", "web_search"}},
	{class: "agent", names: []string{"invoke_agent", "codebase_investigator", "task", "agent"}},
	{class: "agent", names: []string{"activate_skill"}, args: "name>prompt"},
	{class: "agent", names: []string{"skill"}, args: "skill>prompt"},
	{class: "ask", names: []string{"ask_user", "ask_user_question"}},
	{class: "plan", names: []string{"enter_plan_mode", "exit_plan_mode"}},
	{class: "task", names: []string{"write_todos", "todo_write", "update_topic", "get_goal", "update_goal", "list_agents", "tool_search", "tracker_create_task"}},
}

// cursorEvent lists members of the event that Cursor sends before it reads a file. The event has no
// object of arguments. None of these members names the file.
const cursorEvent = "hook_event_name conversation_id generation_id workspace_roots attachments content transcript_path model cursor_version user_email"

// toolNotes are notes in the arguments of each call that Antigravity's model makes.
const toolNotes = "toolSummary toolAction"

var clients = []client{
	{"claude-code", claudeTools},
	{"codex", []row{
		{class: "shell", names: []string{"Bash", "shell", "shell_command", "exec_command", "local_shell"}, args: "cmd>command workdir>cwd"},
		{class: "shell", names: []string{"write_stdin"}, args: "chars>command"},
		{class: "read", names: []string{"read_file"}, args: "file_path>path", contract: true},
		{class: "search", names: []string{"list_dir"}, args: "dir_path>path", contract: true},
		{class: "search", names: []string{"grep_files"}, contract: true, globs: "include", plain: "pattern", content: true, folder: true},
		{class: "write", names: []string{"apply_patch"}, args: patchArgs, extract: patchFiles},
		{class: "read", names: []string{"view_image"}, contract: true},
		{class: "agent", names: []string{"spawn_agent", "send_input"}, args: "message>prompt"},
		{class: "ask", names: []string{"request_user_input"}},
		{class: "plan", names: []string{"update_plan"}},
		{class: "task", names: []string{"wait", "close_agent", "resume_agent"}},
	}},
	{"gemini-cli", geminiTools},
	{"qwen-code", geminiTools},
	{"cursor", []row{
		{class: "shell", names: []string{"Shell"}, args: "working_directory>cwd is_background>background"},
		{class: "read", names: []string{"Read"}, args: "file_path>path target_file>path", contract: true,
			plain: "explanation " + cursorEvent},
		{class: "search", names: []string{"Grep"}, args: "target_directory>path", contract: true, globs: "glob include_pattern",
			plain: "pattern type output_mode explanation exclude_pattern", content: true, folder: true},
		{class: "search", names: []string{"Glob"}, args: "glob_pattern>pattern target_directory>path", contract: true, globs: "glob_pattern pattern", plain: "explanation", folder: true},
		{class: "search", names: []string{"LS"}, args: "target_directory>path", contract: true, plain: "ignore_globs ignore explanation"},
		{class: "search", names: []string{"SemanticSearch"}, args: "query>pattern target_directory>path target_directories>path", contract: true,
			plain: "query explanation", content: true, folder: true},
		{class: "write", names: []string{"Write", "Edit", "StrReplace", "Delete"}, args: "file_path>path target_file>path contents>content new_string>content",
			contract: true, plain: "contents content old_string new_string explanation instructions code_edit", nested: "edits"},
		{class: "write", names: []string{"EditNotebook"}, args: "target_notebook>path new_string>content", contract: true,
			plain: "old_string new_string cell_language cell_idx is_new_cell explanation"},
		{class: "write", names: []string{"ApplyPatch"}, args: patchArgs, extract: patchFiles},
		{class: "fetch", names: []string{"WebFetch"}},
		{class: "websearch", names: []string{"WebSearch"}, args: "search_term>query"},
		{class: "agent", names: []string{"Task"}},
		{class: "task", names: []string{"TodoWrite"}},
	}},
	{"vscode", []row{
		{class: "shell", names: []string{"run_in_terminal", "runTerminalCommand", "runInTerminal", "send_to_terminal"}, args: "isBackground>background"},
		{class: "shell", names: []string{"create_and_run_task", "createAndRunTask"}, args: "task[].command>command workspaceFolder>cwd"},
		// These tools run a task that the project or an extension defines. Their arguments contain
		// no command.
		{class: "shell", names: []string{"run_task", "runTask", "run_notebook_cell", "runNotebookCell", "runTests", "run_tests", "run_vscode_command", "runVscodeCommand",
			"install_extension", "install_python_packages", "configure_python_environment", "configure_notebook", "notebook_install_packages"}},
		{class: "read", names: []string{"read_file", "readFile", "read_notebook_cell_output", "view_image", "copilot_getNotebookSummary"}, args: "filePath>path", contract: true, plain: "cellId"},
		{class: "search", names: []string{"file_search"}, args: "query>pattern", contract: true, globs: "query", folder: true},
		{class: "search", names: []string{"grep_search"}, args: "query>pattern", contract: true, globs: "includePattern", plain: "query", content: true, folder: true},
		{class: "search", names: []string{"semantic_search", "list_dir", "list_code_usages", "test_search", "get_errors"}, args: "query>pattern filePaths>path", contract: true,
			plain: "query symbolName", folder: true},
		{class: "write", names: []string{"create_file", "createFile", "replace_string_in_file", "multi_replace_string_in_file", "insert_edit_into_file",
			"edit_notebook_file", "editFiles", "create_directory"},
			args:     "filePath>path dirPath>path files>path newString>content code>content",
			contract: true, nested: "replacements.filePath edits.filePath", plain: "content oldString newString code explanation newCode language editType cellId"},
		{class: "write", names: []string{"create_new_workspace", "create_new_jupyter_notebook", "vscode_renameSymbol", "rename_symbol"}, args: "filePath>path", contract: true,
			plain: "query symbol newName lineContent"},
		{class: "write", names: []string{"apply_patch"}, args: patchArgs, extract: patchFiles},
		{class: "fetch", names: []string{"fetch_webpage", "fetch", "open_simple_browser", "open_browser_page"}, args: "urls>url"},
		{class: "agent", names: []string{"runSubagent", "search_subagent", "execution_subagent"}, args: "query>prompt"},
		{class: "ask", names: []string{"ask_questions", "vscode_askQuestions"}},
		{class: "task", names: []string{"manage_todo_list", "get_terminal_output", "terminal_last_command", "terminal_selection", "get_task_output", "kill_terminal", "await_terminal"}},
	}},
	{"copilot-cli", []row{
		// Names with a capital letter come from events in the form of Claude Code.
		{class: "shell", names: []string{"bash", "powershell", "local_shell", "Bash", "PowerShell"}, args: "async>background"},
		{class: "shell", names: []string{"write_bash", "write_powershell"}, args: "input>command"},
		{class: "read", names: []string{"view", "Read"}, args: "file_path>path", contract: true},
		{class: "search", names: []string{"grep", "rg", "Grep"}, args: "paths>path", contract: true, globs: "glob", plain: "pattern type output_mode", content: true, folder: true},
		{class: "search", names: []string{"glob", "Glob"}, args: "paths>path", contract: true, globs: "pattern", folder: true},
		{class: "write", names: []string{"create", "edit", "str_replace_editor", "Write", "Edit"}, args: "file_path>path file_text>content new_str>content new_string>content",
			contract: true, plain: "command file_text old_str new_str old_string new_string content"},
		{class: "write", names: []string{"apply_patch"}, args: patchArgs, extract: patchFiles},
		{class: "fetch", names: []string{"web_fetch", "WebFetch"}},
		{class: "websearch", names: []string{"web_search", "WebSearch"}},
		{class: "agent", names: []string{"task", "Agent", "Task"}},
		{class: "agent", names: []string{"write_agent"}, args: "message>prompt"},
		{class: "agent", names: []string{"skill", "Skill"}, args: "skill>prompt"},
		{class: "ask", names: []string{"ask_user", "AskUserQuestion"}},
		{class: "plan", names: []string{"exit_plan_mode", "ExitPlanMode"}},
		{class: "task", names: []string{"update_todo", "report_intent", "read_agent", "list_agents", "read_bash", "stop_bash", "list_bash", "read_powershell", "stop_powershell", "list_powershell", "TodoWrite"}},
	}},
	{"windsurf", []row{ // these are names of events, because a hook of windsurf does not get the name of a tool
		{class: "shell", names: []string{"run_command"}, args: "command_line>command"},
		{class: "read", names: []string{"read_code"}, args: "file_path>path", contract: true},
		{class: "write", names: []string{"write_code"}, args: "file_path>path edits>content", contract: true, nested: "edits"},
	}},
	{"cline", []row{
		{class: "shell", names: []string{"execute_command"}},
		{class: "shell", names: []string{"run_commands"}, args: "commands>command cmd>command commands[].command>command"},
		{class: "read", names: []string{"read_file"}, contract: true, plain: "task_progress"},
		{class: "read", names: []string{"read_files"}, args: "files>path paths>path file_paths>path files[].path>path paths[].path>path file_paths[].path>path", contract: true},
		{class: "search", names: []string{"search_codebase"}, args: "queries>pattern queries[].query>pattern", contract: true, content: true, folder: true},
		{class: "write", names: []string{"editor"}, args: "new_text>content file_text>content new_str>content", contract: true,
			plain: "command new_text old_text file_text old_str new_str"},
		{class: "fetch", names: []string{"fetch_web_content"}, args: "requests[].url>url"},
		{class: "agent", names: []string{"spawn_agent", "team_run_task", "team_send_message", "team_broadcast", "team_spawn_teammate", "team_task"}, args: "task>prompt message>prompt"},
		{class: "agent", names: []string{"skills"}, args: "skill>prompt"},
		{class: "ask", names: []string{"ask_question"}},
		{class: "plan", names: []string{"submit_and_exit", "switch_to_act_mode"}},
		{class: "search", names: []string{"search_files"}, args: "regex>pattern", contract: true, globs: "file_pattern", plain: "regex task_progress", content: true},
		{class: "search", names: []string{"list_files", "list_code_definition_names"}, args: "regex>pattern", contract: true, plain: "task_progress"},
		{class: "write", names: []string{"write_to_file", "replace_in_file", "new_rule"}, args: "absolutePath>path diff>content", contract: true,
			plain: "content diff task_progress"},
		{class: "write", names: []string{"apply_patch"}, args: patchArgs, extract: patchFiles},
		{class: "fetch", names: []string{"web_fetch", "browser_action"}},
		{class: "websearch", names: []string{"web_search"}},
		{class: "agent", names: []string{"new_task", "use_subagents"}, args: "context>prompt"},
		{class: "ask", names: []string{"ask_followup_question"}},
		{class: "plan", names: []string{"plan_mode_respond", "attempt_completion"}},
		{class: "task", names: []string{"focus_chain"}},
	}},
	{"factory", []row{
		{class: "shell", names: []string{"Execute"}},
		{class: "read", names: []string{"Read"}, args: "file_path>path", contract: true},
		{class: "search", names: []string{"Grep"}, args: "folder>path directory_path>path", contract: true, globs: "glob_pattern glob", plain: "pattern type output_mode",
			content: true, folder: true},
		{class: "search", names: []string{"Glob"}, args: "folder>path directory_path>path patterns>pattern", contract: true, globs: "patterns", plain: "excludePatterns", folder: true},
		{class: "search", names: []string{"LS"}, args: "folder>path directory_path>path", contract: true, plain: "ignorePatterns"},
		{class: "write", names: []string{"Create", "Edit", "MultiEdit"}, args: "file_path>path new_str>content", contract: true, nested: "changes edits",
			plain: "content old_str new_str"},
		{class: "write", names: []string{"ApplyPatch"}, args: patchArgs, extract: patchFiles},
		{class: "fetch", names: []string{"FetchUrl"}},
		{class: "websearch", names: []string{"WebSearch"}},
		{class: "agent", names: []string{"Task"}},
		{class: "agent", names: []string{"Skill"}, args: "skill>prompt"},
		{class: "ask", names: []string{"AskUser"}},
		{class: "plan", names: []string{"ExitSpecMode"}},
		{class: "task", names: []string{"TodoWrite"}},
	}},
	{"kiro", []row{
		{class: "shell", names: []string{"execute_bash", "execute_cmd", "shell", "executeBash", "executePwsh", "controlBashProcess", "controlPwshProcess"}, args: "working_dir>cwd"},
		{class: "shell", names: []string{"use_aws", "aws"}},
		{class: "read", names: []string{"fs_read", "fsRead", "read"}, contract: true, nested: "operations.path operations.image_paths", plain: "summary"},
		{class: "search", names: []string{"grep"}, contract: true, globs: "include", plain: "pattern", content: true},
		{class: "search", names: []string{"glob"}, contract: true, globs: "pattern"},
		{class: "write", names: []string{"fs_write", "fsWrite", "write"}, args: "file_text>content new_str>content", contract: true,
			plain: "command file_text old_str new_str summary"},
		{class: "write", names: []string{"strReplace", "fsAppend", "deleteFile"}, args: "targetFile>path text>content newStr>content", contract: true,
			plain: "text oldStr newStr explanation"},
		{class: "fetch", names: []string{"web_fetch"}},
		{class: "websearch", names: []string{"web_search"}},
		{class: "agent", names: []string{"use_subagent", "delegate"}},
		{class: "task", names: []string{"todo_list"}},
	}},
	{"antigravity", []row{
		{class: "shell", names: []string{"run_command"}, args: "CommandLine>command Cwd>cwd"},
		{class: "shell", names: []string{"send_command_input"}, args: "Input>command"},
		{class: "read", names: []string{"view_file"}, args: "AbsolutePath>path", contract: true, plain: toolNotes},
		{class: "search", names: []string{"list_dir"}, args: "DirectoryPath>path", contract: true, plain: toolNotes},
		{class: "search", names: []string{"grep_search"}, args: "SearchPath>path Query>pattern", contract: true, globs: "Includes", plain: "Query " + toolNotes, content: true},
		{class: "search", names: []string{"find_by_name"}, args: "SearchDirectory>path Pattern>pattern", contract: true, globs: "Pattern",
			plain: "Excludes Extensions Type " + toolNotes},
		{class: "write", names: []string{"write_to_file", "replace_file_content", "multi_replace_file_content"},
			args:     "TargetFile>path CodeContent>content ReplacementContent>content",
			contract: true, nested: "ReplacementChunks",
			plain: "CodeContent ReplacementContent TargetContent Instruction Description CodeMarkdownLanguage " + toolNotes},
		{class: "fetch", names: []string{"read_url_content"}, args: "Url>url"},
		{class: "websearch", names: []string{"search_web"}},
		{class: "agent", names: []string{"browser_subagent"}, args: "Task>prompt"},
		{class: "plan", names: []string{"notify_user"}},
		{class: "task", names: []string{"task_boundary", "command_status"}},
	}},
	{"goose", []row{
		{class: "shell", names: []string{"developer__shell", "shell"}, args: "working_dir>cwd"},
		{class: "read", names: []string{"developer__image_processor", "read_image"}, contract: true},
		{class: "write", names: []string{"developer__text_editor", "developer__write", "developer__edit", "write", "edit"}, args: "file_text>content new_str>content after>content", contract: true,
			plain: "command file_text old_str new_str before after content diff"},
		{class: "search", names: []string{"tree", "developer__tree", "developer__analyze", "analyze"}, contract: true, plain: "focus"},
		{class: "agent", names: []string{"subagent", "delegate"}, args: "instructions>prompt"},
		{class: "task", names: []string{"todo__todo_write", "todo_write"}},
	}},
	{"opencode", []row{ // the tool "batch" has no class, because a hook does not see the calls inside it
		{class: "shell", names: []string{"bash"}, args: "workdir>cwd"},
		{class: "read", names: []string{"read"}, args: "filePath>path", contract: true},
		{class: "search", names: []string{"grep"}, contract: true, globs: "include", plain: "pattern", content: true, folder: true},
		{class: "search", names: []string{"glob"}, contract: true, globs: "pattern", folder: true},
		{class: "search", names: []string{"list"}, contract: true, plain: "ignore", folder: true},
		{class: "search", names: []string{"lsp"}, args: "filePath>path", contract: true, plain: "operation query"},
		{class: "write", names: []string{"write", "edit", "multiedit"}, args: "filePath>path newString>content", contract: true, nested: "edits.filePath",
			plain: "content oldString newString"},
		{class: "write", names: []string{"patch", "apply_patch"}, args: patchArgs, extract: patchFiles},
		{class: "fetch", names: []string{"webfetch"}},
		{class: "websearch", names: []string{"websearch", "codesearch"}},
		{class: "agent", names: []string{"task"}},
		{class: "agent", names: []string{"skill"}, args: "name>prompt"},
		{class: "ask", names: []string{"question"}},
		{class: "task", names: []string{"todowrite", "todoread"}},
	}},
	{"kimi-code", []row{ // version 2.1, and names from the earlier CLI
		{class: "shell", names: []string{"Bash", "Shell"}, args: "run_in_background>background"},
		{class: "read", names: []string{"Read", "ReadFile", "ReadMediaFile"}, args: "file_path>path", contract: true},
		{class: "search", names: []string{"Glob"}, args: "directory>path", contract: true, globs: "pattern", folder: true},
		{class: "search", names: []string{"Grep"}, args: "directory>path", contract: true, globs: "glob include", plain: "pattern type output_mode", content: true, folder: true},
		{class: "write", names: []string{"Write", "WriteFile", "Edit", "StrReplaceFile"}, args: "file_path>path new_string>content edit>content", contract: true,
			plain: "content old_string new_string edit"},
		{class: "fetch", names: []string{"FetchURL"}},
		{class: "websearch", names: []string{"WebSearch", "SearchWeb"}},
		{class: "agent", names: []string{"Agent", "AgentSwarm", "Task", "CronCreate"}},
		{class: "agent", names: []string{"Skill"}, args: "skill>prompt"},
		{class: "ask", names: []string{"AskUserQuestion"}},
		{class: "plan", names: []string{"EnterPlanMode", "ExitPlanMode"}},
		{class: "task", names: []string{"TodoList", "SetTodoList", "TaskList", "TaskOutput", "TaskStop", "CreateGoal", "GetGoal", "UpdateGoal", "SetGoalBudget", "WaitFor", "CronList", "CronDelete"}},
	}},
	{"grok", []row{
		// Grok has several sets of tools, some with the names and arguments of other clients.
		{class: "shell", names: []string{"run_terminal_command", "run_terminal_cmd", "monitor", "bash"}, args: "is_background>background working_directory>cwd"},
		{class: "read", names: []string{"read_file", "read"}, args: "target_file>path file_path>path filePath>path", contract: true},
		{class: "search", names: []string{"grep"}, args: "target_directory>path query>pattern", contract: true, globs: "glob include", plain: "pattern query type output_mode",
			content: true, folder: true},
		{class: "search", names: []string{"glob"}, args: "target_directory>path", contract: true, globs: "pattern glob_pattern", folder: true},
		{class: "search", names: []string{"list_dir"}, args: "target_directory>path", contract: true, folder: true},
		{class: "write", names: []string{"search_replace", "write", "write_file", "delete_file", "edit_file", "edit", "hashline_edit"},
			args:     "file_path>path target_file>path filePath>path new_string>content newString>content contents>content",
			contract: true, nested: "edits", plain: "contents content old_string new_string oldString newString"},
		{class: "write", names: []string{"apply_patch"}, args: patchArgs, extract: patchFiles},
		{class: "fetch", names: []string{"web_fetch", "open_page"}},
		{class: "websearch", names: []string{"web_search", "x_search"}},
		{class: "agent", names: []string{"spawn_subagent", "task"}},
		{class: "ask", names: []string{"ask_user_question"}},
		{class: "plan", names: []string{"enter_plan_mode", "exit_plan_mode"}},
		{class: "task", names: []string{"todo_write", "get_task_output", "kill_task", "search_tool"}},
	}},
	{"devin", []row{
		{class: "shell", names: []string{"exec"}, args: "working_dir>cwd exec_dir>cwd"},
		{class: "read", names: []string{"read", "notebook_read"}, args: "file_path>path notebook_path>path", contract: true},
		{class: "search", names: []string{"grep"}, contract: true, globs: "glob include glob_pattern", plain: "pattern type output_mode", content: true, folder: true},
		{class: "search", names: []string{"glob"}, args: "glob_pattern>pattern", contract: true, globs: "pattern glob_pattern", folder: true},
		{class: "search", names: []string{"ls"}, contract: true, folder: true},
		{class: "write", names: []string{"write", "edit"}, args: "file_path>path new_string>content", contract: true, plain: "content old_string new_string"},
		{class: "write", names: []string{"notebook_edit"}, args: "notebook_path>path new_source>content", contract: true,
			plain: "new_source cell_id cell_type edit_mode"},
		{class: "fetch", names: []string{"webfetch", "web_fetch"}},
		{class: "websearch", names: []string{"web_search", "websearch"}},
		{class: "agent", names: []string{"run_subagent"}, args: "task>prompt"},
		{class: "agent", names: []string{"skill"}, args: "name>prompt"},
		{class: "ask", names: []string{"ask_user_question"}},
		{class: "plan", names: []string{"exit_plan_mode"}},
		{class: "task", names: []string{"todo_write", "read_subagent", "get_output", "kill_shell"}},
	}},
}
