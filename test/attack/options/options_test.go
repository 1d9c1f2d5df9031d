//go:build attack

package options

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the options that the programs' help has, without the dangerous ones, into the table")

// run gives what a command prints, on both outputs; its exit code says nothing.
func run(t *testing.T, dir string, words ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := exec.LookPath(words[0]); err != nil {
		t.Fatalf("%v; .ci/run attack installs it", err)
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "HOME="+dir, "COLUMNS=200", "GIT_PAGER=cat")
	out, _ := cmd.CombinedOutput()
	return regexp.MustCompile(".\b").ReplaceAllString(string(out), "")
}

// helps runs the commands that the line `help` of a row names, separated by " + ".
func helps(t *testing.T, r *row) string {
	var b strings.Builder
	commands := r.get("help")
	if commands == "" {
		commands = r.names[0] + " --help"
	}
	for command := range strings.SplitSeq(commands, " + ") {
		b.WriteString(run(t, t.TempDir(), strings.Fields(command)...) + "\n")
	}
	return b.String()
}

var names = regexp.MustCompile(`^--?[A-Za-z0-9?#@]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$`)

// demands are what programs say of an option without the value that it needs.
var demands = regexp.MustCompile(`(?i)requires an argument|requires a value|requires parameter|missing argument|expected (one|at least one) argument|must follow|takes (one|two) parameter|a value is required|needs an argument|flag needs|not enough arguments following`)

// proved gives the options of a help with their kinds of value: one needs a value
// only where the program, given nothing more, says so. To take a word for a value
// that the program takes for an option would be a hole.
func proved(t *testing.T, r *row, found map[string]bool) map[string]bool {
	got := map[string]bool{}
	for o := range found {
		name, mark := bare(o), strings.TrimPrefix(o, bare(o))
		switch {
		case mark == "=" && (demands.MatchString(run(t, t.TempDir(), r.names[0], name)) || demands.MatchString(run(t, t.TempDir(), r.names[0], "x", name))):
			delete(got, name)
			delete(got, name+"?")
			got[o] = true
		case mark == "?" && !got[name+"="]:
			delete(got, name)
			got[o] = true
		case !got[name+"="] && !got[name+"?"]:
			got[name] = true
		}
	}
	return got
}

// version is the first line of what a program says of its version.
func version(t *testing.T, r *row) string {
	command := strings.Fields(r.get("version"))
	if len(command) == 0 {
		command = []string{r.names[0], "--version"}
	}
	first, _, _ := strings.Cut(strings.TrimLeft(run(t, t.TempDir(), command...), "\n"), "\n")
	if words := strings.Fields(first); len(words) > 6 {
		first = strings.Join(words[:6], " ")
	}
	return strings.TrimSpace(first)
}

// dangers are options that make a program run another, write a file, or take
// words from where nobody reads them, by the program; for a program with
// subcommands, those of all of them.
func dangers(t *testing.T) map[string][]string {
	text, err := os.ReadFile("testdata/dangers.txt")
	if err != nil {
		t.Fatal(err)
	}
	list := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		names, options, ok := strings.Cut(line, ": ")
		if !ok {
			t.Fatalf("dangers.txt: %q", line)
		}
		for name := range strings.SplitSeq(names, ", ") {
			list[name] = append(list[name], strings.Fields(options)...)
		}
	}
	return list
}

func bare(option string) string { return strings.TrimRight(option, "=?") }

// TestTable: what the table calls harmless the program has, with the same kind
// of value, and it is none of the options known to be dangerous.
func TestTable(t *testing.T) {
	rows, after, err := readTable()
	if err != nil {
		t.Fatal(err)
	}
	bad := dangers(t)
	checked := 0
	for _, r := range rows {
		if r.has("against") {
			checkAlso(t, r, run(t, t.TempDir(), strings.Fields(r.get("against"))...))
			checked += len(r.names)
		}
		if !r.has("help") {
			continue
		}
		checked += len(r.names)
		help, source := helps(t, r), version(t, r)
		found := read(help, r.marked("single"))
		for o := range found {
			if !names.MatchString(bare(o)) || slices.Contains(bad[r.names[0]], bare(o)) {
				delete(found, o)
			}
		}
		found = proved(t, r, found)
		var list []string
		for o := range found {
			list = append(list, o)
		}
		if *update {
			for i, o := range list {
				if slices.Contains(strings.Fields(r.get("options")), bare(o)+"?") {
					list[i] = bare(o) + "?" // vendors differ
				}
			}
			r.setOptions(list)
			r.source = source
			continue
		}
		t.Logf("%s: %s", r.names[0], source)
		for o := range strings.FieldsSeq(r.get("options")) {
			if !found[o] && !(strings.HasSuffix(o, "?") && (found[bare(o)] || found[bare(o)+"="])) {
				t.Errorf("%s: %s is harmless in the table; the help of %q does not have it so", r.names[0], o, source)
			}
		}
		checkAlso(t, r, help)
		if r.source == source {
			for _, o := range list {
				if have := strings.Fields(r.get("options")); !slices.Contains(have, o) && !slices.Contains(have, bare(o)+"?") {
					t.Errorf("%s: %s is in the help and not in the table; go test -tags attack -run TestTable -update", r.names[0], o)
				}
			}
		}
	}
	if *update {
		if err := writeTable(rows, after); err != nil {
			t.Fatal(err)
		}
		return
	}
	if checked < 60 {
		t.Errorf("%d programs are checked against their help, want 60", checked)
	}
}

// checkAlso looks for the options that were added by hand. They are in the help,
// if in another form than most.
func checkAlso(t *testing.T, r *row, help string) {
	for o := range strings.FieldsSeq(r.get("also")) {
		if o != "-#" && !strings.Contains(help, strings.TrimLeft(bare(o), "-")) {
			t.Errorf("%s: %s is harmless in the table; the help does not name it", r.names[0], o)
		}
	}
}

// TestDangers: no dangerous option is in a row, in whatever spelling: without
// its dashes, and in another case.
func TestDangers(t *testing.T) {
	rows, _, err := readTable()
	if err != nil {
		t.Fatal(err)
	}
	bad := dangers(t)
	fold := func(o string) string {
		name := strings.TrimLeft(bare(o), "-")
		if len(name) == 1 || !strings.HasPrefix(o, "-") {
			return bare(o) // -o and -O are two options
		}
		return strings.ToLower(name)
	}
	for _, r := range rows {
		for _, name := range r.names {
			program, _, _ := strings.Cut(name, " ")
			forbidden := append(slices.Clone(bad[name]), bad[r.names[0]]...)
			if program != name {
				forbidden = append(forbidden, bad[program+" *"]...)
			}
			if r.marked("all") && len(forbidden) > 0 {
				t.Errorf("%s: every option is called harmless, and %v is not", name, forbidden)
			}
			for _, o := range r.options() {
				for _, d := range forbidden {
					if fold(o) == fold(d) {
						t.Errorf("%s: %s is in the table; %s is dangerous", name, o, d)
					}
				}
			}
		}
	}
}
