package client

import "testing"

// What the client printed anew, what others put beside ours, and what is ours by another
// path or name goes or stays as it should.
func TestTakeHooksFromAChangedFile(t *testing.T) {
	row := hookRow(t, "claude-code")
	const theirs = `{"type":"command","command":"theirs"}`
	for _, tt := range []struct{ name, src, want string }{
		{"printed anew", "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"hooks\": [\n          {\n            \"command\": \"/x/clawai-hook\"\n          }\n        ]\n      }\n    ]\n  },\n  \"a\": 1\n}", "{\n  \"a\": 1\n}"},
		{"theirs in our group", `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"/x/clawai-hook"},` + theirs + `]}]}}`, `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[` + theirs + `]}]}}`},
		{"theirs behind ours", `{"hooks":{"PreToolUse":[{"hooks":[{"command":"/x/clawai-hook"}]}, {"hooks":[` + theirs + `]}]}}`, `{"hooks":{"PreToolUse":[{"hooks":[` + theirs + `]}]}}`},
		{"the other program's hook", `{"a":1,"hooks":{"Stop":[{"hooks":[{"command":"clawai","args":["hook","claude-code"]}]}]}}`, `{"a":1}`},
		{"a line of it", `{"a":1,"hooks":{"Stop":[{"hooks":[{"command":"exec '/x y/clawai-hook' codex"}]}]}}`, `{"a":1}`},
		{"a name that is only like it", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/x/clawai-hooked"},{"type":"command","command":"echo clawai-hook"}]}]}}`, ``},
		{"an empty file of ours", "{\n  \"hooks\": {}\n}\n", ``},
	} {
		back, err := TakeHooks(row, []byte(tt.src), row.EventNames())
		if tt.want == "" {
			tt.want = tt.src
		}
		if err != nil || string(back) != tt.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", tt.name, err, back, tt.want)
		}
	}
}

func TestTakeHooksLeavesComments(t *testing.T) {
	row := hookRow(t, "gemini")
	for _, tt := range []struct{ src, want string }{
		{"{\"hooks\": {\"BeforeTool\": [{\"hooks\":[{\"command\":\"/x/clawai-hook\"}]}, // mine\n {\"hooks\":[]}]}}", "{\"hooks\": {\"BeforeTool\": [ // mine\n {\"hooks\":[]}]}}"},
		{"{\"hooks\": {\"BeforeTool\": [{\"hooks\":[]}, // mine\n {\"hooks\":[{\"command\":\"/x/clawai-hook\"}]},]}}", "{\"hooks\": {\"BeforeTool\": [{\"hooks\":[]} // mine\n ,]}}"},
		{"{\"hooks\": {\"BeforeTool\": [ {\"hooks\":[{\"command\":\"/x/clawai-hook\"}]}, /* mine */ ]}}", "{\"hooks\": {\"BeforeTool\": [ /* mine */ ]}}"},
	} {
		back, err := TakeHooks(row, []byte(tt.src), row.EventNames())
		if err != nil || string(back) != tt.want {
			t.Errorf("%v\n%s\nwant\n%s", err, back, tt.want)
			continue
		}
		if _, err := openHooks(row, back); err != nil {
			t.Errorf("%v\n%s", err, back)
		}
	}
}

// An entry that differs is put right where it stands; one that shares its group with
// somebody's leaves that alone, and ours stands by itself.
func TestPutHooksRight(t *testing.T) {
	row := hookRow(t, "codex")
	const (
		ours   = `{"type":"command","command":"exec /opt/bin/clawai-hook codex","timeout":60}`
		theirs = `{"type":"command","command":"theirs"}`
	)
	for _, tt := range []struct{ name, src, want string }{
		{"another path", `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"/old/clawai-hook codex"}]}, {"hooks":[` + theirs + `]}]}}`,
			`{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[` + ours + `]}, {"hooks":[` + theirs + `]}]}}`},
		{"beside theirs", `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"/old/clawai-hook codex"},` + theirs + `]}]}}`,
			`{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[` + theirs + `]},{"matcher":"*","hooks":[` + ours + `]}]}}`},
		{"twice", `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[` + ours + `]},{"matcher":"Bash","hooks":[` + ours + `]}]}}`,
			`{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[` + ours + `]}]}}`},
		{"at an event that is not wanted", `{"hooks":{"Stop":[{"hooks":[` + ours + `]}],"PreToolUse":[{"matcher":"*","hooks":[` + ours + `]}]}}`,
			`{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[` + ours + `]}]}}`},
		{"of the big program", `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/opt/bin/clawai hook codex"}]}]}}`,
			`{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[` + ours + `]}]}}`},
	} {
		got, err := PutHooks(row, []byte(tt.src), []string{"PreToolUse"}, hookProgram)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", tt.name, err, got, tt.want)
		}
	}
}
