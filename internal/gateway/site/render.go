package site

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"reflect"
	"sync"
	"text/template/parse"

	"github.com/clawai/clawai/internal/text/term"
)

//go:embed templates
var files embed.FS

// makeVisible is the name of the template function that every value passes before a template writes it. After
// that, package html/template escapes the value for its place.
const makeVisible = "visible"

// shownLine is a line of a question. Package view has already escaped it; escaping it again would change it.
type shownLine string

// maxShown is the maximum number of bytes of one text on a page.
const maxShown = 64 << 10

// visible returns a text with escapes for characters that are not visible, and a number unchanged. It returns an
// error for any other value, so that every text on a page is escaped.
func visible(v any) (any, error) {
	if line, ok := v.(shownLine); ok {
		return string(line), nil
	}
	is := reflect.ValueOf(v)
	switch {
	case is.Kind() == reflect.String:
		if text := is.String(); len(text) > maxShown {
			return term.VisibleText(text[:maxShown]) + "…", nil
		}
		return term.VisibleText(is.String()), nil
	case is.CanInt(), is.CanUint(), is.CanFloat():
		return v, nil
	}
	return nil, fmt.Errorf("a template writes a %T", v)
}

// loadTemplates returns the templates. It adds makeVisible to each value that a template writes.
var loadTemplates = sync.OnceValues(func() (*template.Template, error) {
	t, err := template.New("").Funcs(template.FuncMap{makeVisible: visible}).ParseFS(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	for _, one := range t.Templates() {
		if one.Tree != nil {
			hardenList(one.Tree.Root)
		}
	}
	return t, nil
})

// hardenList appends makeVisible to the pipeline of every value that a list of nodes writes.
func hardenList(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.ActionNode:
			if len(n.Pipe.Decl) == 0 {
				word := parse.NewIdentifier(makeVisible).SetTree(nil).SetPos(n.Pos)
				n.Pipe.Cmds = append(n.Pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: n.Pos, Args: []parse.Node{word}})
			}
		case *parse.IfNode:
			hardenList(n.List)
			hardenList(n.ElseList)
		case *parse.RangeNode:
			hardenList(n.List)
			hardenList(n.ElseList)
		case *parse.WithNode:
			hardenList(n.List)
			hardenList(n.ElseList)
		}
	}
}

// frame is the data of every page.
type frame struct {
	Title string
	Path  string // path of the page's tab
	Tabs  []tab  // tabs that the person may open
	Who   string // name of the person who is signed in; "" for nobody
	Form  string // token that each form must send (centre.FormToken)
	Asked int    // number of pending questions
	Again int    // seconds after which the browser loads the page again; 0: never
	Data  any
}

// tab is a link in the head of a page.
type tab struct{ Path, Title string }

// writePage writes a page. If the template fails, it writes nothing.
func writePage(w http.ResponseWriter, status int, name string, f frame) error {
	t, err := loadTemplates()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, name, f); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, err = w.Write(b.Bytes())
	return err
}
