package web

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/testing/termtest"
	"github.com/clawai/clawai/internal/testing/viewtest"
)

// A view is for who has the key, and its filter is read strictly.
func TestViews(t *testing.T) {
	v := &fakeViews{body: NewElement("p", "walnuts")}
	st := newSite(t, func(o *Options) { o.Views, o.Start = v, "/overview" })
	if resp, body := st.do("GET", "/view/overview", "", nil); resp.StatusCode != http.StatusUnauthorized || strings.Contains(body, "walnuts") {
		t.Errorf("a stranger: %s %s", resp.Status, body)
	}
	st.enter()
	for path, want := range map[string]string{
		"/view/overview":           `200 {"title":"overview ","body":["p",{},"walnuts"]}`,
		"/view/calls?tool=a%26b&x": `200 {"title":"calls tool=a%26b","body":["p",{},"walnuts"]}`,
		"/view/calls?tool=a&tool=": `400 {"text":"` + badFilter.Text + `"}`,
		"/view/calls?tool=%zz":     `400 {"text":"` + badFilter.Text + `"}`,
		"/view/calls?a;b":          `400 {"text":"` + badFilter.Text + `"}`,
	} {
		if resp, body := st.do("GET", path, "", nil); fmt.Sprint(resp.StatusCode, " ", strings.TrimSpace(body)) != want {
			t.Errorf("%s: %s %s", path, resp.Status, body)
		}
	}
	v.err = fmt.Errorf("%w: \x1b[2J", ErrFilter)
	if resp, body := st.do("GET", "/view/rules?rule=x", "", nil); resp.StatusCode != http.StatusBadRequest || !strings.Contains(body, `\\u{1b}[2J`) {
		t.Errorf("%s %s", resp.Status, body)
	}
	v.err = errors.New("the disk is gone")
	if resp, body := st.do("GET", "/view/rules", "", nil); resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "the disk is gone") {
		t.Errorf("%s %s", resp.Status, body)
	}
	v.err, v.body = nil, NewElement("p", NewElement("script", "alert(1)"))
	if resp, body := st.do("GET", "/view/rules", "", nil); resp.StatusCode != http.StatusServiceUnavailable || strings.Contains(body, "alert") {
		t.Errorf("an unknown element: %s %s", resp.Status, body)
	}
	if resp, body := newSite(t, nil).enter().do("GET", "/view/overview", "", nil); resp.StatusCode != http.StatusNotFound || !strings.Contains(body, "clawai dashboard") {
		t.Errorf("without views: %s %s", resp.Status, body)
	}
}

// No text of a view hides, moves or ends what stands beside it, however long it is.
func TestElementsAreHarmless(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	e := NewElement("div", evil, "", nil, (*Element)(nil), NewElement("a", long).Set("href", "/calls?tool="+evil).Set("aria-label", long))
	b, err := json.Marshal(e)
	if err != nil || !utf8.Valid(b) || len(b) > 3*maxElementText {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	var tree []any
	if err := json.Unmarshal(b, &tree); err != nil || len(tree) != 4 {
		t.Fatal(err, len(tree))
	}
	link, _ := tree[3].([]any)
	attributes, _ := link[1].(map[string]any)
	viewtest.CheckHarmless(t, viewtest.Case{Name: "texts"}, fmt.Sprint(tree[2], "\n", attributes["href"]))
}

// The script makes the elements that the server may send, and no others; and it stays small.
func TestScriptOfViews(t *testing.T) {
	script := string(newSite(t, nil).s.assets["/view.js"].body)
	for name, want := range map[string][]string{"tags": viewTags, "names": viewAttributes} {
		_, list, _ := strings.Cut(script, "const "+name+" = new Set([")
		list, _, _ = strings.Cut(list, "])")
		var got []string
		for _, m := range regexp.MustCompile(`'([^']+)'`).FindAllStringSubmatch(list, -1) {
			got = append(got, m[1])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, never := range []string{"script", "style", "iframe", "img", "object", "embed", "link", "base", "meta", "use", "foreignObject", "animate", "set", "style=", "src", "srcdoc", "action", "formaction", "xlink:href", "target"} {
		if slices.Contains(viewTags, never) || slices.Contains(viewAttributes, never) {
			t.Errorf("%s is made", never)
		}
	}
}

// What is allowed, asked and refused has the colours of the pictures of the terminal.
func TestOnePalette(t *testing.T) {
	_, dark, _ := strings.Cut(string(newSite(t, nil).s.assets["/page.css"].body), "prefers-color-scheme: dark")
	for name, code := range map[string]int{"bad": 31, "good": 32, "odd": 33} {
		if want := "--" + name + ": " + termtest.Color(code) + ";"; termtest.Color(code) == "" || !strings.Contains(dark, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// All of the script stays small on its way to a browser. Unpacked it is the same text.
func TestScriptIsSmall(t *testing.T) {
	st := newSite(t, nil).enter()
	sent, views := 0, 0
	for name, a := range st.s.assets {
		if path.Ext(name) == "" {
			continue // the page itself
		}
		resp, body := st.do("GET", name, "", func(r *http.Request) { r.Header.Set("Accept-Encoding", "br, gzip") })
		checkHeaders(t, name, resp)
		z, err := gzip.NewReader(strings.NewReader(body))
		if err != nil || resp.Header.Get("Content-Encoding") != "gzip" {
			t.Fatalf("%s: %v, %v", name, resp.Header, err)
		}
		text, err := io.ReadAll(z)
		_, plain := st.do("GET", name, "", func(r *http.Request) { r.Header.Set("Accept-Encoding", "br") })
		if err != nil || string(text) != string(a.body) || plain != string(text) {
			t.Errorf("%s: %v", name, err)
		}
		if strings.HasSuffix(name, ".js") {
			sent += len(body)
		}
		if name == "/view.js" || name == "/page.js" || name == "/server.js" {
			views += len(a.body)
		}
	}
	if sent > 15_000 || views > 15_000 {
		t.Errorf("%d bytes are sent, %d bytes beside the questions", sent, views)
	}
	t.Logf("%d bytes are sent, %d bytes beside the questions", sent, views)
}

func TestDropComments(t *testing.T) {
	for in, want := range map[string]string{
		"// a\nb() // c\n  // d\n\nconst e = 'https://x' + //f\n  g\n//": "b() // c\n\nconst e = 'https://x' + //f\n  g\n", "": "",
	} {
		if got := string(dropComments([]byte(in))); got != want {
			t.Errorf("%q", got)
		}
	}
}
