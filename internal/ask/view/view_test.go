package view

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/testing/visibletest"
	"github.com/clawai/clawai/policy"
)

func TestArgumentsStandAsOnTheWire(t *testing.T) {
	q, err := NewQuestion([]policy.Call{call("edit_file", " {\"z\" : \"\\ud83d\\ude00\\ud800\\u0041\\b\\f\\r\\t\\/\",\n\"edits\":[{\"newText\":\"a\\nb\"},1.50,true,null,{},[ ]],\t\"a.b\":{\"\":\"\"}}\r\n")},
		Options{Server: "files", Rule: policy.Rule{Pos: policy.Position{File: "/p/\x1b.toml", Line: 7}, Description: "Ask\nme"}, Digest: [32]byte{0xab, 1}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"files wants to call edit_file",
		"careful    holds text that hides or passes for other text (control characters)",
		"careful    holds text that hides or passes for other text (bytes that are not text)", "", "arguments  8",
		`  z = "\u{1f600}\x{ed}\x{a0}\x{80}A\u{8}\u{c}\u{d}\t/" ← control characters, bytes that are not text`,
		`  edits[0].newText = "a\nb"`, "  edits[1] = 1.50", "  edits[2] = true", "  edits[3] = null", "  edits[4] = {}", "  edits[5] = []", `  "a.b"."" = ""`,
		`server     "files"`, `by server  "s"`, "method     tools/call", `tool       "edit_file"`, `rule       /p/\u{1b}.toml:7 "Ask\nme"`,
	}
	if got := strings.Join(q.Lines(0), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s", got)
	}
	if q.Digest != "ab0100000000" || q.Title != `"edit_file" on "files"` || q.EntireLines(80) != nil {
		t.Errorf("%q, %q, %q", q.Digest, q.Title, q.EntireLines(80))
	}
}

// The home folder is ~ in what we say of the owner's files, never in what the
// call holds.
func TestTheHomeFolderIsShort(t *testing.T) {
	for file, want := range map[string]string{
		"/home/ada/.config/clawai/policy.toml": "~/.config/clawai/policy.toml",
		"/home/adam/policy.toml":               "/home/adam/policy.toml",
		"/etc/clawai/policy.toml":              "/etc/clawai/policy.toml",
	} {
		q, err := NewQuestion([]policy.Call{call("read_file", `{"path":"/home/ada/x"}`)},
			Options{Home: "/home/ada", Rule: policy.Rule{Pos: policy.Position{File: file, Line: 7}}})
		if lines := strings.Join(q.Lines(0), "\n"); err != nil || q.Rule != want+":7" || !strings.Contains(lines, `path = "/home/ada/x"`) {
			t.Errorf("%s: %q, %v\n%s", file, q.Rule, err, lines)
		}
	}
	if got := TildePath("/home/ada", ""); got != "/home/ada" {
		t.Errorf("without a home: %q", got)
	}
}

func TestLinesOfSeveralRequests(t *testing.T) {
	q, err := NewQuestion([]policy.Call{
		{Method: "sampling/createMessage", Subject: policy.SamplingSubject, Names: []string{"be kind", strings.Repeat("a", 301)}},
		{Method: "elicitation/create", Subject: policy.ElicitationSubject, Names: []string{"Which?"}},
		{Method: "resources/read", Subject: policy.ResourceSubject, Names: []string{"file:///a/../b"}},
		{Method: "roots/list", Subject: policy.MethodSubject, Names: []string{"roots/list"}},
		{Method: "prompts/get", Subject: policy.PromptSubject, Names: []string{"p"}, Args: []byte(`{"a":"/x/../y"}`)},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := strings.Repeat("a", 100)
	want := []string{
		"a server without a name wants 5 things at once",
		"careful    puts a server's words to your model",
		"", `request 1 of 5  wants your model to read "` + a[:93] + "…" + a[:92] + `" and 1 more`, `text       "be kind"`,
		`text       "` + a + a + `" … "` + a + `" (301 characters, SHA-256 ` + digest(q.Requests[0].Names[1]) + ")",
		"arguments  none", "method     sampling/createMessage",
		"", `request 2 of 5  wants to ask you "Which?"`, `asks       "Which?"`, "arguments  none", "method     elicitation/create",
		"", "request 3 of 5  wants to read file:///a/../b", "arguments  none", "method     resources/read", `resource   "file:///a/../b"`,
		"", "request 4 of 5  wants to call roots/list", "arguments  none", "method     roots/list", `method     "roots/list"`,
		"", "request 5 of 5  wants to give the prompt p", "arguments  1", `  a = "/x/../y" → "/y"`, "method     prompts/get", `prompt     "p"`,
		"", "server     not named",
	}
	if got := q.Lines(0); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := q.EntireLines(0); !slices.Equal(got, []string{"request 1: text, entire", Gutter + a + a + a + "a"}) {
		t.Errorf("%q", got)
	}
	if q.Title != "5 requests of not named" {
		t.Error(q.Title)
	}
	for i, want := range []string{"sampling/createMessage of not named", "elicitation/create of not named", `"file:///a/../b" on not named`, "roots/list of not named", `"p" on not named`} {
		one := Question{Server: q.Server, Requests: q.Requests[i : i+1]}
		if got := questionTitle(one); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func digest(folded string) string {
	_, s, _ := strings.Cut(folded, "SHA-256 ")
	return strings.TrimSuffix(s, ")")
}

func TestWhatCannotBeShownIsRefused(t *testing.T) {
	tool := func(args string) []policy.Call { return []policy.Call{call("x", args)} }
	values := func(n int) string { return "[" + strings.Repeat("1,", n-1) + "1]" }
	long := strings.Repeat("\U0010ffff", 300)
	for name, c := range map[string]struct {
		calls []policy.Call
		want  error
	}{
		"as many values as can be shown":    {tool(values(maxValues - 1)), nil},
		"one more":                          {tool(values(maxValues)), ErrTooMany},
		"as many requests":                  {slices.Repeat(tool(`{}`), maxRequests), nil},
		"one request more":                  {slices.Repeat(tool(`{}`), maxRequests+1), ErrTooMany},
		"names count":                       {[]policy.Call{{Names: make([]string, maxValues+1)}}, ErrTooMany},
		"values of all requests count":      {slices.Repeat(tool(values(maxValues/2)), 2), ErrTooMany},
		"a name as long as can be":          {tool(`{"` + strings.Repeat("k", maxName) + `":1}`), nil},
		"a longer name":                     {tool(`{"a":[{"` + strings.Repeat("k", maxName+1) + `":1}],"b":1}`), ErrTooMany},
		"names within names within names":   {tool(strings.Repeat(`{"`+long+`":`, 60) + values(900) + strings.Repeat("}", 60)), ErrTooMany},
		"not JSON":                          {tool(`{"a":`), ErrUnreadable},
		"two values":                        {tool(`{} {}`), ErrUnreadable},
		"blanks that are none to a program": {tool("\v"), ErrUnreadable},
		"only blanks":                       {tool(" \t\r\n"), nil},
		"no object":                         {tool(`"text"`), nil},
	} {
		if _, err := NewQuestion(c.calls, Options{}); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewQuestion(nil, Options{}); err == nil {
		t.Error("nothing is asked")
	}
}

func TestALongNameCanBeSeenWhole(t *testing.T) {
	q, err := NewQuestion([]policy.Call{call("x", `{"a":{"`+strings.Repeat("k", 301)+`":1}}`)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	args := q.Requests[0].Args
	if len(args) != 2 || args[0].Path != "a (name)" || args[0].Type != "name" || !args[0].Folded || args[0].Whole[0] != strings.Repeat("k", 301) || args[1].Value != "1" {
		t.Errorf("%+v", args)
	}
}

// Of a value that is too long for Whole, Each still gives all.
func TestAVeryLongValue(t *testing.T) {
	slow.Test(t)
	text := strings.Repeat("é line\\n", 20000)
	args := `{"first":"` + text + `","n":` + strings.Repeat("7", 400) + `}`
	q, err := NewQuestion([]policy.Call{call("x", args)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	first, n := &q.Requests[0].Args[0], &q.Requests[0].Args[1]
	if first.Hidden == 0 || !slices.Contains(first.Whole, fmt.Sprintf("… %d characters are not shown here …", first.Hidden)) {
		t.Errorf("%d hidden", first.Hidden)
	}
	shown := 0
	for _, line := range first.Whole {
		if !strings.HasPrefix(line, "…") {
			shown += len([]rune(line)) + 1
		}
	}
	if total := 7 * 20000; shown+first.Hidden < total || shown+first.Hidden > total+2 {
		t.Errorf("%d shown and %d hidden of %d", shown, first.Hidden, total)
	}
	count := 0
	for line := range first.EachLine() {
		if count++; count > 20000 && line != "" || count <= 20000 && line != "é line" {
			t.Fatalf("%d: %q", count, line)
		}
	}
	if count != 20001 {
		t.Errorf("%d lines", count)
	}
	for range first.EachLine() {
		break
	}
	if !n.Folded || n.Value != strings.Repeat("7", 200)+" … "+strings.Repeat("7", 100)+" (400 characters, SHA-256 "+digest(n.Value)+")" {
		t.Error(n.Value)
	}
	// There is a little room for every value, however much there was before.
	many := `[` + strings.Repeat(`"`+text+`",`, 30) + `"` + text + `"]`
	if q, err = NewQuestion([]policy.Call{call("x", many)}, Options{}); err != nil {
		t.Fatal(err)
	}
	if last := q.Requests[0].Args[30]; last.Hidden == 0 || len(last.Whole) < 100 {
		t.Errorf("%d lines of the last value", len(last.Whole))
	}
}

func TestEqualLinesAreCounted(t *testing.T) {
	text := "a\nb\nb\nb\n\n\n\n\n\n" + strings.Repeat("c", 300)
	q, err := NewQuestion([]policy.Call{call("x", map[string]string{"v": text})}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"v, entire", Gutter + "a", Gutter + "b", Gutter + "b", Gutter + "b", Gutter, "  … the same line 4 more times …", Gutter + strings.Repeat("c", 300)}
	if got := q.EntireLines(0); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestLinesOfAText(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"  a\tb  ":                      `  a\tb\u{20}\u{20}`,
		"\t\ta":                         `\t\ta`,
		"   ":                           `\u{20}\u{20}\u{20}`,
		strings.Repeat(" ", 40) + "a":   strings.Repeat(" ", 40) + "a",
		strings.Repeat(" ", 41) + "a":   "   " + strings.Repeat(`\u{20}`, 38) + "a",
		"a\r":                           `a\u{d}`,
		`\t`:                            `\\t`,
		"…":                             `\u{2026}`,
		"\u0301":                        `\u{301}`,
		"x\t" + "\u0440\u0430y" + "\tz": `x\t\u{440}\u{430}y\tz`,
	} {
		got := lineText(text)
		if got != want {
			t.Errorf("%+q: %s, want %s", text, got, want)
		}
		if again, err := visibletest.Back(got); err != nil || again != text {
			t.Errorf("%+q reads back as %+q (%v)", text, again, err)
		}
	}
}

func TestMarks(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain, Größe, привет, 你好　。 a\r\nb\tc 😀": "",
		"\x1b": markControl, "\u009b": markControl, "\x7f": markControl, "a\rb": markControl, "a\r": markControl,
		"\u202e": markDirection, "\u200f": markDirection, "\U000e0041": markTags, "\u200b": markHidden, "\ufe0f": markHidden, "\u2028": markHidden,
		"\u00a0": markHidden, "\u2800": markHidden, "\u3164": markHidden, "\U0001d159": markHidden, "\u00ad": markHidden, "\u05d0": markRight, "\u0645": markRight,
		"p\u0430y": markAlike, "\uff0f": markAlike, "a\u0301\u0301\u0301\u0301\u0301": markStacked, "\ue000": markPrivate, "\u0378": markPrivate, "\ufdd0": markPrivate,
		"\xff": markBroken, "\xed\xa0\x80": markBroken, strings.Repeat(" ", 41): markBlanks, strings.Repeat("\n", 41): markBlanks, strings.Repeat(" ", 40): "",
		"\x1b\u202e\xff":                        markControl + "," + markDirection + "," + markBroken,
		strings.Repeat("é", 1<<20) + "p\u0430y": markAlike,
		"p\u0430y" + strings.Repeat("é", 1<<20): markAlike,
	} {
		if got := strings.Join(findMarks(text), ","); got != want {
			t.Errorf("%.40q: %s, want %s", text, got, want)
		}
	}
}

// The letters that are passed over are never odd by themselves.
func TestUsualLettersHaveNoMark(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if isUsual(r) && (markOf(r) != "" || unicode.IsMark(r) || !unicode.IsGraphic(r)) {
			t.Errorf("%U", r)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		cells int
		want  string
	}{
		{"abc", 0, "abc"},
		{strings.Repeat("a", 12), 12, "aaaaaaaaaaaa"},
		{strings.Repeat("a", 13), 12, "aaaaaaaaaaaa|    ↳a"},
		{strings.Repeat("漢", 10), 12, "漢漢漢漢漢漢|    ↳漢漢漢|    ↳漢"},
		{"aaaaaaaaaaaж\u0336\u0336b", 12, "aaaaaaaaaaaж\u0336\u0336|    ↳b"},
		{"नमस्ते नमस्ते नमस्ते", 12, ""},
		{"abcdefghijk", 1, "abcdefgh|    ↳ijk"},
		{"no such file", 11, "no such|    ↳ file"},
		{"no such  file", 12, "no such |    ↳ file"},
		{"rm -rf / tmp", 11, "rm -rf /|    ↳ tmp"},
		{"rm -rf /tmpp", 11, "rm -rf|    ↳ /tmpp"},
		{"a verylongword", 10, "a verylong|    ↳word"},       // nothing is won by its first third alone
		{`  + ┆ "\u00e9"`, 12, `  + ┆|    ↳ "\u00e|    ↳9"`}, // of a plain line
		{`aaaaaaa\éé`, 8, `aaaaaaa\|    ↳éé`},
		{`aaaaaa\u{1b}b`, 10, `aaaaaa|    ↳\u{1b|    ↳}b`},
		{`aaaaaa\u{1b}b`, 11, `aaaaaa|    ↳\u{1b}|    ↳b`},
	} {
		got := strings.Join(Wrap([]string{c.text}, c.cells), "|")
		if c.want != "" && got != c.want {
			t.Errorf("%q at %d: %q", c.text, c.cells, got)
		}
		if joined := strings.ReplaceAll(got, "|"+Continued, ""); joined != c.text {
			t.Errorf("%q at %d: %q", c.text, c.cells, got)
		}
	}
}

func TestShort(t *testing.T) {
	q, err := NewQuestion([]policy.Call{call("run_command", `{"command":"a\u001b\\b","cwd":"/p"}`)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	full := `careful: "run_command" on "s"  command = "a\u{1b}\\b" ← control characters  cwd = "/p"`
	if got := q.ShortLine(200); got != full {
		t.Error(got)
	}
	for n, want := range map[int]string{
		0: "…", 1: "…", 2: "c…", 45: `careful: "run_command" on "s"  command = "a…`, 49: `careful: "run_command" on "s"  command = "a…`,
		50: `careful: "run_command" on "s"  command = "a\u{1b}…`, 51: `careful: "run_command" on "s"  command = "a\u{1b}…`, 52: `careful: "run_command" on "s"  command = "a\u{1b}\\…`,
	} {
		if got := q.ShortLine(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	if q, err = NewQuestion([]policy.Call{call("x", `{"a":`+"["+strings.Repeat(`"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",`, 900)+`1]}`)}, Options{}); err != nil {
		t.Fatal(err)
	}
	if got := q.ShortLine(10); got != `"x" on "s…` {
		t.Error(got)
	}
}

func TestChangesHaveAGutter(t *testing.T) {
	q, err := NewQuestion([]policy.Call{call("write_file", `{"path":"/p/a","content":"1\n2\n3\n4\nserver  \"safe\"\n"}`)},
		Options{Project: "/p", ReadFile: disk{"/p/a": "1\n2\n3\n4\nold\n"}.read})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"s wants to write /p/a  +1 −1", "", "  … 1 line stays …", "    ┆ 2", "    ┆ 3", "    ┆ 4", "  - ┆ old", `  + ┆ server  "safe"`, ""}
	if got := q.Lines(0); !slices.Equal(got[:len(want)], want) {
		t.Errorf("%q", got)
	}
}

// What comes beside the arguments is told apart from them, and needs care where
// MCP does not know it.
func TestBesideTheArguments(t *testing.T) {
	c := policy.Call{Server: "files", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"list"},
		Args: []byte(`{"params/cwd":"/p","x":1}`), Extra: []byte(`{"cwd":"/etc","task":{"ttl":60},"_meta":{"a/b":true}}`)}
	q, err := NewQuestion([]policy.Call{c}, Options{Project: "/p"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"files wants to call list",
		`careful    sends more than its arguments, in a member that MCP does not know: "cwd"`, "",
		`arguments  2`, `  "params/cwd" = "/p"`, `  x = 1`,
		`params     3 more`, `  params/cwd = "/etc"`, `  params/task.ttl = 60`, `  params/_meta."a/b" = true`,
		`server     "files"`, `method     tools/call`, `tool       "list"`,
	}
	if got := q.Lines(0); !slices.Equal(want, got) {
		t.Error(strings.Join(got, "\n"))
	}
	if s := q.ShortLine(500); !strings.Contains(s, `params/cwd = "/etc"`) {
		t.Error(s)
	}
	c.Extra = []byte(`{"task":{"ttl":60},"inputResponses":{},"requestState":"s","_meta":{"a/b":true}}`)
	if q, err = NewQuestion([]policy.Call{c}, Options{Project: "/p"}); err != nil || q.Dangers != nil {
		t.Error(err, q.Dangers)
	}
	if names := UnusualMembers(&policy.Call{Subject: policy.ToolSubject, Extra: []byte(`{`)}); len(names) != 1 {
		t.Error(names)
	}
	c.Extra = []byte(`{"a"`)
	if _, err := NewQuestion([]policy.Call{c}, Options{}); !errors.Is(err, ErrUnreadable) {
		t.Error(err)
	}
}
