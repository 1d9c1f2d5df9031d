package policy

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/glob"
)

const reference = "../docs/policy.md"

func readReference(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every example of the reference loads, and the wrong one says what the
// reference says it does.
func TestReferenceExamples(t *testing.T) {
	blocks := regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$").FindAllStringSubmatch(readReference(t), -1)
	loaded, refused := 0, 0
	for i, b := range blocks {
		_, err := Parse("policy.toml", []byte(b[2]), Options{Home: home})
		switch b[1] {
		case "toml":
			loaded++
			if err != nil {
				t.Errorf("does not load: %v\n%s", err, b[2])
			}
		case "toml wrong":
			refused++
			if want := strings.TrimSpace(blocks[i+1][2]); err == nil || err.Error() != want {
				t.Errorf("says\n%v\nwant\n%s", err, want)
			}
		}
	}
	if loaded < 6 || refused < 1 {
		t.Errorf("found %d examples and %d wrong ones", loaded, refused)
	}
}

// What the reference says of calls is so.
func TestReferenceSays(t *testing.T) {
	_, first, _ := strings.Cut(readReference(t), "```toml\n")
	first, _, _ = strings.Cut(first, "```")
	lists := "[[rule]]\naction='allow'\ntool='*'\nargs.paths='/a/**'\n"
	other := "[[rule]]\naction='allow'\ntool='*'\nargs.paths='/b/**'\n"
	for _, c := range []struct {
		src, tool, args string
		want            Action
	}{
		{first, "read_file", `{"path":"~/projects/app/main.go"}`, Allow},
		{first, "read_file", `{"path":"/home/user/projects/a"}`, Allow},
		{first, "read_file", `{"path":"file:///home/user/projects/a"}`, Allow},
		{"[[rule]]\naction='allow'\ntool='*'\nargs.path=['~/**', 'file:///home/user/**']", "t", `{"path":"file:///home/user/a"}`, Allow},
		{"[[rule]]\naction='allow'\ntool='*'\nargs.path='file:///srv/**'", "t", `{"path":"file:///srv/a"}`, Allow},
		{first, "read_file", `{"path":"~/projects/app/.env"}`, Deny},
		{first, "read_file", `{"path":"/home/user/projects/../.ssh/id"}`, Deny},
		{first, "read_file", `{"path":"/home/user/projects/%2essh/id"}`, Deny},
		{first, "read_file", `{"path":"../x"}`, Deny},
		{first, "read_file", `{}`, Deny},
		{first, "write_file", `{"path":"~/projects/a","content":"x"}`, Prompt},
		{first, "delete", `{"path":"~/projects/a"}`, Deny},
		{lists + other, "t", `{"paths":["/a/x","/b/y"]}`, Allow},
		{lists, "t", `{"paths":["/a/x","/b/y"]}`, Deny},
		{lists, "t", `{"paths":[]}`, Deny},
		{"[[rule]]\naction='allow'\ntool='*'\nserver='a'", "t", `{}`, Deny},
		{"[[rule]]\naction='deny'\ntool='*'\nserver='a'\n[[rule]]\naction='allow'\ntool='*'", "t", `{}`, Deny},
		{"[[rule]]\naction='allow'\ntool='*'\nargs.limit=['100', '1e2']", "t", `{"limit":1e2}`, Allow},
		{"[[rule]]\naction='deny'\ntool='*'\nargs.limit='100'\n[[rule]]\naction='allow'\ntool='*'", "t", `{"limit":1e2}`, Deny},
	} {
		call := Call{Subject: ToolSubject, Names: []string{c.tool}, Args: []byte(c.args)}
		if d := mustLoad(t, c.src).Decide(&call); d.Action != c.want {
			t.Errorf("%s %s: %v, want %v by\n%s", c.tool, c.args, d.Action, c.want, c.src)
		}
	}
}

// The table of globs tells the truth.
func TestReferenceGlobs(t *testing.T) {
	_, table, found := strings.Cut(readReference(t), "| glob | matches | does not match |\n")
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			break
		}
		patterns := codes(cells[1])
		if len(patterns) != 1 {
			continue // the line below the heading
		}
		rows++
		p, err := glob.Compile(patterns[0])
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range map[int]bool{2: true, 3: false} {
			for _, s := range codes(cells[i]) {
				if p.Match(s) != want {
					t.Errorf("%q on %q: %v", p, s, !want)
				}
			}
		}
	}
	if !found || rows < 7 {
		t.Errorf("found %d rows", rows)
	}
}

// codes lists the texts between backquotes.
func codes(cell string) []string {
	var out []string
	for i, s := range strings.Split(cell, "`") {
		if i%2 == 1 {
			out = append(out, s)
		}
	}
	return out
}

// The page about replies has examples that load and names every kind.
func TestRepliesPage(t *testing.T) {
	page, err := os.ReadFile("../docs/replies.md")
	if err != nil {
		t.Fatal(err)
	}
	loaded := 0
	for _, b := range regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		switch b[1] {
		case "toml":
			loaded++
			if _, err := Parse("policy.toml", []byte(b[2]), Options{Home: home}); err != nil {
				t.Errorf("does not load: %v\n%s", err, b[2])
			}
		case "text kinds":
			if got, want := strings.Join(strings.Fields(b[2]), " "), strings.Join(FindingKinds(), " "); got != want {
				t.Errorf("names %s\nwant %s", got, want)
			}
			loaded++
		}
	}
	if loaded < 4 {
		t.Errorf("found %d examples", loaded)
	}
}
