package shell

import "strings"

// readAwk reads the words of awk. Its program may run commands, read and write
// files.
func readAwk(words []word) effect {
	at := 1
	for ; at < len(words) && words[at].known && strings.HasPrefix(words[at].text, "-"); at++ {
		switch text := words[at].text; {
		case text == "-F" || text == "-v":
			at++
			if at < len(words) && (words[at].many || words[at].split || len(words[at].text) > 1 && strings.IndexByte("-@", words[at].text[0]) >= 0) {
				return hiddenEffect()
			}
		case strings.HasPrefix(text, "-F"), strings.HasPrefix(text, "-v"):
		default:
			return hiddenEffect()
		}
	}
	if at >= len(words) || !words[at].known {
		return hiddenEffect()
	}
	if program := words[at].text; !awkReads(program) {
		runs := strings.ContainsAny(program, "|@") || strings.Contains(program, "system") || strings.Contains(program, "getline")
		return effect{hidden: true, handed: runs}
	}
	for _, w := range words[at+1:] {
		if len(w.text) > 1 && w.text[0] == '-' {
			return hiddenEffect() // to an awk that looks for options everywhere, -f
		}
	}
	return effect{}
}

// awkReads reports whether a program of awk runs no command and writes no file, in
// whichever way an awk cuts it into tokens (POSIX, awk, Lexical Conventions).
func awkReads(program string) bool {
	l := awkLexer{rest: program}
	for l.takeToken() {
	}
	return l.rest == "" && !l.refused
}

// awkLexer goes through a program token by token. What it does not know, and
// what awks read in different ways, it refuses.
type awkLexer struct {
	rest    string
	last    string // the token before; an "x" stands for any operand
	depth   int    // of parentheses
	prints  int    // the depth of the print that is being read, and one; 0 without
	refused bool
}

// takeToken takes one token; false at the end and at what is refused.
func (l *awkLexer) takeToken() bool {
	l.rest = strings.TrimLeft(l.rest, " \t")
	if l.rest == "" {
		return false
	}
	switch c := l.rest[0]; {
	case c == '#':
		end := strings.IndexByte(l.rest, '\n')
		if end < 0 {
			end = len(l.rest)
		}
		l.rest = l.rest[end:]
	case c == '\n' && l.prints > 0 && !listedIn("x ) ] ++ -- print printf length", l.last):
		l.rest = l.rest[1:] // the print goes on behind an operator
	case c == ';', c == '}', c == '\n':
		l.consumeText(1, l.rest[:1])
		l.prints = 0
	case c == '"':
		l.takeQuoted(false)
	case c == '/':
		l.takeSlash()
	case isLetter(c):
		l.takeName()
	case c >= '0' && c <= '9' || c == '.':
		l.consumeText(len(l.rest)-len(strings.TrimLeft(l.rest, "0123456789.")), "x")
	default:
		l.takeSign()
	}
	return !l.refused
}

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func (l *awkLexer) consumeText(n int, token string) { l.rest, l.last = l.rest[n:], token }

// Words behind which an expression begins, and those behind which awks differ,
// or no slash can stand.
const (
	opens      = "do else in return exit case"
	noOperands = " length next nextfile break continue delete BEGIN END BEGINFILE ENDFILE default if while for switch function func"
)

func (l *awkLexer) takeName() {
	n := 1
	for n < len(l.rest) && (isLetter(l.rest[n]) || l.rest[n] >= '0' && l.rest[n] <= '9') {
		n++
	}
	switch name := l.rest[:n]; name {
	case "system", "getline", "extension", "ENVIRON", "SYMTAB":
		l.refused = true // it runs, reads, or prints the environment
	case "print", "printf":
		l.prints = l.depth + 1
		l.consumeText(n, name)
	default:
		if !listedIn(opens+noOperands, name) {
			name = "x"
		}
		l.consumeText(n, name)
	}
}

// takeSlash takes a division or a regular expression: after an operand the one, at
// the beginning of one the other.
func (l *awkLexer) takeSlash() {
	switch {
	case l.last == "x" || l.last == "]" || l.last == ")" && strings.IndexByte(l.rest[1:], '/') < 0:
		l.consumeText(1, "/")
	case listedIn(") ++ --"+noOperands, l.last):
		l.refused = true
	default:
		l.takeQuoted(true)
	}
}

// takeQuoted takes a string or a regular expression. A slash in brackets ends one
// for some awks.
func (l *awkLexer) takeQuoted(expression bool) {
	end, brackets := l.rest[0], false
	for i := 1; i < len(l.rest); i++ {
		switch c := l.rest[i]; {
		case c == '\n' || c == '\\' && i+1 < len(l.rest) && l.rest[i+1] == '\n', c == end && brackets:
			l.refused = true
			return
		case c == '\\':
			i++
		case c == end:
			l.consumeText(i+1, "x")
			return
		case expression && brackets && c == '[' && i+1 < len(l.rest) && strings.IndexByte(":.=", l.rest[i+1]) >= 0:
			size := strings.Index(l.rest[i+2:], l.rest[i+1:i+2]+"]")
			if size < 0 || strings.ContainsAny(l.rest[i:i+2+size], "/\n\\") {
				l.refused = true
				return
			}
			i += size + 3
		case expression && c == '[' && !brackets:
			brackets = true
			if i+1 < len(l.rest) && l.rest[i+1] == '^' {
				i++
			}
			if i+1 < len(l.rest) && l.rest[i+1] == ']' {
				i++
			}
		case c == ']':
			brackets = false
		}
	}
	l.refused = true
}

// signs are the operators of awk, the longer ones first. One bar is a pipe, and
// an @ calls by name.
var signs = [...]string{
	"&&", "||", "==", "!=", "<=", ">=", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "**", "!~",
	"{", "(", ")", "[", "]", ",", "<", ">", "~", "!", "+", "-", "*", "%", "^", "=", "?", ":", "$", "\\\n",
}

func (l *awkLexer) takeSign() {
	for _, sign := range signs {
		if !strings.HasPrefix(l.rest, sign) {
			continue
		}
		switch sign {
		case "(":
			l.depth++
		case ")":
			l.depth--
		case ">", ">=":
			// To a print without parentheses around it, the name of a file follows.
			if l.prints > l.depth || strings.HasPrefix(l.rest, ">>") {
				l.refused = l.refused || !l.printsToStderr()
			}
		}
		if sign == "\\\n" {
			l.rest = l.rest[2:]
			return
		}
		l.refused = l.refused || l.depth < 0
		l.consumeText(len(sign), sign)
		return
	}
	l.refused = true
}

// printsToStderr reports whether a print goes to standard error, by a name that every awk
// knows, and ends there.
func (l *awkLexer) printsToStderr() bool {
	to, ok := strings.CutPrefix(strings.TrimLeft(l.rest[1:], " "), `"/dev/stderr"`)
	to = strings.TrimLeft(to, " ")
	return ok && (to == "" || strings.IndexByte(";}\n", to[0]) >= 0)
}
