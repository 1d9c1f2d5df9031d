package view

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/cage/preview/report"
	"github.com/clawai/clawai/policy"
)

func shellCall(command string) []policy.Call {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	return []policy.Call{{Server: "claude-code", Subject: policy.ToolSubject, Names: []string{"Bash"}, Args: args}}
}

// What the words of a command show stands beside every command, and beside no other call.
func TestTellsCommands(t *testing.T) {
	for command, want := range map[string]string{
		"rm -rf build":             "runs       rm|deletes    build",
		"cat a.txt > b.txt":        "runs       cat|reads      a.txt|writes     b.txt",
		"curl https://x.example/a": "runs       curl|hosts      x.example",
		"make clean":               "runs       make|hidden     what make runs or loads, its words do not show",
		"$(echo rm) x":             "runs       echo|hidden     it also runs what its words do not show",
	} {
		q, err := NewQuestion(shellCall(command), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(q.Requests[0].Told, "|"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", command, got, want)
		}
	}
	q, err := NewQuestion([]policy.Call{{Server: "files", Subject: policy.ToolSubject, Names: []string{"read_file"}, Args: []byte(`{"path":"/a"}`)}}, Options{})
	if err != nil || q.Requests[0].Told != nil {
		t.Errorf("%v %v", q.Requests, err)
	}
}

func TestCommandOf(t *testing.T) {
	for args, want := range map[string][]string{
		`{"command":"ls","cwd":"/p"}`:                   {"/p", "ls"},
		`{"command":["bash","-lc","ls"],"workdir":"x"}`: {"x", "bash", "-lc", "ls"},
		`{"path":"/a"}`:                                 {""},
		`[`:                                             {""},
	} {
		words, folder := CommandOf(&policy.Call{Subject: policy.ToolSubject, Names: []string{"run"}, Args: []byte(args)})
		if got := append([]string{folder}, words...); !slices.Equal(got, want) {
			t.Errorf("%s: %q", args, got)
		}
	}
}

func fullReport() *report.Result {
	return &report.Result{
		Counts: report.Counts{Created: 2, Changed: 2, Deleted: 31},
		Changes: []report.Change{
			{What: report.Changed, Path: "/home/ana/p/a.txt", Kind: "file", Size: 4, Mode: 0o644, Was: 0o644, Shown: true, Before: "a\nsecret line\n", After: "a\nb\n", Names: 1},
			{What: report.Created, Path: "/home/ana/p/run\x1b[2J", Kind: "file", Size: 9, Mode: 0o755},
			{What: report.Created, Path: "/home/ana/p/l", Kind: "link", Link: "/etc/passwd"},
			{What: report.Modified, Path: "/home/ana/p/m", Kind: "file", Mode: 0o600, Was: 0o644},
			{What: report.Deleted, Path: "/home/ana/p/build", Kind: "folder", Files: 30},
			{What: report.Deleted, Path: "/home/ana/p/.env", Kind: "file", Hidden: true},
		},
		Programs: []string{"/usr/bin/rm", "/bin/rm", "/usr/bin/curl"}, Hosts: []string{"x.example:443"}, Code: 3, Output: "one\nlast words\n", Left: 1, Full: true,
	}
}

// A question says what a preview found: counts, names, changes of texts, programs, hosts, how it ended,
// and what it does not foresee.
func TestPreviewInQuestions(t *testing.T) {
	text, err := json.Marshal(fullReport())
	if err != nil {
		t.Fatal(err)
	}
	q, err := NewQuestion(shellCall("make"), Options{Preview: text, Home: "/home/ana"})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(q.Lines(0), "\n")
	for _, want := range []string{
		"preview    it would create 2, change 2, delete 31 files; it ended with exit code 3, and 1 process was left of it",
		"  change   ~/p/a.txt (4 bytes)", "  - ┆ secret line", "  + ┆ b", `\u{1b}[2J`, "a program", "a link to /etc/passwd", "600, was 644",
		"a folder with 30 files", "a secret place, which was empty", "started    rm, curl", "asked for  x.example:443", "  ┆ last words",
		"unforeseen the network gave no answer", "512 MiB", "hard links",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if len(q.Dangers) != len(mustQuestion(t, Options{}).Dangers) {
		t.Error("a preview changes how careful a person must be")
	}
	brief := strings.Join(mustQuestion(t, Options{Preview: text, Brief: true}).Lines(0), "\n")
	for _, private := range []string{"secret line", "a.txt", "last words"} {
		if strings.Contains(brief, private) {
			t.Errorf("the brief form has %q:\n%s", private, brief)
		}
	}
	if !strings.Contains(brief, "delete 31") || !strings.Contains(brief, "x.example") {
		t.Errorf("the brief form lacks something:\n%s", brief)
	}
	for text, want := range map[string]string{`{"fault":"no\nnamespaces"}`: `preview    none: no\nnamespaces`, `{`: "preview    none: it cannot be read", `{"ended":"time"}`: "had not ended"} {
		if got := strings.Join(mustQuestion(t, Options{Preview: []byte(text)}).Lines(0), "\n"); !strings.Contains(got, want) {
			t.Errorf("%s: %s", text, got)
		}
	}
}

func mustQuestion(t *testing.T, o Options) Question {
	t.Helper()
	q, err := NewQuestion(shellCall("make"), o)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// Whatever a preview found, its lines are harmless, and each begins with words of ours.
func FuzzPreview(f *testing.F) {
	text, err := json.Marshal(fullReport())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"fault":"\u202e\u001b]52"}`))
	f.Add([]byte(`{"changes":[{"what":"\n","path":"\n","kind":"\u202e","shown":true,"after":"\r\n\u0007"}],"programs":["\n/\n"],"hosts":["\u200b"],"code":-1,"output":"\u001b"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, brief := range []bool{false, true} {
			calls := shellCall("make")
			q, err := NewQuestion(calls, Options{Preview: text, Home: "/home/ana", Brief: brief})
			if err != nil {
				t.Fatal(err)
			}
			check(t, q, calls)
		}
	})
}
