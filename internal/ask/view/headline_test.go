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
		{tool("git_commit", `{"repo_path":"/home/ada/app","message":"x"}`), "s wants to call git_commit on ~/app"},
		{tool("run_command", `{"args":["push","--force"],"command":"git","cwd":"/p"}`), `s wants to run "git push --force"`},
		{tool("bash", `{"command":"ls"}`), "s wants to run ls"},
		{tool("query", `{"sql":"select 1"}`), `s wants to run the SQL "select 1"`},
		{tool("execute_query", `{"query":"drop table x"}`), `s wants to run the SQL "drop table x"`},
		{tool("search", `{"query":"weather"}`), "s wants to call search"},
		{tool("browser_navigate", `{"url":"https://x.example/a?b=c"}`), "s wants to open https://x.example/a?b=c"},
		{tool("fetch", `{"url":"https://x.example/"}`), "s wants to fetch https://x.example/"},
		{tool("notify", `{"url":"https://x.example/"}`), "s wants to call notify with https://x.example/"},
		{tool("create_issue", `{"title":"x"}`), "s wants to call create_issue"},
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
