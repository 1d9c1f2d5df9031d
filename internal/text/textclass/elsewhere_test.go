package textclass

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

// aSet is source that answers by itself which characters hide or move.
var aSet = regexp.MustCompile(`unicode\.(Cc|Cf|Co|Z|Zl|Zp|Zs|Bidi_Control|Variation_Selector|Other_Default_Ignorable_Code_Point|Noncharacter_Code_Point|Hebrew)\b` +
	`|(0x|\\u)(00ad|034f|115f|180e|20(0[b-f]|2[89a-e]|60|66)|2800|3164|fdd0)\b|0x[eE]0[01][0-9a-fA-F]{2}\b`)

// Sources that may, and why.
var apart = map[string]string{
	"wrap/client/jsontoken.go":        "the grammar of JSON5 (ECMAScript 5.1)",
	"wrap/client/jsonstring.go":       "the grammars of JSON5, TOML and YAML",
	"policy/where/scalar/text.go":     "each end of a line and its plain one",
	"internal/text/inspect/hidden.go": "names what it has found, by what it is",
	"cmd/clawai/internal/scancmd":     "reads what tags and selectors say",
	"internal/testing/gatetest":       "written apart from what it tests",
	"internal/testing/visibletest":    "written apart from what it judges",
	"internal/testing/viewtest":       "written apart from what it judges",
	"internal/testing/hostile":        "written apart from what it tries",
}

func TestNobodyElseHasASet(t *testing.T) {
	slow.Test(t)
	root, used := filepath.Join("..", "..", ".."), map[string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, file)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case name == "internal/text/textclass", d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != ".":
			return filepath.SkipDir
		case d.IsDir(), !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"):
			return nil
		}
		src, err := os.ReadFile(file)
		found := aSet.Find(src)
		if found == nil {
			return err
		}
		for _, n := range []string{name, name[:strings.LastIndexByte(name, '/')]} {
			if apart[n] != "" {
				used[n] = true
				return err
			}
		}
		t.Errorf("%s: %s: take a union of internal/text/textclass, or write one there", name, found)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range apart {
		if !used[name] {
			t.Errorf("%s has no set of its own any more", name)
		}
	}
}
