package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// doors are functions that few rooms may call, so that a session is built in one way, with all layers.
var doors = []struct {
	room, function string
	callers        []string
}{
	{"internal/gate", "New", []string{"cmd/clawai-hook", "internal/session"}}, // a hook that asks nobody starts without internal/session
	{"internal/session/base", "OpenRecord", []string{"internal/session"}},
	{"internal/state/config", "OrgPolicy", []string{"cmd/clawai/internal/policyfile", "cmd/clawai/internal/sandboxcmd", "internal/session/base"}}, // base.LayersOf says which layers there are; the others keep the folder of the file shut
}

// No room but these builds a gate or opens the record of a session.
func TestDoors(t *testing.T) {
	edges := readImports(t)
	for _, door := range doors {
		var callers []string
		for _, edge := range edges {
			if edge.to == door.room && callsFunction(t, edge, door.function) && !slices.Contains(callers, edge.from) {
				callers = append(callers, edge.from)
			}
		}
		slices.Sort(callers)
		if !slices.Equal(callers, door.callers) {
			t.Errorf("%s.%s is called by %q, but is for %q; let internal/session open the session, and base.LayersOf list the layers", door.room, door.function, callers, door.callers)
		}
	}
}

// HTTP goes out through internal/state/egress alone, which knows the owner's authorities and proxies.
func TestOneWayOut(t *testing.T) {
	others := []string{"DefaultTransport", "DefaultClient", "Get", "Head", "Post", "PostForm", "ProxyFromEnvironment"}
	walkCode(t, func(name string) {
		if strings.HasPrefix(name, "internal/state/egress/") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, isLit := n.(*ast.CompositeLit)
			if isLit && isHTTP(lit.Type, "Transport") {
				t.Errorf("%s makes a transport; use internal/state/egress", name)
			}
			if e, ok := n.(ast.Expr); ok {
				for _, other := range others {
					if isHTTP(e, other) {
						t.Errorf("%s uses http.%s; use internal/state/egress", name, other)
					}
				}
			}
			return true
		})
	})
}

// isHTTP reports whether an expression is http.NAME.
func isHTTP(e ast.Expr, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	of, ok := s.X.(*ast.Ident)
	return ok && of.Name == "http"
}

// callsFunction reports whether a file names a function of the package that it imports.
func callsFunction(t *testing.T, edge importEdge, function string) (found bool) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, edge.file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	name := path.Base(edge.to)
	for _, spec := range file.Imports {
		if spec.Name != nil && spec.Path.Value == `"`+module+edge.to+`"` {
			name = spec.Name.Name
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == function {
			of, ok := s.X.(*ast.Ident)
			found = found || ok && of.Name == name
		}
		return true
	})
	return found
}
