package shell

import "strings"

// readAwk reads the words of awk. The awk program in them may run commands, and read
// and write files.
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
			return hiddenEffect() // an awk that also accepts options after operands may find -f there
		}
	}
	return effect{}
}

// awkReads reports whether an awk program runs no command and writes no file. It returns true only
// if this holds for every way in which an awk can split the program into tokens (POSIX, awk,
// Lexical Conventions).
func awkReads(program string) bool {
	l := awkLexer{rest: program}
	for l.takeToken() {
	}
	return l.rest == "" && !l.refused
}

// awkLexer splits an awk program into tokens. It refuses a text that it does not know, and a text
// that awks split in different ways.
type awkLexer struct {
	rest    string
	last    string // the previous token; "x" stands for any operand
	depth   int    // number of open parentheses
	prints  int    // the depth of the current print statement, plus one; 0 outside a print statement
	refused bool
}

// takeToken reads one token and removes it from rest. It returns false at the end of the program,
// and if it refuses the text.
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
		l.rest = l.rest[1:] // the line break does not end the print statement, because it follows an operator
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

// opens are words after which an expression begins. A slash after a word in noOperands is not
// valid, or awks read the slash in different ways.
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
		l.refused = true // the word runs a command, reads a file, or prints the environment
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

// takeSlash reads a slash. The slash is a division after an operand, and begins a regular
// expression where an operand can begin.
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

// takeQuoted reads a string or a regular expression. It refuses a slash in brackets, because some
// awks end the expression at this slash.
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

// signs are the operators of awk, the longer ones first. A single bar (a pipe) and @ (a call by
// name) are not in the list, so the lexer refuses them.
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
			// After a print without parentheses, the name of a file follows.
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

// printsToStderr reports whether a print writes only to standard error. The print must use the file
// name that every awk knows.
func (l *awkLexer) printsToStderr() bool {
	to, ok := strings.CutPrefix(strings.TrimLeft(l.rest[1:], " "), `"/dev/stderr"`)
	to = strings.TrimLeft(to, " ")
	return ok && (to == "" || strings.IndexByte(";}\n", to[0]) >= 0)
}
