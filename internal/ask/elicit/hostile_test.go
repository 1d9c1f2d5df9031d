package elicit

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/viewtest"
	"github.com/clawai/clawai/policy"
)

// shown is the message of a call, or why there is none.
func shown(t testing.TB, calls []policy.Call) (string, error) {
	q := question(&client{})
	q.Calls = calls
	return New(Options{Project: "/work", Home: "/home/ada"}).formMessage(q)
}

// Whatever a call holds, the message shows what will run, and no medium finds
// markup in it.
func TestHostileArguments(t *testing.T) {
	elsewhere := 0
	for _, c := range viewtest.Cases() {
		text, err := shown(t, c.Calls)
		if err != nil {
			elsewhere++
			continue
		}
		viewtest.Check(t, c, medium.Replace(text))
		inMarkdown(t, text)
		inHTML(t, text)
	}
	if most := len(viewtest.Cases()) / 20; elsewhere > most {
		t.Errorf("%d cases were too much for a form, at most %d should be", elsewhere, most)
	}
}

// medium takes out what inert puts in; everything else stays.
var medium = strings.NewReplacer(`\u{3c}`, "<", `\u{26}`, "&", `]\u{28}`, "](", `\u{3a}//`, "://")

// inMarkdown holds that a reader of Markdown finds one code block, all of it
// ours outside (CommonMark 4.5: a fence is closed by one at least as long, with
// nothing behind it, at most three blanks before it).
func inMarkdown(t testing.TB, text string) {
	t.Helper()
	lines := strings.Split(text, "\n")
	fence := lines[2]
	if lines[0] != "clawai asks the owner: let this call through?" || lines[1] != "" || strings.Trim(fence, "`") != "" || len(fence) < 3 {
		t.Fatalf("begins with something else:\n%s", text)
	}
	end := 0
	for i := 3; i < len(lines); i++ {
		if strings.Contains(lines[i], fence) {
			end = i
			break
		}
	}
	if end != len(lines)-3 || lines[end] != fence || lines[end+1] != "" ||
		!regexp.MustCompile(`^(No answer by \d\d:\d\d:\d\d denies it\. )?Nothing is done before you answer\.$`).MatchString(lines[end+2]) {
		t.Errorf("the block ends elsewhere, or not alone:\n%s", text)
	}
}

// inHTML holds that nothing begins a tag, an entity, or an address that is made
// a link of.
func inHTML(t testing.TB, text string) {
	t.Helper()
	for _, never := range []string{"<", "&", "://", "]("} {
		if strings.Contains(text, never) {
			t.Errorf("holds %q:\n%s", never, text)
		}
	}
}

func TestAnyArgumentsAreInert(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		piece := rapid.SampledFrom([]string{
			"`", "```", "~~~", "\n", "<b>", "</pre>", "&lt;", "[a](b)", "![", "](", "http://x", "# h", "> q", "* l",
			"a", " ", "\x1b[2J", "\u202e", "\\", `"`, "|", "---", "*", "_",
		})
		value := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(r, "value"), "")
		name := strings.Join(rapid.SliceOfN(piece, 1, 10).Draw(r, "name"), "")
		text, err := shown(t, []policy.Call{{
			Server: name, Method: "tools/call", Subject: policy.ToolSubject, Names: []string{name},
			Args: []byte(`{` + quote(name) + `:` + quote(value) + `}`),
		}})
		if err != nil {
			r.Fatal(err)
		}
		inMarkdown(t, text)
		inHTML(t, text)
	})
}

func quote(s string) string {
	b := strings.Builder{}
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c < ' ':
			b.WriteString(`\u00` + string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15]))
		default:
			b.WriteRune(c)
		}
	}
	return b.String() + `"`
}

// No value of a call that needs care hides its middle, for nobody can look it up
// in a form; of one that needs none, only what is too long for a form.
func TestTheMiddleOfAValue(t *testing.T) {
	for _, c := range []struct {
		tool, room string
		want       bool
	}{
		{"run_command", strings.Repeat("echo a; ", 50), true},
		{"deploy", strings.Repeat("a", 400), true},
		{"run_command", strings.Repeat("echo a; ", 2000), false},
		{"run_command", strings.Repeat(`\n`, 400), true},
		{"run_command", strings.Repeat(`a\nb\n`, 100), false},
	} {
		text, err := shown(t, []policy.Call{{
			Server: "s", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{c.tool},
			Args: []byte(`{"what":"` + c.room + `; the point ;` + c.room + `"}`),
		}})
		if c.want && (err != nil || !strings.Contains(text, "; the point ;")) || !c.want && !errors.Is(err, errTooLong) {
			t.Errorf("%s with %d characters: %v\n%.600s", c.tool, 2*len(c.room), err, text)
		}
	}
}

// What is too much for a box is asked elsewhere, not cut.
func TestTooMuchForAForm(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	text, err := shown(t, []policy.Call{{Names: []string{"n"}, Args: []byte(`{"a":"` + long + `tail"}`)}})
	if err != nil || !strings.Contains(text, "tail") || len(text) > 2000 {
		t.Errorf("one long value: %d bytes, %v", len(text), err)
	}
	for _, args := range []string{
		`{"a":[` + strings.Repeat("1,", 200) + `1]}`,
		`{"a":["` + strings.Repeat(strings.Repeat("x", 299)+`","`, 70) + `"]}`,
		`{"a":[` + strings.Repeat("1,", 2000) + `1]}`,
		`{"a":`,
	} {
		if text, err := shown(t, []policy.Call{{Names: []string{"n"}, Args: []byte(args)}}); err == nil {
			t.Errorf("%.40s: asked in %d bytes", args, len(text))
		}
	}
	if _, err := New(Options{}).formMessage(gate.Question{Client: &client{}}); err == nil {
		t.Error("asked about nothing")
	}
}
