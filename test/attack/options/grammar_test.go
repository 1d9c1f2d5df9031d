//go:build attack

package options

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/shell"
	"github.com/clawai/clawai/test/attack"
)

// lookers are commands that only look: under `NAME **` none may make or change a file,
// or run another program, whatever options stand behind it.
var lookers = []string{
	"ls", "cat", "tac", "nl", "od", "wc", "cut", "tr", "comm", "paste", "join", "fold", "fmt", "expand", "stat", "du", "df",
	"realpath", "readlink", "seq", "base64", "md5sum", "cksum", "head", "tail", "uniq", "sort", "shuf", "date", "grep", "diff", "cmp",
	"column", "hexdump", "rev", "nm", "objdump", "readelf", "size", "strings", "file", "tree", "jq", "rg", "fdfind", "batcat",
	"xxd", "find", "id", "uname", "numfmt", "basename", "dirname", "tsort", "which", "iconv", "xargs", "pytest", "mypy", "pylint", "flake8",
	"git log", "git show", "git diff", "git blame", "git grep", "git ls-files", "git rev-list", "git shortlog", "git status",
	"git stash list", "git stash show", "git describe", "git reflog", "git diff-tree", "git for-each-ref", "git branch",
	"go vet", "go list", "go build", "podman ps", "podman images", "docker ps",
}

// grammar makes command lines from what a program says of its options.
type grammar struct {
	random  *rand.Rand
	options map[string][]string // by the command
}

// words that may stand behind an option, or as an operand.
var fillers = []string{
	"a", "b", "dir", ".", "1", "0x10", "5", "-5", "+2", "@resp", "@a", ":a", "+a", "-", "--", "made", "./evil", "evil", "x=made", "HEAD", "x", "*",
	"'*.txt'", "~/made", "$PWD", `"$E"`, "'|./evil'", "'!./evil'", "made:a", "-omade", "--output=made", "-o", "/dev/null", "'%p'", "=", "''",
}

func (g *grammar) command(name string) string {
	var b strings.Builder
	b.WriteString(name)
	options := g.options[name]
	for range 1 + g.random.IntN(6) {
		word := fillers[g.random.IntN(len(fillers))]
		if len(options) > 0 && g.random.IntN(5) < 3 {
			o := options[g.random.IntN(len(options))]
			word = strings.Replace(bare(o), "-#", "-5", 1)
			value := strings.Trim(fillers[g.random.IntN(len(fillers))], "'")
			switch g.random.IntN(6) {
			case 0:
				word += "=" + value
			case 1:
				if len(word) == 2 {
					word += value // attached
				}
			case 2:
				if other := bare(options[g.random.IntN(len(options))]); len(word) == 2 && len(other) == 2 {
					word += other[1:] // a bundle
				}
			case 3:
				word += " " + fillers[g.random.IntN(len(fillers))]
			}
			if strings.ContainsAny(word, "|!%*$~\"") {
				word = strings.ReplaceAll(word, "'", "")
				word = "'" + word + "'"
			}
		}
		b.WriteString(" " + word)
	}
	return b.String()
}

// newGrammar reads the options of each command from its own help, and adds those of the
// table, those known to be dangerous, and some of others.
func newGrammar(t *testing.T, n *nest, seed uint64) *grammar {
	rows, _, err := readTable()
	if err != nil {
		t.Fatal(err)
	}
	g := &grammar{random: rand.New(rand.NewPCG(seed, 1)), options: map[string][]string{}}
	bad := dangers(t)
	for _, name := range lookers {
		program, _, sub := strings.Cut(name, " ")
		words := strings.Fields(name)
		said := n.must(t, [][]string{append(words, "--help"), append(words, "-h")})
		found := map[string]bool{}
		if !sub || program == "podman" || program == "docker" {
			found = read(said[0]+said[1], false)
		}
		for _, r := range rows {
			for _, other := range r.names {
				if other == name {
					for _, o := range r.options() {
						found[bare(o)] = true
					}
				}
			}
		}
		for _, list := range [][]string{bad[name], bad[program], bad[program+" *"], {"-o", "--output", "-O", "-w", "-f"}} {
			for _, o := range list {
				found[o] = true
			}
		}
		for o := range found {
			if names.MatchString(bare(o)) {
				g.options[name] = append(g.options[name], bare(o))
			}
		}
	}
	for _, list := range g.options {
		slices.Sort(list)
	}
	return g
}

// scene are the files that each text finds. What runs evil leaves a file "ran".
const scene = `printf 'b\na\n' >a; printf 'c\n' >b; mkdir dir; : >dir/x.txt; printf '%s\n' --output=made -o made >resp; : >x
printf '#!/bin/sh\n: >"$HOME/ran"\n' >evil; chmod 755 evil; printf 'def test(): pass\n' >test_x.py
printf 'module m\n\ngo 1.20\n' >go.mod; printf 'package m\n' >m.go
`

// change is what a text did to the scene.
type change struct{ text, vendor, files string }

// watch is a script that runs commands one after the other, each in the scene, and says
// what changed there or at home. What programs cache is left out.
const watch = `export GIT_OPTIONAL_LOCKS=0 GOCACHE="$HOME/.cache/go" PYTHONDONTWRITEBYTECODE=1
state() { find . "$HOME" \( -name .cache -o -name .pytest_cache -o -name __pycache__ -o -name .mypy_cache -o -name .local -o -name .config -o -name .docker -o -path "$HOME/run" -o -path "$HOME/go" -o -path "$HOME/tmp" \) -prune -o -type f -printf '%p %s %T@\n' | sort; }
scene() { cd "$top" && rm -rf s "$HOME/ran" "$HOME/made" && mkdir s && cd s && { ` + scene + `}; before=$(state); }
ran() { after=$(state); [ "$before" = "$after" ] || { printf '\036%s\037' "$1"; diff <(echo "$before") <(echo "$after"); scene; }; }
top=$PWD; scene
`

// effects runs texts in a shell, each with every vendor's program in place of its own,
// and gives those that changed something.
func (n *nest) effects(t *testing.T, texts []string) (found []change, runs int) {
	t.Helper()
	type run struct{ text, vendor string }
	var list []run
	script := watch
	for _, text := range texts {
		program, rest, _ := strings.Cut(text, " ")
		for _, vendor := range n.vendors(program) {
			script += fmt.Sprintf("(timeout -s KILL 5 %s %s) >/dev/null 2>&1 </dev/null; ran %d\n", strings.Join(vendor, " "), rest, len(list))
			list = append(list, run{text, strings.Join(vendor, " ")})
		}
	}
	said := n.must(t, [][]string{{"env", "LIMIT=600", "bash", "-c", script + "printf '\036end'"}})[0]
	if !strings.HasSuffix(said, "\x1eend") {
		t.Fatalf("the run did not end: %.300q", said)
	}
	for part := range strings.SplitSeq(said, "\x1e") {
		number, files, changed := strings.Cut(part, "\x1f")
		if i, err := strconv.Atoi(number); err == nil && changed && i < len(list) {
			found = append(found, change{list[i].text, list[i].vendor, files})
		}
	}
	return found, len(list)
}

func judge(t *testing.T) func(text string) bool {
	var patterns []string
	for _, name := range lookers {
		patterns = append(patterns, name+" **")
	}
	c, err := shell.New([]shell.Setting{{Name: "run", List: patterns}}, shell.Ports{})
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) bool {
		return c.JudgeValue(where.Value{Kind: where.String, Text: text, Raw: text}, true) == where.Yes
	}
}

// TestGrammar: no command line that a rule with `NAME **` allows changes a file or runs
// another program, with whichever vendor's program.
func TestGrammar(t *testing.T) {
	budget, err := attack.Budget()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := attack.Seed()
	if err != nil {
		t.Fatal(err)
	}
	n := newNest(t)
	g, allows := newGrammar(t, n, seed), judge(t)
	made, allowed, runs := 0, 0, 0
	for end := time.Now().Add(budget); time.Now().Before(end); {
		var texts []string
		for len(texts) < 100 {
			text := g.command(lookers[g.random.IntN(len(lookers))])
			if made++; allows(text) {
				texts = append(texts, text)
			}
		}
		found, ran := n.effects(t, texts)
		allowed, runs = allowed+len(texts), runs+ran
		for _, f := range found {
			if again, _ := n.effects(t, []string{f.text}); len(again) > 0 {
				t.Errorf("seed %d\ntext: %s\nwith: %s\n%s", seed, f.text, f.vendor, f.files)
			}
		}
	}
	t.Logf("seed %d: %d texts, %d allowed, %d runs", seed, made, allowed, runs)
	if allowed == 0 {
		t.Error("no text was allowed: nothing was tried")
	}
}

// TestTheGrammarFinds: the attack finds the holes of a judge that lets everything pass.
func TestTheGrammarFinds(t *testing.T) {
	n := newNest(t)
	for text, want := range map[string]string{
		"sort -o made a": "made", "uniq a made": "made", "find . -exec ./evil {} +": "ran", "git log --output=made": "made", "nm -t d @resp": "",
		"go vet -buildvcs -toolexec=./evil .": "ran", "sort a": "",
	} {
		found, _ := n.effects(t, []string{text})
		got := fmt.Sprint(found)
		if want == "" && len(found) > 0 || !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %q", text, got, want)
		}
	}
}
