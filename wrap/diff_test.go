package wrap

import (
	"bytes"
	"strings"
	"testing"

	"github.com/clawai/clawai/wrap/client"
	"pgregory.net/rapid"
)

// The hunks of a diff lead from one file to the other, whatever the two are.
func TestHunksLeadFromOneFileToTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"a\n", "b\n", "\n", "  }\n", "c\r\n"})
		before := rapid.SliceOfN(word, 0, 12).Draw(t, "before")
		after := rapid.SliceOfN(word, 0, 12).Draw(t, "after")
		a, b := splitLines([]byte(strings.Join(before, "")+"end")), splitLines([]byte(strings.Join(after, "")))
		var got [][]byte
		at := 0
		for _, h := range findHunks(a, b) {
			if h.a < at {
				t.Fatalf("hunks overlap: %v", findHunks(a, b))
			}
			got = append(append(got, a[at:h.a]...), b[h.b:h.bEnd]...)
			at = h.aEnd
		}
		got = append(got, a[at:]...)
		if !bytes.Equal(bytes.Join(got, nil), bytes.Join(b, nil)) {
			t.Fatalf("got %q, want %q", got, b)
		}
	})
}

// A hunk is headed by every server that begins in it, in the order of the file.
func TestDiffHeadings(t *testing.T) {
	entry := func(name string, line int) Edit { return Edit{Entry: client.Entry{Name: name, Line: line}} }
	change := Change{
		Before: []byte("{\nold one\nold two\nsame\nthree\nold three\n"), After: []byte("{\nnew one\nnew two\nsame\nthree\nnew three\n"),
		Edits: []Edit{entry("three", 5), entry("two", 3), entry("one", 2)},
	}
	got := change.Diff("f")
	for _, want := range []string{"@@ -2,2 +2,2 @@ one, two\n", "@@ -6 +6 @@ three\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestDiffOfWhatIsNotPlain(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, c := range []struct{ name, before, after, want string }{
		{"a long line", long + "npx" + long, long + "clawai" + long,
			"@@ -1 +1 @@ s\n-… " + long[:40] + "npx" + long[:40] + " …\n\\ No newline at end of file\n+… " + long[:40] + "clawai" + long[:40] + " …\n\\ No newline at end of file\n"},
		{"a line is put in", "a\nb\n", "a\nnew\nb\n", "@@ -1,0 +2 @@ s\n+new\n"},
		{"lines are taken out", "a\nx\ny\nb\n", "a\nb\n", "@@ -2,2 +1,0 @@ s\n-x\n-y\n"},
		{"line ends", "a\r\nb\r\n", "a\r\nc\r\n", "@@ -2 +2 @@ s\n-b\n+c\n"},
		{"what a terminal would act on", "a\n", "\t\x1b[2J\u202e é\n", "@@ -1 +1 @@ s\n-a\n+\t\\u{1b}[2J\\u{202e} é\n"},
	} {
		change := Change{Before: []byte(c.before), After: []byte(c.after), Edits: []Edit{{Entry: client.Entry{Name: "s", Line: 1}}}}
		if got, want := change.Diff("f"), "--- f\n+++ f\n"+c.want; got != want {
			t.Errorf("%s: got\n%q, want\n%q", c.name, got, want)
		}
	}
}
