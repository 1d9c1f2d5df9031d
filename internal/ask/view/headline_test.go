package view

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/testing/visibletest"
	"github.com/clawai/clawai/policy"
)

// What is asked about a reply says that the calls were made, and why it is held.
func TestOfAReply(t *testing.T) {
	file := disk{"/p/a": "x\n"}
	for _, c := range []struct {
		calls []policy.Call
		want  string
	}{
		{[]policy.Call{call("fetch", `{"url":"https://x.example/"}`)}, "s was asked to fetch https://x.example/"},
		{[]policy.Call{call("write_file", `{"path":"/p/a","content":""}`)}, "s was asked to write /p/a"},
		{[]policy.Call{call("a", `{}`), call("b", `{}`)}, "s answers 2 calls at once"},
		{[]policy.Call{{Server: "s", Method: "notifications/message", Subject: policy.MethodSubject, Names: []string{"notifications/message"}}}, "s has sent notifications/message"},
	} {
		q, err := NewQuestion(c.calls, Options{Reply: true, Why: "its answer is held: found secret (1) at /x\u202e", ReadFile: file.read})
		if err != nil {
			t.Fatal(err)
		}
		if got := q.Headline(0); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if lines := q.Lines(0); !strings.HasPrefix(lines[1], Careful+("its answer is held: found secret (1) at /x")) || strings.Contains(lines[1], "\u202e") {
			t.Errorf("why: %q", lines)
		}
	}
}

func TestHeadline(t *testing.T) {
	onDisk := disk{"/home/ada/app/main.go": "a\nb\nc\nd\n"}
	tool := func(name, args string) policy.Call { return call(name, args) }
	for _, c := range []struct {
		call policy.Call
		want string
	}{
		{tool("edit_file", `{"path":"/home/ada/app/main.go","edits":[{"oldText":"b\n","newText":"1\n2\n3\n"}]}`), "s wants to edit ~/app/main.go  +3 −1"},
		{tool("write_file", `{"path":"/home/ada/app/main.go","content":""}`), "s wants to write ~/app/main.go  +0 −4"},
		{tool("write_file", `{"path":"/home/ada/app/new.go","content":"x\n"}`), "s wants to create ~/app/new.go  +1 −0"},
		{tool("read_text_file", `{"path":"/home/ada/app/main.go"}`), "s wants to read ~/app/main.go"},
		{tool("read_multiple_files", `{"paths":["/etc/hosts","/b","/c"]}`), "s wants to read /etc/hosts and 2 more"},
		{tool("move_file", `{"source":"/home/ada/a","destination":"/home/ada/b"}`), "s wants to move ~/a to ~/b"},
		{tool("create_directory", `{"path":"/home/ada/x"}`), "s wants to create the folder ~/x"},
		{tool("search_files", `{"path":"/p","pattern":"*.go"}`), `s wants to search /p for "*.go"`},
		{tool("search_and_delete", `{"path":"/p"}`), "s wants to delete /p"},
		{tool("str_replace_based_edit_tool", `{"command":"view","path":"/p/a"}`), "s wants to read /p/a"},
		{tool("git_commit", `{"repo_path":"/home/ada/app","message":"x"}`), `s wants to commit "x" in ~/app`},
		{tool("run_command", `{"args":["push","--force"],"command":"git","cwd":"/p"}`), `s wants to run "git push --force"`},
		{tool("bash", `{"command":"ls"}`), "s wants to run ls"},
		{tool("query", `{"sql":"select 1"}`), `s wants to run the SQL "select 1"`},
		{tool("execute_query", `{"query":"drop table x"}`), `s wants to run the SQL "drop table x"`},
		{tool("search", `{"query":"weather"}`), `s wants to search for "weather"`},
		{tool("browser_navigate", `{"url":"https://x.example/a?b=c"}`), "s wants to open https://x.example/a?b=c"},
		{tool("fetch", `{"url":"https://x.example/"}`), "s wants to fetch https://x.example/"},
		{tool("notify", `{"url":"https://x.example/"}`), "s wants to call notify with https://x.example/"},
		{tool("create_issue", `{"title":"x"}`), `s wants to create an issue "x"`},
		{tool("create_issue_then_delete_repository", `{"title":"x"}`), "s wants to call create_issue_then_delete_repository"},
		{tool("git_create_branch", `{"repo_path":"/home/ada/app","branch_name":"fix/x"}`), "s wants to create a branch fix/x in ~/app"},
		{tool("git_add", `{"repo_path":"/home/ada/app","files":["a.go","b.go"]}`), "s wants to stage a.go and 1 more in ~/app"},
		{tool("git_diff", `{"repo_path":"/home/ada/app","target":"main"}`), "s wants to read changes since main in ~/app"},
		{tool("create_pull_request", `{"owner":"acme","repo":"app","title":"Fix it","head":"fix","base":"main"}`), `s wants to create a pull request "Fix it" in acme/app from fix into main`},
		{tool("merge_pull_request", `{"owner":"acme","repo":"app","pullNumber":31}`), "s wants to merge a pull request #31 in acme/app"},
		{tool("add_issue_comment", `{"owner":"acme","repo":"app","issue_number":4,"body":"Seen"}`), `s wants to comment on issue #4 in acme/app with "Seen"`},
		{tool("create_or_update_file", `{"owner":"acme","repo":"app","path":"a.txt","branch":"main"}`), "s wants to write a.txt in acme/app on main"},
		{tool("delete_file", `{"owner":"acme","repo":"app","path":"a.txt"}`), "s wants to delete a.txt in acme/app"},
		{tool("fork_repository", `{"owner":"acme","repo":"app"}`), "s wants to fork a repository acme/app"},
		{tool("update_issue", `{"id":"APP-41"}`), "s wants to update an issue APP-41"},
		{tool("createJiraIssue", `{"projectKey":"APP","summary":"Broken"}`), `s wants to create an issue "Broken" in APP`},
		{tool("slack_post_message", `{"channel_id":"C01","text":"Done."}`), `s wants to post a message "Done." to C01`},
		{tool("slack_add_reaction", `{"channel_id":"C01","reaction":"eyes"}`), "s wants to add a reaction eyes to C01"},
		{tool("send_email", `{"to":["a@x.example","b@x.example"],"subject":"Hi"}`), `s wants to send an email "Hi" to a@x.example and 1 more`},
		{tool("browser_click", `{"element":"Save","target":"e12"}`), `s wants to click "Save" at e12`},
		{tool("browser_type", `{"element":"Search","target":"e9","text":"cursor"}`), `s wants to type "cursor" into "Search" at e9`},
		{tool("browser_evaluate", `{"function":"() => 1"}`), `s wants to run in the page "() => 1"`},
		{tool("delete_entities", `{"entityNames":["a b","c"]}`), `s wants to forget "a b" and 1 more`},
		{tool("WebSearch", `{"query":"go 1.25"}`), `s wants to search the web for "go 1.25"`},
		{tool("Grep", `{"pattern":"TODO","path":"/home/ada/app"}`), `s wants to search files for "TODO" in ~/app`},
		{tool("fetch_webpage", `{"urls":["https://x.example/","https://y.example/"]}`), "s wants to fetch https://x.example/ and 1 more"},
		{tool("post_message", `{"text":"x\" to C01","channel":"a b"}`), `s wants to post a message "x\" to C01" to "a b"`},
		{tool("post_message", `{}`), "s wants to post a message"},
		{policy.Call{Server: "s", Subject: policy.ResourceSubject, Names: []string{"file:///p/a"}}, "s wants to read file:///p/a"},
		{policy.Call{Server: "s", Subject: policy.PromptSubject, Names: []string{"review"}}, "s wants to give the prompt review"},
		{policy.Call{Server: "s", Subject: policy.SamplingSubject, Names: []string{"be kind", "what is 2+2?"}}, `s wants your model to read "what is 2+2?" and 1 more`},
		{policy.Call{Server: "s", Subject: policy.ElicitationSubject, Names: []string{"Name?"}}, `s wants to ask you "Name?"`},
		{policy.Call{Server: "s", Subject: policy.ElicitationSubject, Names: []string{"Sign in", "https://x.example"}}, "s wants you to open https://x.example"},
		{policy.Call{Server: "s", Method: "roots/list"}, "s wants to call roots/list"},
		{policy.Call{Subject: policy.SamplingSubject}, `a server without a name wants your model to read ""`},
		// What could pass for words of ours is in quotes.
		{tool("read_file", `{"path":"/p/a  +0 −0"}`), `s wants to read "/p/a  +0 \u{2212}0"`},
		{tool("read_file", `{"path":"~/x"}`), `s wants to read "~/x"`},
		{tool("read_file", `{"path":"/home/ada/../eve/x"}`), "s wants to read /home/ada/../eve/x"},
		{tool("read_file", `{"path":"/p/\u001b[2J…"}`), `s wants to read "/p/\u{1b}[2J\u{2026}"`},
		{policy.Call{Server: "files wants to read", Subject: policy.PromptSubject, Names: []string{"x"}}, `"files wants to read" wants to give the prompt x`},
	} {
		q, err := NewQuestion([]policy.Call{c.call}, Options{Home: "/home/ada", ReadFile: onDisk.read})
		if got := q.Headline(0); err != nil || got != c.want {
			t.Errorf("%s, want %s (%v)", got, c.want, err)
		}
	}
}

// Of what is too long for its row the middle is left out: names end in what tells them
// apart.
func TestAHeadlineIsCutInTheMiddle(t *testing.T) {
	q, err := NewQuestion([]policy.Call{call("read_file", `{"path":"/home/ada/projects/app/internal/deep/down/main.go"}`)}, Options{Home: "/home/ada"})
	if err != nil {
		t.Fatal(err)
	}
	for cells, want := range map[int]string{
		60: "s wants to read ~/projects/app/internal/deep/down/main.go",
		40: "s wants to read ~/projects/a…own/main.go",
		20: "s wants to read ~/p…",
	} {
		if got := q.Headline(cells); got != want {
			t.Errorf("%d: %s, want %s", cells, got, want)
		}
	}
	if got := shortenText(`ab\u{1b}\u{202e}cd`, 7); got != "ab…cd" {
		t.Errorf("an escape is cut: %s", got)
	}
}

// What two questions have in common is said once, what differs with each.
func TestSeveralQuestions(t *testing.T) {
	var qs []Question
	for _, path := range []string{"/p/a", "/p/b"} {
		q, err := NewQuestion([]policy.Call{call("read_file", `{"path":"`+path+`"}`)}, Options{Rule: policy.Rule{Pos: policy.Position{File: "p.toml", Line: 7}}})
		if err != nil {
			t.Fatal(err)
		}
		qs = append(qs, q)
	}
	want := `1 of 2  wants to read /p/a
arguments  1
  path = "/p/a"

2 of 2  wants to read /p/b
arguments  1
  path = "/p/b"

server     "s"
method     tools/call
tool       "read_file"
rule       p.toml:7`
	if got := strings.Join(RenderSeveral(qs, 80), "\n"); got != want {
		t.Error(got)
	}
	other, err := NewQuestion([]policy.Call{call("write_file", `{"path":"/p/c"}`)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(RenderSeveral(append(qs, other), 80), "\n")
	if strings.Count(got, "p.toml:7") != 2 || strings.Count(got, `tool       "read_file"`) != 2 || strings.Count(got, "method ") != 1 {
		t.Error(got)
	}
}

// line reads a line of a change as a person would; it is written apart from plainLine.
func line(t testing.TB, shown string) string {
	if !strings.Contains(shown, `\u{`) && !strings.Contains(shown, `\x{`) {
		return strings.ReplaceAll(shown, "→   ", "\t")
	}
	s, err := visibletest.Back(shown)
	if err != nil {
		t.Fatalf("%q: %v", shown, err)
	}
	return s
}

func TestPlainLines(t *testing.T) {
	for s, want := range map[string]string{
		"\tfmt.Println(\"hi\\n\")":          `→   fmt.Println("hi\n")`,
		"Name      string":                  "Name      string",
		"x\t":                               "x→   ",
		"":                                  "",
		"x ":                                `x\u{20}`,
		`\u{1b}[2J`:                         `\\u{1b}[2J`,
		"\x1b[2J \"x\"":                     `\u{1b}[2J \"x\"`,
		"a → b":                             `a \u{2192} b`,
		"\u0440\u0430y\tp":                  `\u{440}\u{430}y\tp`,
		"a" + strings.Repeat(" ", 41) + "b": "a   " + strings.Repeat(`\u{20}`, 38) + "b",
	} {
		if got := plainLine(s); got != want {
			t.Errorf("%+q: %s, want %s", s, got, want)
		}
	}
}

// No two lines are shown alike, and none does anything to a screen.
func FuzzPlainLine(f *testing.F) {
	for _, s := range []string{"\tx", `\t`, "x\t", "→   x", `\u{1b}`, "\x1b", "a  b", " \" ", "\\", "\u0301", "\"\u0301", "\u0441\u043e\u0440 \u043f", "\xff", "\u202e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, "\n\r") {
			return
		}
		shown := plainLine(s)
		if got := line(t, shown); got != s {
			t.Fatalf("%+q is shown as %s, which reads as %+q", s, shown, got)
		}
		if err := visibletest.Harmless(shown); err != nil {
			t.Fatal(err)
		}
	})
}

// Rows without their marks are the line again, whatever it is, and none is too wide.
func FuzzWrap(f *testing.F) {
	for _, s := range []string{"no such file", `\u00e9`, `\é`, "\x1b", "a  b", "\u6f22\u6f22", `\u{`, "e\u0301e\u0301"} {
		f.Add(s, 20)
		f.Add(s, 8)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		if width < 8 || width > 200 || strings.ContainsAny(s, "\n\r") {
			return
		}
		for _, line := range []string{plainLine(s), lineText(s)} {
			rows := Wrap([]string{line}, width)
			if got := strings.ReplaceAll(strings.Join(rows, "\n"), "\n"+Continued, ""); got != line {
				t.Fatalf("%q at %d: %q", line, width, rows)
			}
			for _, row := range rows {
				if cells(row) > width || !utf8.ValidString(row) {
					t.Fatalf("%q at %d: %q", line, width, row)
				}
			}
		}
	})
}

// Each sentence of the table begins with words of ours, and each value that it names has a name or is
// the plain name of an argument.
func TestSentencesOfTools(t *testing.T) {
	names := map[string]bool{}
	for _, row := range namedDeeds {
		for name := range strings.SplitSeq(row.names, ", ") {
			if names[name] || name != strings.ToLower(name) {
				t.Errorf("%q is there twice, or is no list of words", name)
			}
			names[name] = true
		}
		for i, part := range strings.Split(row.sentence, "|") {
			_, key, valued := strings.Cut(part, "{")
			if valued == (i == 0) || valued && plainKey(strings.TrimSuffix(key, "}"))+"}" != key {
				t.Errorf("%q: %q", row.names, part)
			}
		}
	}
}
