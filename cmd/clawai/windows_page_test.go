package main

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWindowsPage holds docs/systems.md, which .ci/windows reads what to run from, to what
// there is: each room with tests is run under Wine or named with the reason why not, what is
// skipped there is a test, and what is for Windows alone is run.
func TestWindowsPage(t *testing.T) {
	tests, windows := map[string]string{}, map[string]string{} // sources of tests by room; those for Windows alone
	eachFile(t, "_test.go", func(name, src string) {
		room := strings.TrimPrefix(path.Dir(filepath.ToSlash(name)), top+"/")
		tests[room] += src
		if strings.HasSuffix(name, "_windows_test.go") || strings.HasPrefix(src, "//go:build windows\n") {
			windows[room] += src
		}
	})
	page := read(t, "docs/systems.md")
	section := func(from, to string) string {
		_, rest, found := strings.Cut(page, "\n## "+from+"\n")
		text, _, ended := strings.Cut(rest+"\n## ", "\n## "+to)
		if !found || !ended {
			t.Fatalf("docs/systems.md has no section %q before %q", from, to)
		}
		return text
	}
	inRow := func(text, pattern string) (all []string) {
		for _, row := range regexp.MustCompile(`(?m)^\|([^|]*)\|`).FindAllStringSubmatch(text, -1) {
			for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(row[1], -1) {
				all = append(all, m[1])
			}
		}
		return all
	}
	run := inRow(section("Run under Wine, in CI", "What clients ask there"), "`\\./([^`]+)`")
	not := inRow(section("Not run under Wine", "Run nowhere"), "`([^`]+)`")
	for room := range tests {
		elsewhere := strings.HasPrefix(room, "test/") || room == "bench"
		if room != "cmd/clawai" && !elsewhere && slices.Contains(run, room) == slices.Contains(not, room) {
			t.Errorf("%s has tests, and docs/systems.md does not say of it either that they are run under Wine or why not", room)
		}
		if windows[room] != "" && room != "cmd/clawai" && !slices.Contains(run, room) {
			t.Errorf("%s has tests for Windows alone, which are not run", room)
		}
	}
	for _, room := range slices.Concat(run, not) {
		if tests[room] == "" {
			t.Errorf("docs/systems.md names %s, in which no test is", room)
		}
	}
	skipped := regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\| `(Test\\w+)` \\|").FindAllStringSubmatch(section("Skipped under Wine", "Not run under Wine"), -1)
	for _, m := range skipped {
		if !strings.Contains(tests[m[1]], "\nfunc "+m[2]+"(t ") || !slices.Contains(run, m[1]) {
			t.Errorf("docs/systems.md says that %s of %s is skipped, which is no test or in no room that is run", m[2], m[1])
		}
	}
	step := read(t, ".ci/windows")
	of := regexp.MustCompile(`-run '\^Test\(([^)]*)\)`).FindStringSubmatch(step)
	own := regexp.MustCompile(`(?m)^func Test(\w+)\(`).FindAllStringSubmatch(windows["cmd/clawai"], -1)
	if len(run) < 20 || len(skipped) < 5 || of == nil || len(own) < 6 {
		t.Fatalf("%d rooms, %d skipped, %v, %d of the command: docs/systems.md or .ci/windows is written in another way", len(run), len(skipped), of, len(own))
	}
	for _, m := range own {
		if !slices.Contains(strings.Split(of[1], "|"), m[1]) || !strings.Contains(page, "`Test"+m[1]+"`") {
			t.Errorf(".ci/windows does not run Test%s, or docs/systems.md does not name it", m[1])
		}
	}
}
