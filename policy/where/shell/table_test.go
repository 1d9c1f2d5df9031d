package shell

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// TestEveryProgramStandsOnce: of two entries one would be forgotten.
func TestEveryProgramStandsOnce(t *testing.T) {
	in := map[string][]string{}
	note := func(name, table string) { in[name] = append(in[name], table) }
	for name := range strings.FieldsSeq(opaque + " " + handing) {
		note(name, "opaque")
	}
	for _, r := range wordReaders {
		for name := range strings.FieldsSeq(r.names) {
			note(name, "readers")
		}
	}
	for _, w := range wrappers {
		note(w.name, "wrappers")
	}
	for _, l := range launchers {
		for name := range strings.FieldsSeq(l.names) {
			note(name, "launchers")
		}
	}
	for name := range everyRow() {
		if name != "find" && name != "gfind" && name != "tar" { // which a reader looks up
			note(name, "options.txt")
		}
	}
	for name, where := range in {
		if len(where) > 1 {
			t.Errorf("%s is in %v", name, where)
		}
	}
	for _, list := range []string{opaque, handing} {
		seen := strings.Fields(list)
		slices.Sort(seen)
		if len(slices.Compact(slices.Clone(seen))) != len(seen) {
			t.Errorf("a name is in a list twice")
		}
	}
}

// TestTable: the rows are well formed, and no name has two.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	keys := strings.Fields("options also manual help version trial against marks operands runs opaque launches tried published")
	marks := strings.Fields("all single mixed script named closed any signed tasks greedy tests")
	for line := range strings.Lines(optionsText) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != '\t':
			names, source, ok := strings.Cut(line, " = ")
			if !ok || source == "" || source == "x" {
				t.Errorf("%q does not say where it was read", line)
			}
			for name := range strings.SplitSeq(names, ", ") {
				if seen[name] || name != strings.TrimSpace(name) {
					t.Errorf("%q has two rows, or a blank too many", name)
				}
				seen[name] = true
				if i := strings.LastIndexByte(name, ' '); i > 0 && everyRow()[name[:i]] == nil {
					t.Errorf("%q has no row for %s", name, name[:i])
				}
			}
		default:
			key, words, _ := strings.Cut(line[1:], " ")
			if !slices.Contains(keys, key) || words != strings.TrimSpace(words) {
				t.Errorf("%q is no line of a row", line)
			}
			if digest, programs, _ := strings.Cut(words, " "); key == "tried" && programs == "" || key == "published" && programs != "" ||
				(key == "tried" || key == "published") && len(digest) != 8 {
				t.Errorf("%q does not say with what it was tried", line)
			}
			for word := range strings.FieldsSeq(words) {
				switch key {
				case "options", "also", "manual":
					if word[0] != '-' && word[0] != '+' || len(word) < 2 || strings.HasPrefix(word, "---") {
						t.Errorf("%q is not an option: %q", word, line)
					}
				case "marks":
					if !slices.Contains(marks, word) {
						t.Errorf("%q is no mark", word)
					}
				case "operands":
					if operandKinds[word] == nil {
						t.Errorf("%q is not a kind of operands", word)
					}
				}
			}
		}
	}
	if len(seen) < 150 {
		t.Errorf("%d names", len(seen))
	}
}

// everyRow has the row of every name of the table.
var everyRow = sync.OnceValue(func() map[string]*row {
	all := map[string]*row{}
	for program, at := range headings() {
		maps.Copy(all, readRows(program, at))
	}
	return all
})

// headings are where the rows of each program begin.
func headings() map[string][]int {
	all := map[string][]int{}
	for at := 0; at < len(optionsText); {
		line, _, _ := strings.Cut(optionsText[at:], "\n")
		if names, isHeading := headingAt(at); isHeading {
			for name := range strings.SplitSeq(names, ", ") {
				program, _, _ := strings.Cut(name, " ")
				all[program] = append(all[program], at)
			}
		}
		at += len(line) + 1
	}
	return all
}

// Rows are found one program at a time as they are found when all lines are read.
func TestRowsOfAProgram(t *testing.T) {
	for program, begins := range headings() {
		if got := findRows(program); !slices.Equal(got, slices.Compact(begins)) {
			t.Errorf("%s: %v, not %v", program, got, begins)
		}
	}
	for _, program := range []string{"", "gi", "git push", "push", "=", "GNU", "\n", ",", "(GNU", "coreutils)", "ls,", "nothing"} {
		if got := findRows(program); len(got) > 0 {
			t.Errorf("%q: %v", program, got)
		}
	}
}

// The name of a program lies in memory that the next call uses again: its row must outlive that.
func TestProgramRowKeepsItsName(t *testing.T) {
	for _, name := range []string{"cksum", "comm"} {
		memory := []byte(name)
		row := programRow(unsafe.String(&memory[0], len(memory)))
		copy(memory, "#####")
		if row == nil || programRow(name) != row {
			t.Errorf("the row of %s is not found again", name)
		}
	}
}

// A stranger's names take no more memory than the bound.
func TestNamesWithoutARowAreBounded(t *testing.T) {
	for i := range 2 * maxMissing {
		if r := programRow("nothing" + strconv.Itoa(i)); r != nil {
			t.Fatalf("%d: %+v", i, r)
		}
	}
	kept := 0
	programRows.Range(func(_, r any) bool {
		if r.(*row) == nil {
			kept++
		}
		return true
	})
	if kept == 0 || kept > maxMissing {
		t.Errorf("%d names are kept", kept)
	}
}
