package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxOneWord is the largest part of the functions, in percent, whose name may be one word.
const maxOneWord = 45

// functionWords name no function: they say neither what it does nor what it gives.
var functionWords = strings.Fields(`at of on in by under over within without beside among behind beyond before after all one none some any
	other its own said told seen known held kept gone led left here there also again still`)

// A function is named for what it does or gives, by a verb and an object; a method of an
// interface or a standard verb may be one word.
func TestFunctionNames(t *testing.T) {
	words := regexp.MustCompile(`[a-z][A-Z]`)
	all, oneWord := 0, 0
	walkCode(t, func(name string) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range file.Decls {
			f, ok := declared.(*ast.FuncDecl)
			if !ok {
				continue
			}
			all++
			if !words.MatchString(f.Name.Name) {
				oneWord++
			}
			if slices.Contains(functionWords, f.Name.Name) {
				t.Errorf("%s: a function is named %s, which says neither what it does nor what it gives", name, f.Name.Name)
			}
		}
	})
	if all < 5000 || oneWord*100 > all*maxOneWord {
		t.Errorf("of %d functions %d have a name of one word (%d %%, and at most %d %% may)", all, oneWord, oneWord*100/max(all, 1), maxOneWord)
	}
}

// walkCode visits each file of the product's code: no tests, and nothing that only tests or
// measurements use.
func walkCode(t *testing.T, visit func(name string)) {
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (isSkipped(name, entry) || name == "bench" || name == "test" || name == "internal/testing") {
			return fs.SkipDir
		}
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			visit(name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
