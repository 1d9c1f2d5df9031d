//go:build attack

package shell

import (
	"math/rand/v2"
	"strings"
)

// grammar makes shell texts: mostly commands that the policy names, and one that
// must not run in every place where shells could find a command or a text.
type grammar struct {
	*rand.Rand
	named []string // beginnings of commands that may run
	evil  string   // the command that must not
	depth int
}

func (g *grammar) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g *grammar) chance(percent int) bool { return g.IntN(100) < percent }

// text makes one text: by the grammar, and, most often, with a few characters
// put in, taken out or moved.
func (g *grammar) text() string {
	g.depth = 0
	s := g.list(1 + g.IntN(3))
	if g.chance(60) {
		for range 1 + g.IntN(3) {
			s = g.mutate(s)
		}
	}
	return s
}

func (g *grammar) list(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(g.pick("; ", " && ", " || ", " | ", "\n", " & ", ";", "&&", "|", " \\\n", "&"))
		}
		b.WriteString(g.command())
	}
	return b.String()
}

func (g *grammar) command() string {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 3 || g.chance(70) {
		return g.simple()
	}
	inner := func() string { return g.list(1) }
	switch g.IntN(16) {
	case 0:
		return "(" + inner() + ")"
	case 1:
		return "{ " + inner() + "; }"
	case 2:
		return "if " + inner() + "; then " + inner() + g.pick("", "; else "+inner()) + "; fi"
	case 3:
		return g.pick("while ", "until ") + inner() + "; do " + inner() + "; break; done"
	case 4:
		return "for " + g.pick("x", "f", "path", "RANDOM", "file") + " in " + g.words() + g.pick("; ", "\n") + "do " + inner() + "; done"
	case 5:
		return "case " + g.word() + " in " + g.pick("a", "*", "(a", "a|b", "[ab]", "$X") + ") " + inner() + " " + g.pick(";;", ";&", "") + " esac"
	case 6:
		return "! " + inner()
	case 7:
		return "time " + inner()
	case 8:
		return g.document()
	case 9:
		return g.pick("f() { ", "function f { ", "f () ( ") + inner() + g.pick("; }", " )") + "; f"
	case 10:
		return "[[ " + g.word() + g.pick(" && ", " < ", " == ", " -eq ") + g.word() + " ]]"
	case 11:
		return "# " + g.inside("\n") + "\n" + inner()
	case 12:
		return g.pick("A", "PATH", "IFS", "RANDOM", "a[0]", "A+", "path") + "=" + g.word() + g.pick(" ", "; ") + inner()
	case 13:
		return g.pick("eval ", "command ", "exec ", "noglob ", "builtin ", "and ", "not ", "begin; ", "coproc ", "- ") + inner()
	case 14:
		return g.pick("sh", "bash", "zsh", "dash", "mksh") + " -c " + g.quoted()
	default:
		return g.pick("env ", "xargs ", "timeout 1 ", "find . -name x -o -exec ", "nice ") + inner()
	}
}

func (g *grammar) simple() string {
	s := g.pick(g.named...)
	if n := g.IntN(4); n > 0 {
		s += " " + g.words()
	}
	for g.chance(12) {
		s += " " + g.redirection()
	}
	return s
}

func (g *grammar) redirection() string {
	return g.pick("> /dev/null", "2>&1", "2>/dev/null", ">x", "< a.txt", ">> x", ">& 2", "&>/dev/null", ">|x", "<>a.txt",
		"10>x", "{fd}>x", "2>&-", "<<< a", "> $X", ">!x", "&>x", "<(ls)", ">(ls)", "<1-2>", "</dev/null", "> >(ls)", "2>& 1")
}

func (g *grammar) words() string {
	s := g.word()
	for g.chance(40) {
		s += g.pick(" ", " ", "  ", " \\\n", "\t") + g.word()
	}
	return s
}

func (g *grammar) word() string {
	s := g.part()
	for g.chance(30) {
		s += g.part()
	}
	return s
}

func (g *grammar) part() string {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 6 {
		return "a"
	}
	switch g.IntN(14) {
	case 0, 1, 2:
		return g.pick("a", "-l", "a.txt", "dir/b", "x=y", "HEAD^", "a@b", "あ", "Á", "ă„", "%s", "+%Y", "@{0}", "{}", ",", "0", ":", "a#b")
	case 3:
		return g.pick("*", "?", "[a-z]", "*.txt", "~", "~/x", "{a,b}", "{1..3}", "=a", "a{b", "}", "[", "]", "!", "!=", "^a", "**", "*(a)", "@(a|b)")
	case 4:
		return g.quoted()
	case 5, 6:
		return "'" + g.inside("'") + "'"
	case 7, 8:
		return `"` + g.double() + `"`
	case 9:
		return g.variable()
	case 10:
		return "$(" + g.pick("", " ", "\n") + g.list(1) + g.pick("", "\n") + ")"
	case 11:
		return "`" + g.list(1) + "`"
	case 12:
		return `\` + g.pick(" ", ";", "(", ")", "'", `"`, "$", "`", "|", "&", "n", "a", `\`, "#", "\n", "*", "{", "あ")
	default:
		return g.pick("$'"+g.inside("'")+"'", `$"`+g.double()+`"`, "$(("+g.pick("1+1", "A", "a[$("+g.evil+")]")+"))", "$[1]", "<("+g.evil+")")
	}
}

// quoted puts a list in quotes, as a text for another shell.
func (g *grammar) quoted() string {
	if g.chance(50) {
		return "'" + strings.ReplaceAll(g.list(1), "'", g.pick(`"`, `'\''`, `'"'"'`, "")) + "'"
	}
	return `"` + strings.NewReplacer(`"`, `\"`, "$", `\$`, "`", "\\`").Replace(g.list(1)) + `"`
}

func (g *grammar) variable() string {
	return g.pick("$X", "${X}", "$HOME", "$E", `"$X"`, `"$@"`, "$1", "$?", "$$", "$#", "$!", "$*", "$-", "${X:-a}", "${X%.*}", "${X:-"+g.word()+"}",
		"${X:="+g.word()+"}", "${X/"+g.word()+"/}", "${#X}", "${!X}", "${X@P}", "${X[0]}", "$X[1]", "$X["+g.word()+"]", "${X:"+g.pick("1", "A")+"}", "${U+"+g.word()+"}", "$A", `"$A"`, "$U")
}

// inside makes a text for quotes that hold all but one character.
func (g *grammar) inside(but string) string {
	var b strings.Builder
	for range g.IntN(6) {
		b.WriteString(g.fragment())
	}
	return strings.ReplaceAll(b.String(), but, "")
}

// double makes the inside of double quotes.
func (g *grammar) double() string {
	var b strings.Builder
	for range g.IntN(5) {
		switch g.IntN(6) {
		case 0:
			b.WriteString(g.variable())
		case 1:
			b.WriteString("$(" + g.list(1) + ")")
		case 2:
			b.WriteString("`" + strings.ReplaceAll(g.list(1), `"`, g.pick(`"`, `\"`, "")) + "`")
		case 3:
			b.WriteString(`\` + g.pick(`"`, "$", "`", `\`, "n", "!", "\n", "'"))
		default:
			b.WriteString(strings.ReplaceAll(g.fragment(), `"`, ""))
		}
	}
	return b.String()
}

// fragment is a text in which a shell could find a command, were it not quoted.
func (g *grammar) fragment() string {
	return g.pick("a", " ", "b c", ";"+g.evil+";", "; "+g.evil+" #", "|"+g.evil, "&& "+g.evil+" ", "\n"+g.evil+"\n", "$("+g.evil+")", "`"+g.evil+"`",
		"'", `"`, `\`, "#", "(", ")", "{", "}", "$", "${X}", "<<E", "E", "!", "*", "~", "=", "^", "%", "あ", "\n", "&", "|", "; ", "\\'", "\\\n", `\\`, "$'", "]", "[", "${X:-'}")
}

// document makes a command with a here-document.
func (g *grammar) document() string {
	mark := g.pick("E", "EOF", "'E'", `"EOF"`, `\E`, "E\\\nOF", "'E O'", "$X", "E'O'F", "a.b", "-")
	end := strings.NewReplacer("'", "", `"`, "", `\`, "", "\n", "").Replace(mark)
	var body strings.Builder
	for range g.IntN(4) {
		body.WriteString(g.pick(g.inside("\x00"), g.evil, g.double(), end+" ", " "+end, "a"+end, end+`\`) + "\n")
	}
	return g.simple() + " " + g.pick("<<", "<<-", "<< ") + mark + g.pick("", " | "+g.simple(), "; "+g.simple(), " 2>&1", " <<F") + "\n" +
		body.String() + g.pick("", "\t") + end + g.pick("\n", "", "\n"+g.simple())
}

// mutate changes one place of a text.
func (g *grammar) mutate(s string) string {
	at := g.IntN(len(s) + 1)
	switch g.IntN(5) {
	case 0:
		end := min(len(s), at+1+g.IntN(2))
		return s[:at] + s[end:]
	case 1:
		end := min(len(s), at+g.IntN(8))
		return s[:end] + s[at:end] + s[end:]
	case 2:
		to := g.IntN(len(s) + 1)
		return s[:min(at, to)] + s[max(at, to):]
	default:
		return s[:at] + g.token() + s[at:]
	}
}

// token is what a shell acts on.
func (g *grammar) token() string {
	return g.pick("'", `"`, `\`, "`", "$", "(", ")", "{", "}", ";", "&", "|", "<", ">", "#", "!", "\n", "\\\n", " ", "\t", "=", "~", "*", "?", "[", "]",
		"^", "%", "$(", "${", "<<E\n", "<<'E'\n", "\nE\n", "$'", `$"`, "((", "))", ";;", "&>", ">&", "2>", "<(", "|&", "-", "0", "あ", "Á", ",", "@", "+", ":",
		g.evil, ";"+g.evil+";", "\n"+g.evil+"\n", "`"+g.evil+"`", "$("+g.evil+")", "|"+g.evil, "&"+g.evil, "("+g.evil+")", "{"+g.evil+"}", "{ "+g.evil+"; }",
		" time ", " if ", " then ", " fi ", " do ", " done ", " case ", " esac ", " in ", " function ", " and ", " or ", " not ", " begin ", " end ",
		" noglob ", " repeat 2 ", " foreach ", " select ", " coproc ", " eval ", " [[ ", " ]] ", "A=", "${X:-", "$((", "${X[", "$X[", "<<<", ">!", "%1", "!!", "<<-E\n")
}
