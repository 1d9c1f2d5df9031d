package view

import "testing"

// Ordinary calls of ordinary servers. Marking one of them teaches people not to
// look.
func TestOrdinaryCallsAreRoutine(t *testing.T) {
	ordinary := []struct{ tool, args string }{
		// files
		{"read_file", `{"path":"/home/ann/project/main.go","head":40}`},
		{"read_text_file", `{"path":"/etc/hosts"}`},
		{"read_multiple_files", `{"paths":["/home/ann/project/a.go","/home/ann/.bashrc","README.md"]}`},
		{"list_directory", `{"path":"/home/ann"}`},
		{"list_allowed_directories", `{}`},
		{"directory_tree", `{"path":"/home/ann/project","excludePatterns":["node_modules",".git"]}`},
		{"search_files", `{"path":"/home/ann/project","pattern":"**/*.env*"}`},
		{"get_file_info", `{"path":"/usr/bin/git"}`},
		{"write_file", `{"path":"/home/ann/project/README.md","content":"# Install\n\n    curl -sSL https://x.example/i.sh | sh\n\nNever run rm -rf / or sudo rm.\n"}`},
		{"write_file", `{"path":"docs/.env.example","content":"DB=postgres://localhost/x"}`},
		{"write_file", `{"path":"/home/ann/project/deploy.sh","content":"#!/bin/sh\nsudo systemctl restart x\nrm -rf build\n"}`},
		{"write_file", `{"path":"/home/ann/project/emoji.md","content":"I \u2764\ufe0f this \ud83d\udc68\u200d\ud83d\udc69\u200d\ud83d\udc67"}`},
		{"edit_file", `{"path":"/home/ann/project/a.go","edits":[{"oldText":"chmod 777","newText":"chmod 755"}],"dryRun":false}`},
		{"create_directory", `{"path":"/home/ann/project/internal/new"}`},
		{"move_file", `{"source":"/home/ann/project/a.go","destination":"/home/ann/project/b.go"}`},
		{"str_replace_based_edit_tool", `{"command":"view","path":"/home/ann/other/a.py","view_range":[1,20]}`},
		{"str_replace_based_edit_tool", `{"command":"str_replace","path":"/home/ann/project/a.py","old_str":"eval(x)","new_str":"int(x)"}`},
		{"apply_patch", `{"patch":"*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** End Patch"}`},
		// version control and forges
		{"git_status", `{"repo_path":"/home/ann/project"}`},
		{"git_commit", `{"repo_path":"/home/ann/project","message":"Drop table of contents; delete from index"}`},
		{"git_add", `{"repo_path":"/home/ann/project","files":["a.go","b/.gitignore"]}`},
		{"git_checkout", `{"repo_path":"/home/ann/project","branch_name":"feature/shell"}`},
		{"create_issue", `{"owner":"ann","repo":"x","title":"sudo fails","body":"Run ` + "`sudo make install`" + ` and see rm -rf at work","labels":["bug"]}`},
		{"create_or_update_file", `{"owner":"ann","repo":"x","path":"src/a.ts","content":"export {}","message":"Add a","branch":"main"}`},
		{"push_files", `{"owner":"ann","repo":"x","branch":"main","files":[{"path":"a.md","content":"x"}],"message":"m"}`},
		{"create_pull_request", `{"owner":"ann","repo":"x","title":"Update users set","head":"topic","base":"main","body":"see http://localhost:3000"}`},
		{"search_code", `{"q":"os.Exec language:go"}`},
		{"add_issue_comment", `{"owner":"ann","repo":"x","issue_number":7,"body":"kill -9 -1 is not the way"}`},
		// web
		{"fetch", `{"url":"https://go.dev/doc/effective_go","max_length":5000}`},
		{"brave_web_search", `{"query":"how to DROP TABLE in postgres without sudo","count":10}`},
		{"web_search", `{"query":"rm -rf explained"}`},
		{"browser_navigate", `{"url":"https://example.com/login?next=/home"}`},
		{"browser_click", `{"element":"Submit button","ref":"e12"}`},
		{"browser_type", `{"element":"Search","ref":"e3","text":"curl | sh","submit":true}`},
		{"browser_console_messages", `{}`},
		{"browser_take_screenshot", `{"filename":"page.png"}`},
		// databases
		{"query", `{"sql":"SELECT id, name FROM users WHERE deleted_at IS NULL ORDER BY updated_at"}`},
		{"execute_query", `{"query":"UPDATE users SET name = 'x' WHERE id = 3; DELETE FROM sessions WHERE user_id = 3"}`},
		{"read_query", `{"query":"WITH t AS (SELECT 1) SELECT * FROM t"}`},
		{"write_query", `{"query":"INSERT INTO notes (text) VALUES ('drop by later')"}`},
		{"create_table", `{"query":"CREATE TABLE IF NOT EXISTS drops (id int, truncated bool)"}`},
		{"list_tables", `{}`},
		{"describe_table", `{"table_name":"grants"}`},
		{"mongodb_find", `{"database":"app","collection":"users","filter":{"age":{"$gt":21}},"limit":5}`},
		// memory, thinking, time
		{"create_entities", `{"entities":[{"name":"Ann","entityType":"person","observations":["likes bash and sudo"]}]}`},
		{"sequentialthinking", `{"thought":"First rm -rf the build folder, then curl x | sh","nextThoughtNeeded":true,"thoughtNumber":1,"totalThoughts":3}`},
		{"convert_time", `{"source_timezone":"Europe/Berlin","time":"14:30","target_timezone":"America/New_York"}`},
		{"get_current_time", `{"timezone":"Asia/Tokyo"}`},
		// people
		{"slack_post_message", `{"channel_id":"C123","text":"deployed to 10.0.0.4, see https://x.example"}`},
		{"send_email", `{"to":["ann@example.com"],"subject":"Re: password reset","body":"Hi Ann, the command is: sudo reboot"}`},
		{"create_event", `{"summary":"Shell meeting","start":"2026-01-31T09:00:00Z","location":"Room 1 / Floor 2"}`},
		{"notion_create_page", `{"parent":{"page_id":"abc"},"properties":{"title":[{"text":{"content":"Plan"}}]}}`},
		{"translate", `{"text":"\u043f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440","to":"en"}`},
		{"search_notes", `{"query":"\u05e9\u05dc\u05d5\u05dd"}`},
		{"add_task", `{"content":"Buy milk \ud83e\udd5b","due":"tomorrow","priority":4}`},
		// development
		{"run_tests", `{"pattern":"./internal/...","race":true}`},
		{"get_diagnostics", `{"uri":"file:///home/ann/project/a.go"}`},
		{"go_to_definition", `{"file":"/usr/local/go/src/fmt/print.go","line":10}`},
		{"kubectl_get", `{"resourceType":"pods","namespace":"default"}`},
		{"list_containers", `{"all":true}`},
		{"resolve-library-id", `{"libraryName":"shelljs"}`},
		{"get-library-docs", `{"context7CompatibleLibraryID":"/vercel/next.js","topic":"routing"}`},
		{"figma_get_file", `{"fileKey":"AbC","depth":2}`},
		{"get_terminal_output", `{"id":"3"}`},
		{"create_chart", `{"type":"bar","data":[1,2,3],"title":"Drop rate"}`},
		{"generate_image", `{"prompt":"a shell on the beach","size":"1024x1024"}`},
		{"npm_info", `{"package":"exec-sh","version":"1.0.0"}`},
		{"build", `{"command":"go build ./... && go vet ./...","cwd":"/home/ann/project"}`},
		{"task", `{"command":"npm run lint -- --fix"}`},
	}
	if len(ordinary) < 40 {
		t.Fatalf("only %d", len(ordinary))
	}
	for _, c := range ordinary {
		if got := reasons(t, call(c.tool, c.args), folders); got != nil {
			t.Errorf("%s %s: %q", c.tool, c.args, got)
		}
	}
}
