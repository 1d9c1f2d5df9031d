package view

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

// disk is Options.ReadFile over a map.
type disk map[string]string

func (d disk) read(name string) ([]byte, error) {
	switch text, ok := d[name]; {
	case !ok:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case text == "locked":
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	case text == "fifo":
		return nil, errors.New("not a file\x1b[2J")
	case text == "huge":
		return nil, ErrTooLarge
	default:
		return []byte(text), nil
	}
}

func TestDiff(t *testing.T) {
	d := disk{
		"/p/a": "one\ntwo\nthree\n", "/p/locked": "locked", "/p/fifo": "fifo", "/p/huge": "huge", "/p/open": "x\ny", "/p/twice": "a\na\n",
		"/p/long": strings.Repeat("same\n", 50), "/p/large": strings.Repeat("x", MaxFile+1), `C:\p\a`: "one\n",
	}
	for _, c := range []struct {
		tool, args string
		want       []string
	}{
		{"write_file", `{"path":"/p/a","content":"one\n2\nthree\n"}`, []string{`#/p/a  +1 −1`, " one", "-two", "+2", " three"}},
		{"write_file", `{"path":"/p/a","content":"one\ntwo\nthree\n"}`, []string{`#/p/a  +0 −0; the file stays as it is`, "#… 3 lines stay …"}},
		{"write_file", `{"path":"/p/new","content":"\ta  \n\u001b[2J"}`, []string{`#/p/new  +2 −0; a new file`, `+\ta\u{20}\u{20}`, `+\u{1b}[2J`}},
		{"write_file", `{"path":"/p/locked","content":"x"}`, []string{`#/p/locked  +1 −0; the file on disk cannot be read: permission denied`, "+x"}},
		{"write_file", `{"path":"/p/fifo","content":"x"}`, []string{`#/p/fifo  +1 −0; the file on disk cannot be read: not a file\u{1b}[2J`, "+x"}},
		{"write_file", `{"path":"/p/huge","content":"x"}`, []string{`#/p/huge  +1 −0; the file on disk is too large for a comparison`, "+x"}},
		{"write_file", `{"path":"/p/large","content":"x"}`, []string{`#/p/large  +1 −0; the file on disk is too large for a comparison`, "+x"}},
		{"write_file", `{"path":"/p/open","content":"x\ny\n"}`, []string{`#/p/open  +0 −0; the last line gets a line end`, "#… 2 lines stay …"}},
		{"write_file", `{"path":"/p/a","content":"one\ntwo\nthree"}`, []string{`#/p/a  +0 −0; the last line loses its line end`, "#… 3 lines stay …"}},
		{"write_file", `{"path":"/p/a","content":""}`, []string{`#/p/a  +0 −3`, "-one", "-two", "-three"}},
		{"write_file", `{"path":"/p/long","content":"` + strings.Repeat(`same\n`, 25) + `new\n` + strings.Repeat(`same\n`, 25) + `"}`,
			[]string{`#/p/long  +1 −0`, "#… 22 lines stay …", " same", " same", " same", "+new", " same", " same", " same", "#… 22 lines stay …"}},
		{"write_file", `{"path":"C:\\p\\a","content":"1"}`, []string{`#"C:\\p\\a"  +1 −1; the last line loses its line end`, "-one", "+1"}},
		{"write_file", `{"path":"a","content":"x"}`, nil},
		{"write_file", `{"path":"/p/../p/a","content":"x"}`, nil},
		{"write_file", `{"path":"/p/a\u0000","content":"x"}`, nil},
		{"write_file", `{"path":"~/a","content":"x"}`, nil},
		{"write_file", `{"path":5,"content":"x"}`, nil},
		{"read_file", `{"path":"/p/a","content":"x"}`, nil},
		{"send_email", `{"path":"/p/a","content":"x"}`, nil},
		{"save_all", `{"files":[{"path":"/p/new","content":"x"},{"path":"/p/a","content":"one\n"},{"note":"x"}]}`,
			[]string{`#/p/new  +1 −0; a new file`, "+x", `#/p/a  +0 −2`, " one", "-two", "-three"}},

		{"edit_file", `{"path":"/p/a","edits":[{"oldText":"two","newText":"2\n2b"},{"oldText":"2b","newText":"3b"}]}`,
			[]string{`#/p/a  +2 −1`, " one", "-two", "+2", "+3b", " three"}},
		{"edit_file", `{"path":"/p/a","edits":[{"oldText":"two","newText":"2"},{"oldText":"four","newText":"4"}]}`,
			[]string{`#/p/a  +2 −2; change 2 of 2: the text to replace is not in the file`, "-two", "+2", "-four", "+4"}},
		{"edit_file", `{"path":"/p/twice","old_string":"a","new_string":"b"}`,
			[]string{`#/p/twice  +1 −1; change 1 of 1: the text to replace is in the file 2 times; which of them goes, the server decides`, "-a", "+b"}},
		{"edit_file", `{"path":"a","edits":[{"oldText":"x\ny","newText":"x\nz"}]}`, []string{`#a  +1 −1; not compared with the file`, " x", "-y", "+z"}},
		{"edit_file", `{"path":"/p/new","old_string":"a","new_string":"b"}`, []string{`#/p/new  +1 −1; a new file`, "-a", "+b"}},
		{"edit_file", `{"path":"/p/a","old_string":"","new_string":"b"}`, []string{`#/p/a  +1 −0; not compared with the file`, "+b"}},
		{"edit_file", `{"path":"/p/a","edits":[]}`, nil},
		{"edit_file", `{"path":"/p/a","other":{"oldText":"x","newText":"y"},"edits":[{"oldText":"two","newText":"2"},{"oldText":"x"}]}`,
			[]string{`#/p/a  +1 −1`, " one", "-two", "+2", " three"}},
		{"str_replace_based_edit_tool", `{"command":"str_replace","path":"/p/a","old_str":"two\n"}`, []string{`#/p/a  +0 −1`, " one", "-two", " three"}},
		{"str_replace_based_edit_tool", `{"command":"create","path":"/p/new","file_text":"x"}`, []string{`#/p/new  +1 −0; a new file`, "+x"}},
		{"str_replace_based_edit_tool", `{"command":"insert","path":"/p/a","insert_line":2,"new_str":"x"}`, []string{`#/p/a  +1 −0; after line "2"`, "+x"}},
		{"str_replace_based_edit_tool", `{"command":"insert","path":"/p/a","new_str":"x"}`, []string{`#/p/a  +1 −0; after line ?`, "+x"}},
		{"str_replace_based_edit_tool", `{"command":"view","path":"/p/a"}`, nil},
		{"append_file", `{"path":"/p/a","content":"x"}`, []string{`#/p/a  +1 −0; into the file`, "+x"}},

		{"apply_patch", `{"patch":"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same\n"}`,
			[]string{"#a patch  +1 −1", "@--- a/x", "@+++ b/x", "@@@ -1 +1 @@", "-old", "+new", " same"}},
		{"apply_patch", `{"input":"` + strings.Repeat("x", MaxFile+1) + `"}`, []string{"#a patch: too large for a comparison"}},
		{"write_file", `{"path":"/p/a","content":"` + strings.Repeat("x", MaxFile+1) + `"}`, []string{`#/p/a: too large for a comparison`}},
		{"edit_file", `{"path":"/p/a","old_str":"x","new_str":"` + strings.Repeat("x", MaxFile) + `"}`, []string{`#/p/a: too large for a comparison`}},
	} {
		q, err := NewQuestion([]policy.Call{call(c.tool, c.args)}, Options{Project: "/p", ReadFile: d.read})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range q.Requests[0].Diff {
			got = append(got, string(l.Op)+l.Text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %.200s\n got %q\nwant %q", c.tool, c.args, got, c.want)
		}
	}
	q, err := NewQuestion([]policy.Call{call("write_file", `{"path":"/p/a","content":"x"}`)}, Options{})
	if err != nil || q.Requests[0].Diff != nil {
		t.Errorf("nothing can be read: %v, %v", q.Requests[0].Diff, err)
	}
	if got := q.Requests[0].ChangeLines(); got != nil {
		t.Errorf("%q", got)
	}
}

func TestALongDiffSaysHowMuchIsLeft(t *testing.T) {
	text := strings.Repeat("line\\n", 3000) + strings.Repeat("y", 400)
	q, err := NewQuestion([]policy.Call{call("write_file", `{"path":"/p/a","content":"`+text+`"}`), call("write_file", `{"path":"/p/b","content":"x\n"}`)},
		Options{ReadFile: disk{}.read})
	if err != nil {
		t.Fatal(err)
	}
	d := q.Requests[0].Diff
	if last := d[len(d)-1]; last != (DiffLine{'#', "… the next 1001 lines are not shown here …"}) || len(d) != maxDiff+2 {
		t.Errorf("%d lines, %q", len(d), last)
	}
	if d = q.Requests[1].Diff; len(d) != 2 || d[1].Text != "… the next 1 line is not shown here …" {
		t.Errorf("%q", d)
	}
	q, err = NewQuestion([]policy.Call{call("write_file", `{"path":"/p/a","content":"`+strings.Repeat("y", 400)+`"}`)}, Options{ReadFile: disk{}.read})
	if err != nil || !strings.Contains(q.Requests[0].Diff[1].Text, `yyy" (400 characters, SHA-256 `) {
		t.Errorf("a long line: %q, %v", q.Requests[0].Diff, err)
	}
}

// Whatever is compared, both texts can be read out of it, and for short ones no
// comparison has fewer changes.
func TestCompareLosesNothing(t *testing.T) {
	slow.Test(t)
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n, letters int) []string {
		list := make([]string, r.IntN(n+1))
		for i := range list {
			list[i] = string(rune('a' + r.IntN(letters)))
		}
		return list
	}
	for range 5000 {
		a, b := random(12, 3), random(12, 3)
		edits := compareLines(a, b)
		changed := sides(t, a, b, edits)
		if want := len(a) + len(b) - 2*common(a, b); changed != want {
			t.Fatalf("%q %q: %d changes, want %d", a, b, changed, want)
		}
	}
	for range 20 {
		a, b := random(3000, 400), random(3000, 400)
		sides(t, a, b, compareLines(a, b))
	}
}

// sides checks that edits hold a and b, and counts the changes.
func sides(t *testing.T, a, b []string, edits []edit) (changed int) {
	t.Helper()
	var was, will []string
	for _, e := range edits {
		if e.op != '+' {
			was = append(was, e.line)
		}
		if e.op != '-' {
			will = append(will, e.line)
		}
		if e.op != ' ' {
			changed++
		}
	}
	if !slices.Equal(was, a) || !slices.Equal(will, b) {
		t.Fatalf("%q %q: %v", a, b, edits)
	}
	return changed
}

// common is the length of the longest common subsequence.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			above := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}
