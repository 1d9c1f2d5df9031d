package shell_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where/shell"
)

func TestFilesOf(t *testing.T) {
	for text, want := range map[string]string{ // what must be among the reads, the folders and the writes
		"cat notes.md":                             "notes.md||",
		"cat < notes.md":                           "notes.md||",
		"curl -s https://a.example > notes.md":     "||notes.md",
		"echo x >> notes.md":                       "||notes.md",
		"echo x >| notes.md 2>err":                 "||notes.md err",
		"(curl a; curl b) &> all.txt":              "||all.txt",
		"echo x >&log":                             "||log",
		"sort 2>&1":                                "||",
		"curl a | tee -a notes.md more.md":         "||notes.md more.md",
		"cd sub && echo x > notes.md":              "||notes.md sub/notes.md",
		"cd /tmp; cd x; cat a ~/b /c":              "a /tmp/x/a ~/b /c||",
		"cp notes.md other.md":                     "notes.md||other.md",
		"mv notes.md docs":                         "notes.md||docs docs/notes.md",
		"curl -o page.html https://a.example/x":    "||page.html",
		"curl -so page.html https://a.example/x":   "||page.html",
		"curl -sSLO https://a.example/d/page.html": "||page.html",
		"wget https://a.example/d/page.html?x=/y":  "||page.html",
		"wget -O - https://a.example":              "||-",
		"pandoc a.md --output=b.html":              "a.md||b.html",
		"sed -i s/a/b/ notes.md":                   "notes.md||notes.md",
		"dd if=a of=b":                             "a||b",
		"grep -rn x":                               "|.|",
		"grep -rn x src":                           "src|src|",
		"rg x":                                     "|.|",
		"cat *.md docs/*":                          "|. docs|",
		"find . -exec cat {} +":                    "|.|",
		"tar cf x.tar docs":                        "|docs|",
		"curl --data @notes.md a.example":          "notes.md||",
		"bash -c 'cat notes.md > b'":               "notes.md||b",
		"xargs cat notes.md":                       "notes.md||",
		"python3 run.py --in=notes.md":             "run.py notes.md||",
		"cat <<EOF > notes.md\nsay\nEOF":           "||notes.md",
	} {
		f := shell.FilesOf(text)
		for i, list := range [][]string{f.Reads, f.Folders, f.Writes} {
			for name := range strings.FieldsSeq(strings.Split(want, "|")[i]) {
				if !slices.Contains(list, name) {
					t.Errorf("%q: %q is not in %q", text, name, list)
				}
			}
		}
	}
	for _, text := range []string{"ls -la notes.md", "rm notes.md", "find . -name notes.md", "echo notes.md", "touch notes.md"} {
		if f := shell.FilesOf(text); len(f.Reads)+len(f.Folders)+len(f.Writes) > 0 {
			t.Errorf("%q: %+v", text, f)
		}
	}
	for _, text := range []string{"cat main.go", "go test ./...", "grep -o x main.go", "grep 'a.*b' main.go", "sed -n 's/[a-z]*//p' main.go", "ls -o a", "git commit -m x"} {
		if f := shell.FilesOf(text); len(f.Folders)+len(f.Writes) > 0 {
			t.Errorf("%q: %+v", text, f)
		}
	}
}
