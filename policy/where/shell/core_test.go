package shell

import (
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/clawai/clawai/policy/where"
)

func holds(t testing.TB, text string, opens bool, patterns ...string) where.Match {
	t.Helper()
	c, err := New([]Setting{{"run", patterns}}, Ports{})
	if err != nil {
		t.Fatal(err)
	}
	return c.JudgeValue(where.Value{Kind: where.String, Text: text, Raw: text}, opens)
}

// Each of these runs rm in one of the shells of docs/where.md and not in
// another, or is read by the parser in a way that no shell has. Those marked were
// found by attacks on the four dialects of one parser, all of which took the rm
// for text.
func TestTextsThatShellsReadDifferently(t *testing.T) {
	for _, text := range []string{
		// A backslash and a line break between $ and what it begins (marked).
		"echo \"$\\\n(rm x)\"", "echo '$' \"$\\\n(rm x)\" b", "echo $\\\n(rm x)", "echo \"$\\\n{X:-$(rm x)}\"", "echo \\\n`\\\nrm x`",
		"ec\\\nho a", "echo a &\\\n& rm x", "echo a >\\\n> x",
		// A here-document whose mark, or whose end, is joined from two lines (marked).
		"cat <<EF\na\nE\\\nF\nrm x\nEF\n", "cat <<E\\\nF\na\nE\nF\nrm x\nEF\n", "cat <<E\\\nF\na\nEF\nrm x\nE\nF\n", "cat <<\\E\\\nF\n$(rm x)\nEF\n",
		// Quotes in an expansion in double quotes, or in a here-document (marked).
		"echo \"${X:-'$(rm x)'}\"", "echo \"${X:-'\"; rm x; echo \"'}\"", "echo \"${X:-'}\" ; rm x ; echo \"${X:-'}\"",
		"cat <<E\n$X[$(rm x)]\nE\n", "cat <<E\n$X[rm x]\nE\n", "cat <<E\n${X[1]}\nE\n", "cat <<E\n${X:=rm x}\nE\n", "cat <<E\n$(rm x)$X\nE\n",
		"cat <<E\n$X`rm x`\nE\n", "cat <<E\n$((rm x))\nE\n", "cat <<E\n$X\\\nE\nrm x\nE\n", "cat <<E\n${ rm x;}\nE\n", "cat <<E\n${X@P}\nE\n", "cat <<E\n$'rm x'\nE\n",
		"cat <<E\n$[rm x]\nE\n", "cat <<E\n$X\nE \nrm x\n", "cat <<E\n${!X} rm x\nE\n", "cat <<E\n$! rm x\nE\n", "cat <<E\n${X\n} rm x\nE\n",
		"cat <<E\n${X:-'$(rm x)'}\nE\n", "cat <<E\n${X:-'}\nE\nrm x\n'}\nE\n", "cat <<E\n${X:-\"\nE\nrm x\n\"}\nE\n", "echo ${X:-'$(rm x)'}",
		// A backquote inside quotes inside backquotes (marked).
		"echo `echo '`rm x`'`", "echo `echo \"`rm x`\"`", "echo `echo '\\`rm x\\`'`", "echo \"`echo '\"`rm x`\"'`\"", "echo \"`echo \"a\"`\"",
		// What zsh runs: cat or more for a redirection alone, a short loop, a flag, an
		// index, a named glob, a precommand.
		"> x", "< a", "echo *(e:'rm x':)", "echo ${(e)X}", "echo $X[1]", "echo \"$X[(rm x)]\"", "repeat 2 echo", "noglob rm x", "- rm x",
		"if echo; { rm x }", "!(rm)", "!\necho", "echo a }", "echo a &! rm x", "echo a &| rm x", "echo <1-2>", "=rm x", "for path in a; do echo; done",
		// What is a word of bash, ksh or mksh, and a program or a separator to others.
		"[[ a && rm x ]]", "[[ -n a ]]", "echo a &> x rm", "echo a |& rm x", "echo <(rm x)", "echo $'\\'' ; rm x #'", "echo $\"a\"", "echo 10> x", "echo {fd}> x",
		"A+=b echo", "A[0]=b echo", "a=(b) echo", "function f { rm x; }", "f() { echo; }", "coproc rm x", "select x in a; do rm x; done", "((rm x))", "echo $((1))", "let a=1",
		"cat <<< a", "cat <<-E\na\nE\n", "cat <<A <<B\na\nA\nb\nB\n", "echo $(cat <<E\n)\nE\n)", "echo $(echo # )\n)", "case a in a) echo ;& b) rm x ;; esac",
		"echo ${X@P}", "echo ${!X}", "echo ${X/a/b}", "echo ${X:=rm}", "time -o x rm x", "time A=b rm x", "RANDOM='a[$(rm x)]'", "RANDOM=\"$A\"",
		"shift 'a[$(rm x)]'", "shift \"$A\"", "exit 'path[$(rm x)]'", "for i in a; do break 'path[$(rm x)]'; done", "return 'path[$(rm x)]'", "logout \"$A\"", "ulimit -n \"$A\"", "getln \"$A\"",
		// What fish reads in another way, and what it calls.
		"and rm x", "begin; rm x; end", "not rm x", "echo (rm x)", "echo 'a\\' 'b; rm x; echo '", "echo a&rm x", "echo 'a\\\\'", "echo a\\nb", "echo `echo a; rm x`", "echo \"$X[1]\"",
		// An earlier command, a job, a substitution of words.
		"!rm", "echo !!", "echo \"a!b\"", "^echo^rm^", "%1", "fg; %rm",
	} {
		if got := holds(t, text, true, "**"); got == where.Yes {
			t.Errorf("an allow takes %q", text)
		}
		if got := holds(t, text, false, "rm **"); got == where.No {
			t.Errorf("a deny does not meet %q", text)
		}
	}
}

// Ordinary texts that every shell reads alike.
func TestTextsThatShellsReadAlike(t *testing.T) {
	for _, text := range []string{
		"a ~", "a ~/b", `a "$HOME/b"`, `a "${HOME}/b"`, `a $X`, `a "$@"`, `a "$1"`, "a $?", "a $$", "a \"${X:-/tmp}/b\"", "a ${X%.go}", "a ${X##*/}",
		`a "it's" 'a "b"' a\ b \; \( \)`, `a "\$5" "\"" "a\.b$"`, "a foo$", `a '\n' "\d"`, "a HEAD^ b@{0} {} {}.bak c{1,2}", "a b#c %d +%Y-%m",
		"a | b && c || d; e & f", "a\nb\n\nc", "a \\\n  -b \\\n  -c", "# why\na # then\nb", "a |\n  b", "a &&\n\nb", "! a", "a &",
		"(a; b) | c", "{ a; b; } 2>&1", "if a; then b; elif c; then d; else e; fi", "while a\ndo b\ndone", "until a; do b; done | c",
		"for f in *.go \"$X\"; do a \"$f\"; done", "case $1 in start) a ;; -*) b ;; *) c ;; esac",
		`a "$(b "c d" | e)" $(f)`, "a `b`", "a \"`b c`\" `d | e \"f\"`", "a 2>/dev/null >/dev/null 2>&1 </dev/null", "a &>/dev/null", "a &> /dev/null; b",
		"a <<'E'\n$(b) `c` \"\nE\n", "a <<E | b\nplain's text\nE\nc", "a <<E\n$X and ${Y}: \"$HOME/b\", ${A}$B\nE\nc", "time a", "a あ Á",
	} {
		core, known := readCore(text)
		parsed, err := parseShell(text, syntax.LangBash)
		if err != nil || !known || core.doubt || !core.equalProgram(parsed) {
			t.Errorf("%q: %v (%v), as the parser has it %v, %v", text, core, known, parsed, err)
		}
		if got := holds(t, text, false, "rm **"); got != where.No {
			t.Errorf("a deny meets %q: %d", text, got)
		}
	}
	for _, text := range []string{"A=b a", "A=$(a) B='c d'", "a > x", "a >> \"$X\" 2>&1 < y", "A=b; a \"$A\"", "a &>x"} { // files and variables
		if got := holds(t, text, true, "a **"); got != where.Maybe {
			t.Errorf("an allow says %d of %q", got, text)
		}
		if got := holds(t, text, false, "rm **"); got != where.No {
			t.Errorf("a deny meets %q: %d", text, got)
		}
	}
}

// FuzzCore: what is not in the core is a maybe, whatever the rule; what is in it,
// every dialect of the parser that reads it reads alike.
func FuzzCore(f *testing.F) {
	for _, s := range []string{"a 'b' \"c $D\" | e `f` $(g)", "for f in a; do b; done", "a <<E\nb\nE\n", "if a; then b; fi", "A=b c > d", "time a", "case a in b) c ;; esac"} {
		f.Add(s)
	}
	whatever, _ := New([]Setting{{"run", []string{"**"}}}, Ports{})
	f.Fuzz(func(t *testing.T, text string) {
		v := where.Value{Kind: where.String, Text: text, Raw: text}
		p, ok := readCore(text)
		if !ok || !isAdmissible(text) {
			if whatever.JudgeValue(v, true) == where.Yes || whatever.JudgeValue(v, false) == where.No {
				t.Errorf("%q is not in the core, and decided", text)
			}
			return
		}
		for _, dialect := range []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX, syntax.LangMirBSDKorn, syntax.LangZsh} {
			parsed, err := parseShell(text, dialect)
			if err != nil || dialect != syntax.LangBash && strings.Contains(text, "time") {
				continue // to some it is a word of the language
			}
			if !equalCommands(p.commands, parsed.commands) {
				t.Errorf("%q: %v, as %v %v", text, p.commands, dialect, parsed.commands)
			}
		}
	})
}

// equalCommands reports whether both hold the same commands. The parser lists those of a redirect
// after those of the words behind it.
func equalCommands(a, b []simple) bool {
	b = slices.Clone(b)
	for _, c := range a {
		i := slices.IndexFunc(b, c.equalWords)
		if i < 0 {
			return false
		}
		b = slices.Delete(b, i, i+1)
	}
	return len(b) == 0
}

// TestListedIn: a word is listed whole, between blanks of any kind.
func TestListedIn(t *testing.T) {
	list := "ab a\n\tabc -x\n-x=y b"
	for _, word := range []string{"ab", "a", "abc", "-x", "-x=y", "b"} {
		if !listedIn(list, word) {
			t.Errorf("%q is not listed", word)
		}
	}
	for _, word := range []string{"", "c", "bc", "x", "-x=", "=y", "ab a", "a\n\tabc", " ", "\n", "B", "abcd"} {
		if listedIn(list, word) {
			t.Errorf("%q is listed", word)
		}
	}
}
