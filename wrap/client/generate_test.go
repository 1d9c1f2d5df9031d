package client

import (
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// A sample is a generated file with what its target entry says. The four marks
// are strings that stand before, after and inside the entry, and among its
// arguments if there are any: a test edits the file by replacing them.
type sample struct {
	row     Row
	src     string
	path    []string // of the target
	command string
	args    []string
	hasArgs bool
}

var marks = []string{"MARKBEFORE", "MARKAFTER", "MARKINSIDE", "MARKARGUMENT"}

// generator draws the parts of a file.
type generator struct {
	t      *rapid.T
	eol    string
	step   string // of indentation, in YAML
	format Format
	remote *remoteSample // nil: the target is a process
}

func newGenerator(t *rapid.T, f Format) *generator {
	g := &generator{t: t, format: f}
	g.eol, g.step = pick(g, "\n", "\n", "\r\n"), pick(g, "  ", "    ", " ")
	return g
}

func pick[T any](g *generator, choices ...T) T {
	return choices[rapid.IntRange(0, len(choices)-1).Draw(g.t, "pick")]
}

func (g *generator) chance(oneIn int) bool {
	return rapid.IntRange(0, oneIn-1).Draw(g.t, "chance") == 0
}

var (
	nastyNames = []string{
		"fs", "fs", "git", "a.b", "a/b", "é", "日本", "\U0001f600", "two words", `q"uote`, `'`, `back\slash`, "--", "-x", "--server", "",
		"mcpServers", "command", "args", "proxy", "clawai", "line\nbreak", "tab\t", "\u2028", "\u0085", "#", "a: b", "true", "null", "1", "~", "{", "[x]",
	}
	nastyWords = []string{
		"-y", "", "--", "proxy", "--server", "clawai", "a b", `C:\Program Files\x.exe`, "'", `"`, `\`, `\\`, "//x", "/*", "*/", "#", "# c", "${HOME}",
		"{", "}", "[", "]", ",", "a,b", ": ", "- ", "é", "\U0001f600", "line\nbreak", "tab\t", "\u2028", "\x01", "@scope/pkg@1.2", "--flag=a b", "null", "1", "true", "~", "@", "`", "%", "&a", "*a", "!t", "|", ">", "?", "=",
	}
	commands = []string{
		"npx", "uvx", "docker", "cmd", "node", "/usr/bin/env", `C:\Program Files\nodejs\npx.cmd`, "a b", "~/bin/x", "./x", "é", "-x", `q"`, "'x'", "proxy", "myclawai", "clawai2", "npx -y x", "line\nbreak", "1", "true", "null", "C:",
	}
)

// names are distinct; the first is the target's.
func (g *generator) names(n int) []string {
	var names []string
	for len(names) < n {
		name := pick(g, nastyNames...)
		for slices.Contains(names, name) {
			name += "2"
		}
		names = append(names, name)
	}
	return names
}

func (g *generator) words() []string {
	words := []string{}
	for range rapid.IntRange(0, 4).Draw(g.t, "words") {
		words = append(words, pick(g, nastyWords...))
	}
	if g.chance(2) {
		words = append(words, marks[3])
	}
	return words
}

// fill draws the target.
func (g *generator) fill(s *sample) {
	s.command = pick(g, commands...)
	if s.hasArgs = !g.chance(3); s.hasArgs {
		s.args = g.words()
	}
}

// shuffle orders members.
func (g *generator) shuffle(parts []string) []string {
	return rapid.Permutation(parts).Draw(g.t, "order")
}

// bare reports whether a string is made of letters, digits and some marks.
func bare(s, marks string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune(marks, r)
	}) < 0
}
