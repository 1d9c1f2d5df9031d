package view

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/testing/visibletest"
	"github.com/clawai/clawai/policy"
)

// check fails t when the question holds anything but harmless text, or loses a
// value.
func check(t *testing.T, q Question, calls []policy.Call) {
	t.Helper()
	texts := append([]string{q.Title, q.Server, q.Rule, q.Digest}, q.Dangers...)
	for i := range q.Requests {
		r := &q.Requests[i]
		texts = append(append(append(texts, r.Server, r.Method, r.Word), r.Names...), r.Dangers...)
		for j, a := range r.Named {
			recovered(t, &a, calls[i].Names[j])
		}
		want := decoded(t, calls[i].Args)
		at := 0
		for _, list := range [][]Arg{r.Named, r.Args} {
			for _, a := range list {
				texts = append(append(append(texts, a.Path, a.Value, a.Clean, a.PathLine()), a.Whole...), a.Marks...)
			}
		}
		for _, a := range r.Args {
			if a.Type == "name" || a.Type == "object" || a.Type == "array" {
				continue
			}
			if at == len(want) {
				t.Fatalf("more values than the %d there are", at)
			}
			recovered(t, &a, want[at])
			at++
		}
		if at != len(want) {
			t.Fatalf("%d values of %d", at, len(want))
		}
		for _, d := range r.Diff {
			texts = append(texts, d.Text)
		}
		texts = append(texts, r.Told...)
	}
	for _, width := range []int{0, 24, 80} {
		for _, row := range append(q.Lines(width), q.EntireLines(width)...) {
			texts = append(texts, row)
			if cells(row) > width && width > 0 {
				t.Fatalf("%d cells: %s", width, row)
			}
		}
	}
	headline := true // and what it goes on with
	for _, row := range q.Lines(30) {
		if headline = headline && (row == q.Headline(60) || row == Wrap([]string{q.Headline(60)}, 30)[0] || strings.HasPrefix(row, Continued)); headline {
			continue
		}
		if !begins(row) && row != "" {
			t.Fatalf("a line that is not ours: %s", row)
		}
	}
	for _, n := range []int{0, 24, 40, 100} {
		s := q.Headline(n)
		if texts = append(texts, s); n > 0 && cells(s) > n {
			t.Fatalf("%d cells: %s", n, s)
		}
	}
	for _, n := range []int{0, 1, 40, 100} {
		s := q.ShortLine(n)
		if texts = append(texts, s); utf8.RuneCountInString(s) > max(n, 1) {
			t.Fatalf("%d characters: %s", n, s)
		}
		if _, err := visibletest.Back(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	for _, s := range texts {
		if err := visibletest.Harmless(s); err != nil {
			t.Fatal(err)
		}
	}
}

func cells(s string) (n int) {
	for _, r := range s {
		n += Cells(r)
	}
	return n
}

// begins says that a row begins with words of ours.
func begins(row string) bool {
	for _, s := range []string{"careful    ", "server     ", "by server  ", "method     ", "tool       ", "resource   ", "prompt     ", "text       ", "asks       ",
		"runs       ", "reads      ", "writes     ", "deletes    ", "hosts      ", "hidden     ", "preview    ", "started    ", "asked for  ", "unforeseen ",
		"rule       ", "arguments  ", "changes    ", "request ", "  "} {
		if strings.HasPrefix(row, s) {
			return true
		}
	}
	return false
}

// recovered fails t when the text of a value is not in its lines.
func recovered(t *testing.T, a *Arg, want string) {
	t.Helper()
	lines := make([]string, 0, len(a.Whole))
	for line := range a.EachLine() {
		text, err := visibletest.Back(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		lines = append(lines, text)
	}
	if got := strings.Join(lines, "\n"); got != want && !strings.Contains(want, "\ufffd") {
		t.Fatalf("%+q is shown as %+q", want, got)
	}
	if !a.Folded && a.Type == "string" {
		got, err := visibletest.Back(strings.TrimSuffix(strings.TrimPrefix(a.Value, `"`), `"`))
		if err != nil || got != want && !strings.Contains(want, "\ufffd") {
			t.Fatalf("%+q is shown as %s (%v)", want, a.Value, err)
		}
	}
}

// decoded are the values in a JSON text, read by other code than ours: texts
// decoded (what is not UTF-8 as U+FFFD), the rest as tokens.
func decoded(t *testing.T, src []byte) (values []string) {
	d := json.NewDecoder(strings.NewReader(string(src)))
	d.UseNumber()
	var open []json.Delim // whose names come next
	name := false
	for {
		token, err := d.Token()
		if err == io.EOF {
			return values
		}
		if err != nil {
			t.Fatal(err)
		}
		if delim, ok := token.(json.Delim); ok {
			if delim == '{' || delim == '[' {
				open = append(open, delim)
			} else {
				open = open[:len(open)-1]
			}
			name = len(open) > 0 && open[len(open)-1] == '{'
			continue
		}
		if name {
			name = false
			continue
		}
		name = len(open) > 0 && open[len(open)-1] == '{'
		if token == nil {
			token = "null"
		}
		values = append(values, fmt.Sprint(token))
	}
}

func FuzzOf(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":"b"}`, `[1,2,"x",null,true,[],{}]`, `"\ud800\udc00\ud800x\udc00"`, `{"a":{"b":[{"c":"\u001b[2J"}]},"":1}`, "{\"\u202e\":\" \u0430a \"}",
		`{"command":"rm -rf /","args":["-x"]}`, `{"path":"~/../.ssh/x","content":"a\nb\n"}`, `{"edits":[{"oldText":"a","newText":"b"}],"path":"/p/a"}`,
		`{"url":"http://0x7f.1:80@x/"}`, `"a\n\n\t  b   \r\n"`, `{"patch":"+a\n-b\n c\nd"}`, `1e999`, "\xff", "\v", " ", `{"k` + strings.Repeat("k", 400) + `":"` + strings.Repeat("é", 400) + `"}`,
		`"` + strings.Repeat(`\u0301`, 20) + `"`, `{"sql":"DELETE FROM a; DROP TABLE b"}`, `{"a.b":{"c[0]":1}}`, `"` + strings.Repeat(" ", 50) + `"`,
	} {
		f.Add([]byte(s), "write_patch")
		f.Add([]byte(s), "\x1b]52;c;eA==\a\u202e")
	}
	d := disk{"/p/a": "a\nb\nc\n"}
	f.Fuzz(func(t *testing.T, args []byte, name string) {
		calls := []policy.Call{
			{Server: name, Method: name, Subject: policy.ToolSubject, Names: []string{name}, Args: args, Malformed: name},
			{Server: "s", Method: "m", Subject: policy.ElicitationSubject, Names: []string{string(args), name}},
		}
		o := Options{Project: "/p", Home: "/h", ReadFile: d.read, Digest: [32]byte{1},
			Rule: policy.Rule{Pos: policy.Position{File: name, Line: 1}, Description: string(args)}}
		q, err := NewQuestion(calls, o)
		if err != nil {
			if json.Valid(args) && len(args) < 1000 {
				t.Fatalf("%q: %v", args, err)
			}
			return
		}
		check(t, q, calls)
	})
}
