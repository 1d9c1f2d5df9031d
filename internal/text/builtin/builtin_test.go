package builtin

import (
	"slices"
	"strings"
	"testing"
)

// Every row is of a class that there is, and shares names that the class has.
func TestTable(t *testing.T) {
	if len(ListClients()) < 10 {
		t.Errorf("%d clients", len(ListClients()))
	}
	for _, c := range clients {
		seen := map[string]bool{}
		for _, row := range c.tools {
			i := slices.IndexFunc(ListClasses(), func(k Class) bool { return k.Name == row.class })
			if i < 0 {
				t.Errorf("%s: no class %q", c.id, row.class)
				continue
			}
			for pair := range strings.FieldsSeq(row.args) {
				from, to, found := strings.Cut(pair, ">")
				if !found || from == "" || !slices.Contains(classes[i].Args, to) {
					t.Errorf("%s %v: %q is no argument of %s", c.id, row.names, pair, row.class)
				}
			}
			for entry := range strings.FieldsSeq(row.globs + " " + row.nested + " " + row.plain) {
				if head, _, _ := strings.Cut(entry, "."); !row.contract || !FindTool(c.id, row.names[0]).KnowsArgument(head) {
					t.Errorf("%s %v: %s is not known", c.id, row.names, entry)
				}
			}
			if known := row.class == "read" || row.class == "search" || row.class == "write"; known != row.contract && row.extract == noExtraction {
				t.Errorf("%s %v: contract is %v", c.id, row.names, row.contract)
			}
			for _, name := range row.names {
				if seen[name] {
					t.Errorf("%s: %s is there twice", c.id, name)
				}
				seen[name] = true
				if got := FindTool(c.id, name); got.Class != row.class || !slices.Contains(ToolNames(c.id, row.class), name) {
					t.Errorf("%s %s: %+v", c.id, name, got)
				}
			}
		}
	}
}

func TestOf(t *testing.T) {
	if got := FindTool("claude-code", "Read"); got.Class != "read" || got.SharedName("file_path") != "path" || got.SharedName("limit") != "" {
		t.Errorf("%+v", got)
	}
	if got := FindTool("claude-code", "ToolSearch").Class; got != "task" { // without it, Claude Code does not find the tools of its servers
		t.Errorf("ToolSearch is of the class %q", got)
	}
	for _, c := range [][2]string{{"claude-code", "read"}, {"claude-code", "Cron"}, {"files", "Read"}, {"", "Bash"}} {
		if got := FindTool(c[0], c[1]); got != (Tool{}) || got.SharedName("x") != "" || got.KnowsArgument("x") {
			t.Errorf("%v: %+v", c, got)
		}
	}
}

const patch = `*** Begin Patch\n*** Update File: a/b.go\n*** Move to: ../c.go\n@@\n-x\n+*** Add File: no\n*** Add File: /etc/x\n+y\n *** Delete File: \"q\"\n*** End Patch`

func TestComplete(t *testing.T) {
	for _, c := range []struct{ client, tool, args, want, err string }{
		{client: "claude-code", tool: "Read", args: `{"file_path":"/a"}`, want: `{"file_path":"/a"}`},
		{client: "claude-code", tool: "Nothing", args: `{"a":1}`, want: `{"a":1}`},
		{client: "claude-code", tool: "TodoWrite"},
		{client: "claude-code", tool: "Read", args: `{"file_path":"/a","path":"/b"}`, err: `"file_path" and "path" are one argument`},
		{client: "codex", tool: "apply_patch", args: `{"command":"` + patch + `"}`,
			want: `{"path":["a/b.go","../c.go","/etc/x","\"q\""],"command":"` + patch + `"}`},
		{client: "codex", tool: "apply_patch", args: `{"path":["/safe"],"command":"` + patch + `"}`, err: `it has a "path" of its own`},
		{client: "codex", tool: "apply_patch", args: `{"command":["apply_patch"]}`, err: "the patch names no file"},
		{client: "codex", tool: "apply_patch", args: `{"command":"*** Add File:"}`, err: "the patch names no file"},
		{client: "codex", tool: "apply_patch", err: "the patch names no file"},
		{client: "codex", tool: "apply_patch", args: `{"command":"` + strings.Repeat(`*** Add File: x\n`, MaxPlaces+1) + `"}`, err: "it names more than 100 places at once; split it"},
		{client: "codex", tool: "apply_patch", args: `[`, err: "its arguments are not an object"},
		{client: "gemini-cli", tool: "web_fetch", args: `{"prompt":"see HTTPS://a.test/x. and (http://b.test)"}`,
			want: `{"url":["HTTPS://a.test/x.","HTTPS://a.test/x","http://b.test"],"prompt":"see HTTPS://a.test/x. and (http://b.test)"}`},
		{client: "claude-code", tool: "Grep", args: `{"pattern":"x"}`, want: `{"places":["."],"pattern":"x"}`},
		{client: "claude-code", tool: "Grep", args: `{"pattern":"x","path":"/p","glob":"*.go"}`, want: `{"pattern":"x","path":"/p","glob":"*.go"}`},
		{client: "claude-code", tool: "Grep", args: `{"pattern":"x","path":"/p","glob":".env"}`, want: `{"places":["/p/.env"],"pattern":"x","path":"/p","glob":".env"}`},
		{client: "claude-code", tool: "Grep", args: `{"pattern":"x","path":"/p","glob":"{a,.env}"}`, want: `{"places":["/p/.env"],"pattern":"x","path":"/p","glob":"{a,.env}"}`},
		{client: "claude-code", tool: "Grep", args: `{"pattern":"x","path":"/p","glob":"*env"}`, want: `{"reach":["./*env"],"pattern":"x","path":"/p","glob":"*env"}`},
		{client: "claude-code", tool: "Grep", args: `{"pattern":"x","path":"/home/u/.config"}`, want: `{"reach":["/home/u/.config"],"pattern":"x","path":"/home/u/.config"}`},
		{client: "claude-code", tool: "Grep", args: `{"pattern":"x","path":"C:\\Users\\u"}`, want: `{"reach":["C:\\Users\\u"],"pattern":"x","path":"C:\\Users\\u"}`},
		{client: "claude-code", tool: "Grep", args: `{"pattern":"x","path":"/p","glob":"../../etc/*"}`,
			want: `{"places":["../../etc/*"],"reach":["./../../etc/*"],"pattern":"x","path":"/p","glob":"../../etc/*"}`},
		{client: "claude-code", tool: "Grep", args: `{"pattern":"x","path":"/p","places":["/p"]}`, err: `it has a "places" of its own`},
		{client: "claude-code", tool: "Grep", args: `{"pattern":"x","path":"/p","reach":[]}`, err: `it has a "reach" of its own`},
		{client: "claude-code", tool: "Grep", args: `{"pattern":"x","path":"/p","glob":".env","places":["/p"]}`, err: `it has a "places" of its own`},
		{client: "claude-code", tool: "Grep", args: `{"pattern":"x","path":"/p","options":[{"globs":["x"]}]}`, err: `it names a file by "globs" within "options", of which nothing is known`},
		{client: "cursor", tool: "SemanticSearch", args: `{"query":"x","target_directories":[]}`, want: `{"places":["."],"query":"x","target_directories":[]}`},
		{client: "cursor", tool: "SemanticSearch", args: `{"query":"x","target_directories":["/home/u"]}`, want: `{"reach":["/home/u"],"query":"x","target_directories":["/home/u"]}`},
		{client: "opencode", tool: "list", args: `{"ignore":["dist"]}`, want: `{"places":["."],"ignore":["dist"]}`},
		{client: "vscode", tool: "grep_search", args: `{"query":"x","includeIgnoredFiles":true}`,
			want: `{"places":["."],"reach":["./*"],"query":"x","includeIgnoredFiles":true}`},
		{client: "vscode", tool: "grep_search", args: `{"query":"x","includeIgnoredFiles":false}`, want: `{"places":["."],"query":"x","includeIgnoredFiles":false}`},
		{client: "gemini-cli", tool: "read_many_files", args: `{"include":["src/*.ts"],"file_filtering_options":{"respect_git_ignore":false}}`,
			want: `{"reach":["./*"],"include":["src/*.ts"],"file_filtering_options":{"respect_git_ignore":false}}`},
		{client: "gemini-cli", tool: "grep_search", args: `{"pattern":"x","no_ignore":"true","dir_path":"src"}`, want: `{"reach":["src/*"],"pattern":"x","no_ignore":"true","dir_path":"src"}`},
		{client: "claude-code", tool: "Grep", args: `{"pattern":"x","path":"/p","hidden":true,"ignore_case":true}`, want: `{"reach":["/p/*"],"pattern":"x","path":"/p","hidden":true,"ignore_case":true}`},
		{client: "claude-code", tool: "Grep", args: `{"pattern":"x","path":"/p","ignore":["a"],"ignore_case":true,"respect_gitignore":true,"unrestricted":"a"}`,
			want: `{"pattern":"x","path":"/p","ignore":["a"],"ignore_case":true,"respect_gitignore":true,"unrestricted":"a"}`},
		{client: "claude-code", tool: "Glob", args: `{"pattern":"**/*","path":"/home/u"}`, want: `{"pattern":"**/*","path":"/home/u"}`},
		{client: "claude-code", tool: "Glob", args: `{"pattern":"/etc/**"}`, want: `{"places":[".","/etc/**"],"pattern":"/etc/**"}`},
		{client: "claude-code", tool: "Glob", args: `{"pattern":"**/.env"}`, want: `{"places":[".","./**/.env"],"pattern":"**/.env"}`},
		{client: "claude-code", tool: "MultiEdit", args: `{"file_path":"/p/a","edits":[{"old_string":"/etc/x","new_string":"b"}]}`,
			want: `{"file_path":"/p/a","edits":[{"old_string":"/etc/x","new_string":"b"}]}`},
		{client: "claude-code", tool: "MultiEdit", args: `{"file_path":"/p/a","edits":[{"filePath":"/p/.env"}]}`, err: `it names a file by "filePath" within "edits", of which nothing is known`},
		{client: "claude-code", tool: "MultiEdit", args: `{"file_path":"/p/a","edits":"[{\"file_path\":\"/p/.env\"}]"}`, err: `it has JSON for "edits"`},
		{client: "claude-code", tool: "Write", args: `{"file_path":"/p/a","content":"{\"path\":\"/etc/x\"}"}`, want: `{"file_path":"/p/a","content":"{\"path\":\"/etc/x\"}"}`},
		{client: "claude-code", tool: "Write", args: `{"file_path":"/p/a","content":"","more":{"a":[{"other_file":"/p/b"}]}}`,
			err: `it names a file by "other_file" within "more", of which nothing is known`},
		{client: "vscode", tool: "multi_replace_string_in_file", args: `{"filePath":"/p/a","replacements":[{"filePath":"/h/.ssh/a","oldString":""},{"filePath":"b"}]}`,
			want: `{"places":["/h/.ssh/a","b"],"filePath":"/p/a","replacements":[{"filePath":"/h/.ssh/a","oldString":""},{"filePath":"b"}]}`},
		{client: "kiro", tool: "fs_read", args: `{"operations":[{"mode":"Line","path":"/p/a"},{"mode":"Image","image_paths":["/p/b.png","/p/c.png"]}]}`,
			want: `{"places":["/p/a","/p/b.png","/p/c.png"],"operations":[{"mode":"Line","path":"/p/a"},{"mode":"Image","image_paths":["/p/b.png","/p/c.png"]}]}`},
		{client: "opencode", tool: "multiedit", args: `{"filePath":"/p/a","edits":[{"filePath":"/p/b","oldString":"x"}]}`,
			want: `{"places":["/p/b"],"filePath":"/p/a","edits":[{"filePath":"/p/b","oldString":"x"}]}`},
		{client: "gemini-cli", tool: "read_many_files", args: `{"include":["/p/.en*","a"]}`, want: `{"reach":["/p/.en*"],"include":["/p/.en*","a"]}`},
		{client: "vscode", tool: "multi_replace_string_in_file", args: `{"replacements":[` + strings.Repeat(`{"filePath":"a"},`, MaxPlaces) + `{"filePath":"a"}]}`,
			err: "it names more than 100 places at once; split it"},
		{client: "gemini-cli", tool: "read_many_files", args: `{"include":[` + strings.Repeat(`"a",`, MaxPlaces) + `"a"]}`, err: "it names more than 100 places at once; split it"},
		{client: "gemini-cli", tool: "web_fetch", args: `{"prompt":"nothing"}`, err: "its prompt names no URL"},
	} {
		got, err := CompleteArguments(c.client, c.tool, []byte(c.args))
		if text(err) != c.err || string(got) != c.want {
			t.Errorf("%s %s %.80s\n got %s, %v\nwant %s, %s", c.client, c.tool, c.args, got, err, c.want, c.err)
			continue
		}
		if err == nil { // as a record has it
			if again, err := CompleteArguments(c.client, c.tool, got); err != nil || string(again) != string(got) {
				t.Errorf("%s %s: a second time: %s, %v", c.client, c.tool, again, err)
			}
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestWithAddsToNothing(t *testing.T) {
	got, err := object(nil).addMember([]byte("{ }"), "path", "[]")
	if err != nil || string(got) != `{"path":[] }` {
		t.Errorf("%s, %v", got, err)
	}
}

// Every tool that runs what its arguments say, or types it into what runs, is of the class shell.
func TestToolsThatRun(t *testing.T) {
	for _, c := range []struct{ client, tool, argument, shared string }{
		{"copilot-cli", "write_bash", "input", "command"}, {"copilot-cli", "write_powershell", "input", "command"}, {"codex", "write_stdin", "chars", "command"},
		{"codex", "shell_command", "workdir", "cwd"}, {"vscode", "send_to_terminal", "", ""}, {"vscode", "create_and_run_task", "task[].command", "command"},
		{"vscode", "run_task", "", ""}, {"vscode", "run_notebook_cell", "", ""}, {"vscode", "run_vscode_command", "", ""}, {"vscode", "install_python_packages", "", ""},
		{"antigravity", "send_command_input", "Input", "command"}, {"kiro", "executePwsh", "", ""}, {"kiro", "use_aws", "", ""},
	} {
		if tool := FindTool(c.client, c.tool); tool.Class != "shell" || tool.SharedName(c.argument) != c.shared {
			t.Errorf("%s %s: %q, %q", c.client, c.tool, tool.Class, tool.SharedName(c.argument))
		}
	}
}

// What stands inside a list of objects has the class's name, too, and what cannot be read
// there is an error: a rule would not see it.
func TestGathered(t *testing.T) {
	for _, c := range []struct{ client, tool, args, want string }{
		{"cline", "run_commands", `{"commands":["a","b"]}`, `{"commands":["a","b"]}`},
		{"cline", "run_commands", `{"commands":[{"command":"a"},"b"]}`, `{"command":["a","b"],"commands":[{"command":"a"},"b"]}`},
		{"cline", "run_commands", `{"commands":[{"command":"rm","args":["-rf","a b","it's",""]},"b"]}`,
			`{"command":["rm -rf 'a b' 'it'\\''s' ''","b"],"commands":[{"command":"rm","args":["-rf","a b","it's",""]},"b"]}`},
		{"cline", "run_commands", `{"commands":[{"command":"rm","args":"-rf"}]}`, ""},
		{"cline", "run_commands", `{"commands":[{"command":"rm","args":[{}]}]}`, ""},
		{"cline", "run_commands", `{"command":"rm","args":["-rf"]}`, ""},
		{"cline", "run_commands", `{"cmd":"rm -rf x"}`, `{"cmd":"rm -rf x"}`},
		{"cline", "read_files", `{"files":[{"path":"/a"},{"path":"/b"}]}`, `{"path":["/a","/b"],"files":[{"path":"/a"},{"path":"/b"}]}`},
		{"cline", "read_files", `{"files":[]}`, `{"files":[]}`},
		{"cline", "read_files", `{"files":[{"path":1}]}`, ""},
		{"cline", "read_files", `{"files":{"path":"/a"}}`, `{"path":["/a"],"files":{"path":"/a"}}`},
		{"cline", "read_files", `{"files":1}`, ""},
		{"vscode", "create_and_run_task", `{"workspaceFolder":"/p","task":{"label":"x","type":"shell","command":"npm","args":["run","a b"],"group":"build"}}`,
			`{"command":["npm run 'a b'"],"workspaceFolder":"/p","task":{"label":"x","type":"shell","command":"npm","args":["run","a b"],"group":"build"}}`},
		{"vscode", "create_and_run_task", `{"task":{"command":"git status","linux":{"command":"rm -rf /"}}}`, ""},
		{"vscode", "create_and_run_task", `{"task":{"command":"git status","presets":[{"command":"rm"}]}}`, ""},
		{"vscode", "create_and_run_task", `{"task":{"command":{"value":"rm"}}}`, ""},
		{"vscode", "create_and_run_task", `{"task":"rm"}`, `{"command":["rm"],"task":"rm"}`},
		{"vscode", "create_and_run_task", `{"command":"git status","task":{"command":"rm"}}`, ""},
		{"cline", "read_files", `{"files":[{"path":"/a"}],"path":"/b"}`, ""},
		{"kiro", "fs_read", `{"operations":[{"mode":"Line","path":"/a"},{"mode":"Search"}]}`, `{"places":["/a"],"operations":[{"mode":"Line","path":"/a"},{"mode":"Search"}]}`},
		{"cline", "read_files", `{"files":[{"path":"/a","other_path":"/b"}]}`, ""},
	} {
		got, err := CompleteArguments(c.client, c.tool, []byte(c.args))
		if string(got) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s %s: %s, %v", c.tool, c.args, got, err)
		}
	}
}
