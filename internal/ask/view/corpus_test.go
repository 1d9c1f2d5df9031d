package view_test

import (
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/testing/viewtest"

	"github.com/clawai/clawai/internal/testing/slow"
)

func TestTheCorpusIsLargeAndNamed(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range viewtest.Cases() {
		if seen[c.Name] || c.Technique == "" || len(c.Calls) == 0 || c.Server == "" {
			t.Errorf("%q: twice, or not told", c.Name)
		}
		seen[c.Name] = true
	}
	if len(seen) < 100 {
		t.Errorf("only %d cases", len(seen))
	}
	t.Logf("%d cases", len(seen))
}

func TestTheViewShowsEveryCase(t *testing.T) {
	slow.Test(t)
	for _, c := range viewtest.Cases() {
		q, err := view.NewQuestion(c.Calls, view.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		for _, width := range []int{0, 20, 40, 80} {
			viewtest.Check(t, c, strings.Join(q.Lines(width), "\n"))
			viewtest.CheckHarmless(t, c, strings.Join(q.EntireLines(width), "\n"))
		}
		for n := range 120 {
			viewtest.CheckHarmless(t, c, q.ShortLine(n))
		}
	}
}

// naive shows the calls of a case with everything made text by show.
func naive(c viewtest.Case, show func(string) string) string {
	var b strings.Builder
	for _, call := range c.Calls {
		fmt.Fprintf(&b, "server %s\nmethod %s\n", show(call.Server), show(call.Method))
		for _, name := range call.Names {
			fmt.Fprintln(&b, show(name))
		}
		var v any
		if json.Unmarshal(call.Args, &v) == nil {
			naiveValue(&b, "", v, show)
		}
	}
	return b.String()
}

func naiveValue(b *strings.Builder, path string, v any, show func(string) string) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range []string{"before", "value", "path", "content", "style", "last"} { // the order of the wire, where it is known
			if inner, ok := v[k]; ok {
				naiveValue(b, path+"."+show(k), inner, show)
				delete(v, k)
			}
		}
		for k, inner := range v {
			naiveValue(b, path+"."+show(k), inner, show)
		}
	case []any:
		for i, inner := range v {
			naiveValue(b, fmt.Sprintf("%s[%d]", path, i), inner, show)
		}
	case string:
		fmt.Fprintf(b, "  %s = \"%s\"\n", path[1:], show(v))
	default:
		fmt.Fprintf(b, "  %s = %v\n", path[1:], v)
	}
}

// What the check is worth: showing texts in any of these ways must not pass.
func TestNaiveScreensFail(t *testing.T) {
	drop := func(pattern, by string) func(string) string {
		re := regexp.MustCompile(pattern)
		return func(s string) string { return re.ReplaceAllString(s, by) }
	}
	const text = "sequence control direction invisible alike"
	const seen = "ideographic full stop" // told from a dot by its looks
	for _, n := range []struct {
		name  string
		show  func(string) string
		kinds string
		pass  string // cases that are shown right all the same
	}{
		{"raw", func(s string) string { return s }, text, seen},
		{"codes stripped", drop(`\x1b\[[0-9;?]*[a-zA-Z]`, ""), text, seen},
		{"controls dropped", drop(`\pC`, ""), text, seen + ",forged line"},
		{"question marks", drop(`[^ -~]`, "?"), text, seen + ",forged line"},
		{"escaped as Go does", func(s string) string { return fmt.Sprintf("%q", s) }, "sequence", ""},
		{"first forty letters", func(s string) string { return s[:min(len(s), 40)] }, "long", "nothing,blanks only,blank at both ends"},
		{"raw", func(s string) string { return s }, "long form", "newline flood,nothing,blanks only,blank at both ends,wide,our wrapping,a check mark,an order to the person"},
		{"HTML", func(s string) string { return html.UnescapeString(drop(`<[^>]*>`, "")(s)) }, "markup", markdown},
		{"Markdown", drop("`|\\*|~~|!?\\[(.*?)\\](: .*|\\(.*?\\))|<[^>]*>|\\\\", "$1"), "markup",
			"entities,template,script address,format string,terminal markup,shell,SQL,address in text,leading dash,CSV formula"},
		{"nothing", func(string) string { return "" }, text + " long form markup plain structure name several other", ""},
	} {
		var passed []string
		total := 0
		for _, c := range viewtest.Cases() {
			if !strings.Contains(n.kinds, c.Kind) {
				continue
			}
			total++
			if viewtest.Problems(c, naive(c, n.show)) == nil && !strings.Contains(","+n.pass+",", ","+c.Name+",") {
				passed = append(passed, c.Name)
			}
		}
		if len(passed) > 0 || total == 0 {
			t.Errorf("%s: of %d cases these pass: %q", n.name, total, passed)
		}
	}
}

// markdown are the markup cases that HTML leaves alone.
const markdown = "template,script address,data address,Markdown link,Markdown picture,Markdown fence,Markdown emphasis,Markdown reference," +
	"Markdown comment,format string,shell,SQL,address in text,leading dash,CSV formula"
