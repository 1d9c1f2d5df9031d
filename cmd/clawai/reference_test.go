package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/check/lint"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"
)

//go:generate go test -count=1 -run ^TestReference$ . -update
var update = flag.Bool("update", false, "write the generated parts of the documentation anew")

// TestReference holds what the code says of itself to the pages. Between "begin NAME" and
// "end NAME" a page is written by go generate ./cmd/clawai, and by nobody else.
func TestReference(t *testing.T) {
	for _, part := range []struct{ page, name, text string }{
		{"docs/commands.md", "commands", commandPage(listCommands(), "clawai")},
		{"docs/lint.md", "codes", lintCodes()},
	} {
		src := read(t, part.page)
		begin, end := "<!-- begin "+part.name+": written by go generate ./cmd/clawai -->\n", "<!-- end "+part.name+" -->"
		before, rest, found := strings.Cut(src, begin)
		was, after, ends := strings.Cut(rest, end)
		switch want := "\n" + part.text + "\n"; {
		case !found || !ends:
			t.Errorf("%s has no part %s", part.page, part.name)
		case was == want:
		case *update:
			if err := os.WriteFile(filepath.Join(top, part.page), []byte(before+begin+want+end+after), 0o644); err != nil {
				t.Error(err)
			}
		default:
			t.Errorf("%s is not what the code says; go generate ./cmd/clawai mends it\n%s", part.page, gocmp.Diff(was, want))
		}
	}
}

// commandPage is a section for each command that help names, with its options.
func commandPage(cmds []*cli.Command, path string) string {
	var page strings.Builder
	cell := strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`)
	for _, c := range visibleCommands(cmds) {
		name := path + " " + c.Name
		fmt.Fprintf(&page, "## %s\n\n%s.\n", name, strings.ToUpper(c.Usage[:1])+c.Usage[1:])
		if c.UsageText != "" {
			fmt.Fprintf(&page, "\n```text\n%s\n```\n", c.UsageText)
		}
		if flags := c.VisibleFlags(); len(flags) > 0 {
			page.WriteString("\n| option | |\n|---|---|\n")
			for _, f := range flags {
				form, says, _ := strings.Cut(describeFlag(f), "\t")
				fmt.Fprintf(&page, "| `%s` | %s |\n", strings.ReplaceAll(form, "|", `\|`), cell.Replace(says))
			}
		}
		page.WriteString("\n" + commandPage(c.Subcommands, name))
	}
	return page.String()
}

func lintCodes() string {
	table := "| code | weight | |\n|---|---|---|\n"
	for _, k := range lint.Kinds() {
		table += fmt.Sprintf("| [`%s`](#%[1]s) | %s | %s |\n", k.Code, k.Severity, strings.ReplaceAll(k.Summary, "*", `\*`))
	}
	return table
}

// TestCodesHaveTheirPage: a code that a program reads stands in a table of its page, and
// a code of a denial that stands there is one.
func TestCodesHaveTheirPage(t *testing.T) {
	for _, tt := range []struct {
		page, folder string
		declared     string
		least        int
	}{
		{"docs/denials.md", "internal/gate/", `(?m)^\s+\w+ +Code += "(\w+)"`, 20},
		{"docs/record.md", "internal/event/", `(?m)^\s+\w+ +Kind += "(\w+)"`, 15},
		{"docs/commands.md", "cmd/clawai/", `\b[eE]xit[A-Z]\w* += (\d+)`, 5},
	} {
		page := read(t, tt.page)
		if tt.folder == "cmd/clawai/" {
			page = exitCodes(t)
		}
		documented, declared := firstCells(page), 0
		for _, m := range regexp.MustCompile(tt.declared).FindAllStringSubmatch(sourceOf(t, tt.folder), -1) {
			declared++
			if !slices.Contains(documented, m[1]) {
				t.Errorf("%s has no %s", tt.page, m[1])
			}
		}
		if declared < tt.least {
			t.Errorf("%s: only %d words are declared in %s", tt.page, declared, tt.folder)
		}
	}
	src := sourceOf(t, "internal/gate/") + sourceOf(t, "proxy/")
	for _, word := range firstCells(read(t, "docs/denials.md")) {
		if strings.Contains(word, "_") && !strings.Contains(src, `"`+word+`"`) {
			t.Errorf("docs/denials.md has %s, which is no code", word)
		}
	}
}

// TestExitCodesOfEveryCommand: the section has a row for each command that does something,
// and none for another.
func TestExitCodesOfEveryCommand(t *testing.T) {
	var documented []string
	for line := range strings.Lines(exitCodes(t)) {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			for _, name := range regexp.MustCompile("`([a-z][a-z ]*(?:-[a-z]+)?)").FindAllStringSubmatch(cells[1], -1) {
				documented = append(documented, strings.TrimSpace(name[1]))
			}
		}
	}
	var all []string
	ofAnother := map[string]bool{} // whose options another program reads
	var walk func(cmds []*cli.Command, path string)
	walk = func(cmds []*cli.Command, path string) {
		for _, c := range visibleCommands(cmds) {
			name := strings.TrimSpace(path + " " + c.Name)
			if c.Action != nil {
				all = append(all, name)
				ofAnother[name] = c.SkipFlagParsing
			}
			walk(c.Subcommands, name)
		}
	}
	walk(listCommands(), "")
	for _, name := range all {
		if !slices.Contains(documented, name) {
			t.Errorf("docs/commands.md has no row for clawai %s", name)
		}
		if ofAnother[name] {
			continue
		}
		code, out, errs := clawai(t, append(strings.Fields(name), "--no-such-option")...)
		if code != cmdline.ExitUsage || out != "" || !strings.Contains(errs, "unknown option --no-such-option") {
			t.Errorf("clawai %s with an unknown option: exit %d, %q, %q", name, code, out, errs)
		}
	}
	for _, name := range documented {
		if !slices.Contains(all, name) {
			t.Errorf("docs/commands.md has a row for clawai %s, which there is not", name)
		}
	}
	if len(all) < 20 {
		t.Errorf("only %d commands", len(all))
	}
}

// exitCodes is the section of docs/commands.md about them, the last one.
func exitCodes(t *testing.T) string {
	t.Helper()
	_, section, found := strings.Cut(read(t, "docs/commands.md"), "\n## Exit codes\n")
	if !found || strings.Contains(section, "\n## ") {
		t.Fatal("docs/commands.md does not end with a section about exit codes")
	}
	return section
}

// sourceOf is the files of a folder and those below, without tests.
func sourceOf(t *testing.T, folder string) string {
	t.Helper()
	var all strings.Builder
	eachFileIn(t, filepath.Join(top, folder), ".go", func(path, src string) {
		if !strings.HasSuffix(path, "_test.go") {
			all.WriteString(src)
		}
	})
	return all.String()
}

// firstCells are the words in the first two cells of a page's tables.
func firstCells(page string) (words []string) {
	for line := range strings.Lines(page) {
		if cells := strings.Split(line, "|"); cells[0] == "" && len(cells) > 3 {
			words = append(words, regexp.MustCompile(`\w+`).FindAllString(cells[1]+" "+cells[2], -1)...)
		}
	}
	return words
}
