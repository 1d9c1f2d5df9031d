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

// makeVisible is what every value goes through before a template writes it. Package html/template
// escapes it then for the place where it stands.
const makeVisible = "visible"

// shownLine is a line of a question. Package view has made it harmless; twice would change it.
type shownLine string

// maxShown is how many bytes of one text a page shows.
const maxShown = 64 << 10

// visible returns a text as a page may show it, and a number as it is. It refuses any other value,
// so that no text comes to a page on another way.
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

// loadTemplates returns the templates. Each value that one of them writes is made visible.
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

// hardenList puts makeVisible behind everything that a list of nodes writes.
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

// frame is what every page has.
type frame struct {
	Title string
	Path  string // of its tab
	Tabs  []tab  // that the person may open
	Who   string // who is signed in; "" for nobody
	Form  string // what a form sends along
	Asked int    // questions that wait
	Again int    // after so many seconds the page is loaded again; 0: never
	Data  any
}

// tab is a page that the head of a page leads to.
type tab struct{ Path, Title string }

// writePage writes a page whole, or not at all.
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
