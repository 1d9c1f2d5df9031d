package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const top = "../.."

// TestTablesNameRealTests: a table that claims protection must name tests that
// exist.
func TestTablesNameRealTests(t *testing.T) {
	defined := map[string]bool{}
	definition := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	eachFile(t, "_test.go", func(_, src string) {
		for _, m := range definition.FindAllStringSubmatch(src, -1) {
			defined[m[1]] = true
		}
	})
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)")
	for page, least := range map[string]int{"docs/evasions.md": 50, "docs/wrap.md": 50, "docs/systems.md": 16} {
		found := named.FindAllStringSubmatch(read(t, page), -1)
		if len(found) < least {
			t.Errorf("%s: only %d tests are named", page, len(found))
		}
		for _, m := range found {
			if !defined[m[1]] {
				t.Errorf("%s names %s, which is no test", page, m[1])
			}
		}
	}
}

// TestShownCommandsAreRun: each command line in a code block of the README or
// the documentation stands, word for word, in a script that runs it.
func TestShownCommandsAreRun(t *testing.T) {
	var scripts strings.Builder
	eachFile(t, ".txtar", func(_, src string) { scripts.WriteString(src) })
	run := scripts.String()
	shown := 0
	eachFile(t, ".md", func(path, src string) {
		for _, line := range commandLines(src) {
			shown++
			runs := regexp.MustCompile(`(?m)^(!? ?exec( mcpclient)?|exits \d+) ` + regexp.QuoteMeta(line) + `( &\w*&?)?$`)
			if !runs.MatchString(run) {
				t.Errorf("%s shows %q, and no script runs it", path, line)
			}
		}
	})
	if shown < 5 {
		t.Errorf("only %d command lines found", shown)
	}
}

// TestLinksLead: a relative link leads to a file that is there, and to a heading of that page.
func TestLinksLead(t *testing.T) {
	link := regexp.MustCompile(`\]\(([\w./:-]*)(#[^)\s]*)?[^)]*\)`)
	pages := map[string]string{}
	eachFile(t, ".md", func(path, src string) { pages[filepath.Clean(path)] = src })
	for path, src := range pages {
		for _, m := range link.FindAllStringSubmatch(src, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			to := filepath.Clean(path)
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(path), m[1])
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
			} else if page, ok := pages[to]; ok && m[2] != "" && !anchors(page)[m[2][1:]] {
				t.Errorf("%s links to %s%s, and there is no such heading", path, m[1], m[2])
			}
		}
	}
}

var (
	heading  = regexp.MustCompile("(?m)^#+ (.*)$")
	anchorID = regexp.MustCompile(`<a id="([^"]*)">`)
	noAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	fenced   = regexp.MustCompile("(?ms)^`{3,}.*?^`{3,}$")
)

// anchors are the names of a page's headings as GitHub makes them, and those it gives itself.
func anchors(page string) map[string]bool {
	found := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		found[strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	for _, m := range anchorID.FindAllStringSubmatch(page, -1) {
		found[m[1]] = true
	}
	return found
}

// TestIndexNamesEveryPage: nobody finds a page that no list names.
func TestIndexNamesEveryPage(t *testing.T) {
	index := read(t, "docs/README.md")
	pages, err := filepath.Glob(filepath.Join(top, "docs", "*.md"))
	if err != nil || len(pages) < 30 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	more, err := filepath.Glob(filepath.Join(top, "docs", "contributing", "*.md"))
	if err != nil || len(more) < 5 {
		t.Fatalf("%d pages, %v", len(more), err)
	}
	for _, page := range append(pages, more...) {
		if name, _ := filepath.Rel(filepath.Join(top, "docs"), page); name != "README.md" && !strings.Contains(index, "]("+filepath.ToSlash(name)+")") {
			t.Errorf("docs/README.md does not name %s", name)
		}
	}
}

// TestPagesStayShort: thirty words are enough to talk about the code, and fifteen lines to
// say what a new thing of a known kind touches; the files that they name are there.
func TestPagesStayShort(t *testing.T) {
	_, words, _ := strings.Cut(read(t, "docs/layout.md"), "\n## Words\n")
	words, _, _ = strings.Cut(words, "\n## ")
	if n := strings.Count(words, "\n| ") - 1; n < 10 || n > 30 {
		t.Errorf("docs/layout.md has %d words", n)
	}
	file := regexp.MustCompile("`([\\w./]+/\\w+\\.(?:go|toml|md|yml))`")
	pages, _ := filepath.Glob(filepath.Join(top, "docs", "contributing", "*.md"))
	for _, page := range pages {
		src, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(src), "\n"); n > 15 {
			t.Errorf("%s has %d lines", page, n)
		}
		for _, m := range file.FindAllStringSubmatch(string(src), -1) {
			if strings.Contains(m[1], "NAME") {
				continue
			}
			if _, err := os.Stat(filepath.Join(top, m[1])); err != nil {
				t.Errorf("%s names %s, which is not there", page, m[1])
			}
		}
	}
}

// commandLines are the lines of fenced blocks without a language that start
// clawai; a block in a language is a sample of that language.
func commandLines(markdown string) []string {
	var lines []string
	fence, plain := false, false
	for line := range strings.Lines(markdown) {
		line = strings.TrimRight(line, "\r\n")
		if lang, ok := strings.CutPrefix(strings.TrimSpace(line), "```"); ok {
			fence = !fence
			plain = fence && (lang == "" || lang == "sh" || lang == "bash")
			continue
		}
		if command, _, _ := strings.Cut(strings.TrimSpace(line), "  #"); plain && strings.HasPrefix(command, "clawai ") {
			lines = append(lines, strings.TrimSpace(command))
		}
	}
	return lines
}

func eachFile(t *testing.T, suffix string, see func(path, src string)) {
	t.Helper()
	eachFileIn(t, top, suffix, see)
}

func eachFileIn(t *testing.T, dir, suffix string, see func(path, src string)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git" || entry.Name() == "bin" || entry.Name() == "dist") {
			return fs.SkipDir
		}
		if !entry.IsDir() && strings.HasSuffix(path, suffix) {
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			see(path, string(src))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(top, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}
