package shell

import (
	"slices"
	"strings"
)

// isReserved reports whether at least one shell, fish included, uses this word to begin, end or
// change a command. Such a word cannot be the name of a command.
func isReserved(word string) bool {
	switch word {
	case "!", "{", "}", "[[", "]]", "case", "do", "done", "elif", "else", "end", "esac", "fi", "for",
		"foreach", "function", "if", "in", "namespace", "repeat", "select", "then", "time", "until",
		"while", "coproc", "nocorrect", "noglob", "and", "begin", "not", "or", "switch", "-", "{}":
		return true
	}
	return false
}

// timed is the command `time` in a shell where time is not a reserved word.
var timed = simple{words: []word{{text: "time", known: true}}}

// isAssignment reports whether at least one shell reads the first word of a command as an
// assignment.
func isAssignment(s string) bool {
	n := identifierLength(s)
	rest := strings.TrimPrefix(s[n:], "+")
	return n > 0 && (strings.HasPrefix(rest, "=") || strings.HasPrefix(s[n:], "["))
}

// identifierLength returns the length of the identifier at the beginning of a text.
func identifierLength(s string) int {
	n := 0
	for n < len(s) && (s[n] == '_' || s[n] >= 'A' && s[n] <= 'Z' || s[n] >= 'a' && s[n] <= 'z' || n > 0 && s[n] >= '0' && s[n] <= '9') {
		n++
	}
	return n
}

// readSimple reads one simple command: assignments, words and redirections.
func (c *core) readSimple() bool {
	var words []word
	slot := len(c.commands) // the command comes before the commands in its substitutions
	c.commands = append(c.commands, simple{})
	var assigned []assignment
	for {
		if !c.skipGap(false) {
			return false
		}
		switch b := c.peekByte(); {
		case c.isRedirect():
			if !c.readRedirect() {
				return false
			}
		case b == '&' && c.peekAt(1) == '>' && len(words) > 0:
			if !c.redirectBoth() {
				return false
			}
		case isDelimiter(b):
			return b != '(' && c.finishCommand(slot, words, assigned)
		case len(words) == 0 && isAssignment(c.bareText()):
			a, ok := c.readAssignment()
			if !ok {
				return false
			}
			assigned = append(assigned, a)
		default:
			w, ok := c.readCoreWord()
			if !ok || len(words) == 0 && !c.mayNameCommand(w) {
				return false
			}
			words = append(words, w)
		}
	}
}

// finishCommand stores the words of a command. It returns false if a shell may evaluate a word as
// arithmetic (a[$(id)] runs id). It also returns false for redirections without a command, because
// zsh runs cat or more for them.
func (c *core) finishCommand(slot int, words []word, assigned []assignment) bool {
	if len(words) == 0 {
		c.commands = slices.Delete(c.commands, slot, slot+1)
		c.doubt = true // an assignment without a command changes the shell for all later commands
		return len(assigned) > 0
	}
	c.assigned = append(c.assigned, assigned...)
	c.commands[slot].words = words
	if len(words) == 2 && strings.HasSuffix(strings.TrimRight(c.text[:c.at], " \t"), words[0].text+" $?") {
		return true // $? is the exit code of the last command, which is a number
	}
	return !listedIn(computing, words[0].text) || !slices.ContainsFunc(words[1:], func(w word) bool { return !w.known || strings.Contains(w.text, "[") })
}

// computing are builtins that evaluate an argument as an expression in mksh or zsh. test and printf
// do so too, but are not in this list.
const computing = "shift ulimit getln private exit return break continue logout bye"

// mayNameCommand reports whether a word may be the name of a command. The word must not be reserved
// in any shell, and must not have a character that is special to a shell in this place.
func (c *core) mayNameCommand(w word) bool {
	return !isReserved(w.text) && !strings.ContainsAny(w.text, "^%{}=!#~") && (w.text == "" || strings.IndexByte("-+@,", w.text[0]) < 0) &&
		(w.text == "[" || !strings.ContainsAny(w.text, "[]"))
}

// readAssignment reads `NAME=word`. It refuses a value that has both an index and an expansion,
// because shells evaluate the values of numeric variables.
func (c *core) readAssignment() (assignment, bool) {
	n := identifierLength(c.text[c.at:])
	a := assignment{at: c.at, name: c.text[c.at : c.at+n], value: word{known: true}}
	if c.at += n; !c.takeText("=") {
		return a, false
	}
	c.steered = c.steered || steersPrograms(a.name)
	if isDelimiter(c.peekByte()) {
		return a, c.peekByte() != '('
	}
	var ok bool
	a.value, ok = c.readCoreWord()
	return a, ok && (!strings.Contains(a.value.text, "[") || !strings.ContainsAny(a.value.text, "$`"))
}

// isRedirect reports whether a redirection is next, with or without the digit of a
// descriptor.
func (c *core) isRedirect() bool {
	b := c.peekByte()
	if b >= '0' && b <= '9' {
		b = c.peekAt(1)
	}
	return b == '<' || b == '>'
}

func (c *core) readRedirect() bool {
	b := c.peekByte()
	numbered := b >= '0' && b <= '9'
	if numbered {
		c.at++
	}
	switch {
	case c.takeText("<<"):
		return c.readHereMark()
	case c.takeText(">&"), c.takeText("<&"):
		b := c.peekByte()
		c.at++
		return (b == '-' || b >= '0' && b <= '9') && isDelimiter(c.peekByte())
	case c.takeText(">>"), c.takeText(">"):
		return c.readTarget(false)
	case c.takeText("<"):
		return c.readTarget(!numbered)
	}
	return false
}

// readTarget reads the file of a redirection. The parameter reads is true if the command gets the
// file as its standard input. In zsh <1-2> is a glob, and >! writes a file.
func (c *core) readTarget(reads bool) bool {
	if strings.IndexByte("<>&|(!", c.peekByte()) >= 0 || c.peekByte() >= '0' && c.peekByte() <= '9' || !c.skipGap(false) {
		return false
	}
	start := c.at
	to, ok := c.readCoreWord()
	if !to.known || to.text != "/dev/null" {
		c.files = append(c.files, file{start, to, reads})
	}
	return ok
}

// redirectBoth reads `&> file`. In dash, the `&` ends the command, and an empty command with `>
// file` follows. Both readings run the same programs if no word follows the file.
func (c *core) redirectBoth() bool {
	c.at += len("&>")
	if c.takeText(">"); !c.readTarget(false) || !c.skipGap(false) {
		return false
	}
	return strings.IndexByte("\x00\n;)", c.peekByte()) >= 0
}

// readHereMark reads the mark of a here-document: a plain word, with or without
// quotes.
func (c *core) readHereMark() bool {
	if c.nested > 0 || c.mark != "" || !c.skipGap(false) {
		return false
	}
	quote := c.peekByte()
	if c.raw = quote == '\'' || quote == '"'; c.raw {
		c.at++
	}
	n := identifierLength(c.text[c.at:])
	c.mark = c.text[c.at : c.at+n]
	c.at += n
	if c.raw && !c.takeText(string(quote)) {
		return false
	}
	return n > 0 && isDelimiter(c.peekByte())
}

// skipDocument skips the here-document that begins after a line break, if there is
// one.
func (c *core) skipDocument() bool {
	for c.mark != "" {
		line, _, more := strings.Cut(c.text[c.at:], "\n")
		c.at += len(line)
		if more {
			c.at++
		}
		switch {
		case line == c.mark:
			c.mark = ""
		case !more, strings.HasSuffix(line, `\`), !c.raw && !plainLine(line):
			return false
		}
	}
	return true
}

// plainLine reports whether a shell expands only plain variables ($NAME) in a line of a
// here-document. A bracket must not follow a variable, because zsh reads it as an index.
func plainLine(line string) bool {
	if strings.ContainsAny(line, "`\\") {
		return false
	}
	for {
		var found bool
		if _, line, found = strings.Cut(line, "$"); !found {
			return true
		}
		name, braced := strings.CutPrefix(line, "{")
		n := identifierLength(name)
		line = name[n:]
		if braced {
			if line, found = strings.CutPrefix(line, "}"); !found {
				return false
			}
		}
		if n == 0 || strings.HasPrefix(line, "[") {
			return false
		}
	}
}
