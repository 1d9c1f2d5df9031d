package builtin

import (
	"slices"
	"strings"
	"testing"
)

// Every row is of a class that there is, and shares names that the class has.
func TestTable(t *testing.T) {
	if len(Clients()) < 10 {
		t.Errorf("%d clients", len(Clients()))
	}
	for _, c := range clients {
		seen := map[string]bool{}
		for _, row := range c.tools {
			i := slices.IndexFunc(Classes(), func(k Class) bool { return k.Name == row.class })
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
			for _, name := range row.names {
				if seen[name] {
					t.Errorf("%s: %s stands twice", c.id, name)
				}
				seen[name] = true
				if got := Of(c.id, name); got.Class != row.class || !slices.Contains(Names(c.id, row.class), name) {
					t.Errorf("%s %s: %+v", c.id, name, got)
				}
			}
		}
	}
}

func TestOf(t *testing.T) {
	if got := Of("claude-code", "Read"); got.Class != "read" || got.Shared("file_path") != "path" || got.Shared("limit") != "" {
		t.Errorf("%+v", got)
	}
	for _, c := range [][2]string{{"claude-code", "read"}, {"claude-code", "Cron"}, {"files", "Read"}, {"", "Bash"}} {
		if got := Of(c[0], c[1]); got != (Tool{}) || got.Shared("x") != "" {
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
		{client: "codex", tool: "apply_patch", args: `[`, err: "its arguments are no object"},
		{client: "gemini-cli", tool: "web_fetch", args: `{"prompt":"see HTTPS://a.test/x. and (http://b.test)"}`,
			want: `{"url":["HTTPS://a.test/x.","HTTPS://a.test/x","http://b.test"],"prompt":"see HTTPS://a.test/x. and (http://b.test)"}`},
		{client: "gemini-cli", tool: "web_fetch", args: `{"prompt":"nothing"}`, err: "its prompt names no URL"},
	} {
		got, err := Complete(c.client, c.tool, []byte(c.args))
		if text(err) != c.err || string(got) != c.want {
			t.Errorf("%s %s %.80s\n got %s, %v\nwant %s, %s", c.client, c.tool, c.args, got, err, c.want, c.err)
			continue
		}
		if err == nil { // as a record has it
			if again, err := Complete(c.client, c.tool, got); err != nil || string(again) != string(got) {
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
	got, err := object(nil).with([]byte("{ }"), "path", "[]")
	if err != nil || string(got) != `{"path":[] }` {
		t.Errorf("%s, %v", got, err)
	}
}

// What stands inside a list of objects has the class's name, too, and what cannot be read
// there is an error: a rule would not see it.
func TestGathered(t *testing.T) {
	for _, c := range []struct{ client, tool, args, want string }{
		{"cline", "run_commands", `{"commands":["a","b"]}`, `{"commands":["a","b"]}`},
		{"cline", "run_commands", `{"commands":[{"command":"a"},"b"]}`, `{"command":["a","b"],"commands":[{"command":"a"},"b"]}`},
		{"cline", "read_files", `{"files":[{"path":"/a"},{"path":"/b"}]}`, `{"path":["/a","/b"],"files":[{"path":"/a"},{"path":"/b"}]}`},
		{"cline", "read_files", `{"files":[]}`, `{"files":[]}`},
		{"cline", "read_files", `{"files":[{"path":1}]}`, ""},
		{"cline", "read_files", `{"files":{"path":"/a"}}`, ""},
		{"cline", "read_files", `{"files":[{"path":"/a"}],"path":"/b"}`, ""},
		{"kiro", "fs_read", `{"operations":[{"mode":"Line","path":"/a"},{"mode":"Search"}]}`, `{"path":["/a"],"operations":[{"mode":"Line","path":"/a"},{"mode":"Search"}]}`},
	} {
		got, err := Complete(c.client, c.tool, []byte(c.args))
		if string(got) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s %s: %s, %v", c.tool, c.args, got, err)
		}
	}
}
