package toml

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// outline lists the expressions of a text, the values below them, and why it ended.
func outline(src string) (all []string) {
	d := New([]byte(src))
	defer d.Close()
	for {
		e, ok := d.NextExpression()
		if !ok {
			break
		}
		line, column := d.PositionAt(e.Start)
		all = append(all, fmt.Sprintf("%d:%d %s %s: %s", line, column, forms[e.Form], key(e.Key), src[e.Start:e.End]))
		if e.Form == Pair {
			all = append(all, values(e.Value)...)
		}
	}
	if at, msg, found := d.SyntaxError(); found {
		line, column := d.PositionAt(at)
		all = append(all, fmt.Sprintf("%d:%d %s", line, column, msg))
	} else if at, msg, found := d.FirstConflict(); found {
		line, column := d.PositionAt(at)
		all = append(all, fmt.Sprintf("%d:%d %s", line, column, msg))
	}
	return all
}

var forms = map[Form]string{Pair: "pair", Table: "table", TableArray: "tables"}

func key(parts []KeyPart) string {
	var names []string
	for _, p := range parts {
		names = append(names, p.Name)
	}
	return strings.Join(names, "/")
}

// values lists a value and what is in it.
func values(v Value) []string {
	is := map[bool]int{true: 1}
	all := []string{fmt.Sprintf("%s %q %q", v.DescribeKind(), v.Text(), v.SourceText())}
	if n := is[v.IsString()] + is[v.IsList()] + is[v.IsTable()] + is[v.IsBool()] + is[v.IsNumber()]; n > 1 || n == 0 && v.DescribeKind() != "a date or time" {
		all = append(all, fmt.Sprint("is of ", n, " kinds"))
	}
	switch {
	case v.IsNumber():
		n, err := v.ParseNumber()
		all = append(all, fmt.Sprintf("%T %v %v", n, n, err))
	case v.IsList():
		v.EachElement(func(v Value) { all = append(all, values(v)...) })
	case v.IsTable():
		if v.HasTable() {
			all = append(all, "nests")
		}
		v.EachPair(func(k []KeyPart, v Value) { all = append(append(all, key(k)), values(v)...) })
	}
	return all
}

// Expressions, keys and values stand where the text has them, and what is wrong with a text
// is found at its place.
func TestDocument(t *testing.T) {
	for src, want := range map[string][]string{
		"a = 'x' # c\n\"b\".c = \"\\u00e4\"\n": {
			"1:1 pair a: a = 'x'",
			"a string \"x\" \"'x'\"",
			"2:1 pair b/c: \"b\".c = \"\\u00e4\"",
			"a string \"ä\" \"\\\"\\\\u00e4\\\"\"",
		},
		"[ a ]\n  [[b . c]]\n": {
			"1:1 table a: [ a ]",
			"2:3 tables b/c: [[b . c]]",
		},
		"a = [true, 1, 2026-01-02]\n": {
			"1:1 pair a: a = [true, 1, 2026-01-02]",
			"a list \"\" \"\"",
			"a boolean \"true\" \"true\"",
			"a number \"1\" \"1\"",
			"int64 1 <nil>",
			"a date or time \"2026-01-02\" \"2026-01-02\"",
		},
		"a = [-1_000, 0x1F, 1.5, inf]": {
			"1:1 pair a: a = [-1_000, 0x1F, 1.5, inf]",
			"a list \"\" \"\"",
			"a number \"-1_000\" \"-1_000\"",
			"int64 -1000 <nil>",
			"a number \"0x1F\" \"0x1F\"",
			"int64 31 <nil>",
			"a number \"1.5\" \"1.5\"",
			"float64 1.5 <nil>",
			"a number \"inf\" \"inf\"",
			"float64 +Inf value out of range",
		},
		"a = {b = 1, c.d = 'x'}\n": {
			"1:1 pair a: a = {b = 1, c.d = 'x'}",
			"a table \"\" \"{\"",
			"nests",
			"b",
			"a number \"1\" \"1\"",
			"int64 1 <nil>",
			"c/d",
			"a string \"x\" \"'x'\"",
		},
		"a = {b = {c = 1}}": {
			"1:1 pair a: a = {b = {c = 1}}",
			"a table \"\" \"{\"",
			"nests",
			"b",
			"a table \"\" \"{\"",
			"c",
			"a number \"1\" \"1\"",
			"int64 1 <nil>",
		},
		"a = {b = 1}": {
			"1:1 pair a: a = {b = 1}",
			"a table \"\" \"{\"",
			"b",
			"a number \"1\" \"1\"",
			"int64 1 <nil>",
		},
		"'\u00e4' = 1 2\n": {
			"1:9 expected newline but got U+0032 '2'",
		},
		"a = \u00e4": {
			"1:5 unexpected character U+00C3 'Ã' at start of value",
		},
		"'\u00e4\u00e4', = 1": {
			"1:5 expected '=' after key",
		},
		"a = \"\u00e4": {
			"1:6 unterminated basic string",
		},
		"[a]\nb = 1\n[a]\n": {
			"1:1 table a: [a]",
			"2:1 pair b: b = 1",
			"a number \"1\" \"1\"",
			"int64 1 <nil>",
			"3:1 table a: [a]",
			"3:2 a is already defined, as a table",
		},
	} {
		if got := outline(src); !slices.Equal(got, want) {
			t.Errorf("%q is\n%s\nwant\n%s", src, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// After a mistake reading goes on where it is told to; positions are those of the whole text.
func TestRestart(t *testing.T) {
	src := "a = = 1\n\u00e4 \n[b]\n"
	d := New([]byte(src))
	if e, ok := d.NextExpression(); ok {
		t.Fatalf("read %+v", e)
	}
	d.RestartAt(strings.Index(src, "[b]"))
	e, ok := d.NextExpression()
	if line, column := d.PositionAt(e.Start); !ok || line != 3 || column != 1 || key(e.Key) != "b" {
		t.Errorf("%v, %d:%d %s", ok, line, column, key(e.Key))
	}
	if _, _, found := d.SyntaxError(); found {
		t.Error("an old mistake is reported again")
	}
	// On one line, in any order, in characters.
	at := strings.Index(src, "\u00e4")
	for _, c := range [][2]int{{at, 1}, {at + 2, 2}, {at + 3, 3}, {at + 2, 2}} {
		if line, column := d.PositionAt(c[0]); line != 2 || column != c[1] {
			t.Errorf("offset %d is %d:%d", c[0], line, column)
		}
	}
}

// A position does not depend on those that were asked for before.
func TestAPositionInAnyOrder(t *testing.T) {
	const src = "a = 1\n\nbä = 'ü'\r\n[[x]]\ny = \"\"\"\nz\n\"\"\"\n"
	offsets := []int{0, len(src), 3, 3, 5, 6, 7, 12, 10, 12, 0, 20, 7, 19, 19, 6, len(src) - 1, 1}
	d := New([]byte(src))
	for _, offset := range offsets {
		before := src[:offset]
		start := strings.LastIndexByte(before, '\n') + 1
		wantLine, wantColumn := strings.Count(before, "\n")+1, utf8.RuneCountInString(before[start:])+1
		if line, column := d.PositionAt(offset); line != wantLine || column != wantColumn {
			t.Errorf("offset %d: %d:%d, want %d:%d", offset, line, column, wantLine, wantColumn)
		}
	}
}

// TestADocumentLeavesNothingToTheNext: documents share parsers, also after an error and in the middle of a text.
func TestADocumentLeavesNothingToTheNext(t *testing.T) {
	const sound = "a = [1, [2, { b = 3 }]]\n[[t]]\nc.d = \"e\"\n"
	want := outline(sound)
	for _, before := range []string{"a = [[[[", "a = { b = 1, c = [ 2", "[a]\nb = 1\n[a]\n", "a = \"" + strings.Repeat("x", 1<<12) + "\"\n", "a = 1\nb = 2\n"} {
		outline(before)
		half := New([]byte(before)) // given up after one expression
		half.NextExpression()
		half.Close()
		if got := outline(sound); !slices.Equal(got, want) {
			t.Errorf("after %.20q: %q, want %q", before, got, want)
		}
	}
}
