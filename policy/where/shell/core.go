package shell

import (
	"slices"
	"strings"
)

// core reads a text by a grammar of our own, which holds only what every shell
// of docs/where-command.md reads alike: simple commands in pipes, lists, groups,
// if, while, for and case, with words of plain quotes, simple variables and
// substitutions. It takes no word of a parser for it: test/attack/shell runs what
// it reads in those shells. What it does not know, it does not read.
type core struct {
	text string
	at   int
	*program
	nested int    // substitutions that are open
	depth  int    // lists that are open
	words  int    // read so far
	mark   string // of the here-document that begins at the next line break
	raw    bool   // its mark is quoted: nothing in it is expanded
}

// Limits on what is read: how deep lists may stand within lists, and words.
const (
	maxLists = 50
	maxWords = 8_000
)

// readCore says what a text runs, and whether all of it is in the core. Of a text
// that is too long to read it says nothing.
func readCore(text string) (p *program, known bool) {
	c := core{text: text, program: &program{}}
	_, known = c.list("")
	if c.words > maxWords {
		return nil, false
	}
	c.sort()
	return c.program, known && c.mark == ""
}

// peek is the character that comes next; 0 at the end.
func (c *core) peek() byte { return c.after(0) }

func (c *core) after(n int) byte {
	if c.at+n < len(c.text) {
		return c.text[c.at+n]
	}
	return 0
}

func (c *core) takes(s string) bool {
	if !strings.HasPrefix(c.text[c.at:], s) {
		return false
	}
	c.at += len(s)
	return true
}

// isDelimiter says whether a character ends a word; the end of the text does.
func isDelimiter(b byte) bool { return strings.IndexByte("\x00 \t\n;&|<>()", b) >= 0 }

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// bare is the text up to the next delimiter, as it is written.
func (c *core) bare() string {
	end := c.at
	for end < len(c.text) && !isDelimiter(c.text[end]) {
		end++
	}
	return c.text[c.at:end]
}

// gap skips blanks, a comment, line breaks after a blank and a backslash, and,
// where commands are separated, line breaks.
func (c *core) gap(lines bool) bool {
	for {
		blank := c.at > 0 && isBlank(c.text[c.at-1])
		switch b := c.peek(); {
		case isBlank(b):
			c.at++
		case b == '\\' && c.after(1) == '\n' && blank && c.mark == "":
			c.at += 2
		case b == '\n' && lines:
			if c.at++; !c.document() {
				return false
			}
		case b == '#' && (blank || c.at == 0 || c.text[c.at-1] == '\n'):
			comment, _, _ := strings.Cut(c.text[c.at:], "\n")
			if c.nested > 0 || mayAct(comment[1:]) {
				return false
			}
			c.at += len(comment)
		default:
			return true
		}
	}
}

// list reads commands up to one of the words that end them, and takes it. Each
// command is ended by a separator of its own, but the last of a text or before
// a parenthesis.
func (c *core) list(ends ...string) (end string, ok bool) {
	if c.depth++; c.depth > maxLists {
		return "", false
	}
	defer func() { c.depth-- }()
	for some := false; ; some = true {
		if !c.gap(true) {
			return "", false
		}
		for _, end := range ends {
			switch {
			case end == "" && c.at == len(c.text):
				return end, true
			case end != "" && strings.HasPrefix(c.text[c.at:], end) && (isDelimiter(end[0]) || c.bare() == end):
				c.at += len(end)
				return end, some
			}
		}
		if !c.andOr() || !c.gap(false) || !c.separator(ends) {
			return "", false
		}
	}
}

// separator takes what ends a command; what ends the list it leaves.
func (c *core) separator(ends []string) bool {
	switch b := c.peek(); {
	case b == 0 || b == '\n':
		return true
	case b == ')':
		return slices.Contains(ends, ")")
	case b == ';' && c.after(1) == ';':
		return slices.Contains(ends, ";;")
	case b == ';':
		c.at++
		return strings.IndexByte("&|", c.peek()) < 0 || c.peek() == 0
	case b == '&': // in fish, a & before a letter is one
		c.at++
		return strings.IndexByte("\x00 \t\n)", c.peek()) >= 0
	}
	return false
}

func (c *core) andOr() bool {
	for {
		if !c.pipeline() || !c.gap(false) {
			return false
		}
		if !c.takes("&&") && !c.takes("||") {
			return true
		}
		if !c.gap(true) {
			return false
		}
	}
}

func (c *core) pipeline() bool {
	if c.bare() == "!" {
		if c.at++; !isBlank(c.peek()) || !c.gap(false) {
			return false
		}
	}
	for {
		if !c.command() || !c.gap(false) {
			return false
		}
		if c.peek() != '|' || c.after(1) == '|' {
			return true
		}
		c.at++
		if c.peek() == '&' || !c.gap(true) {
			return false
		}
	}
}

func (c *core) command() bool {
	word := c.bare()
	var ok bool
	switch word {
	case "":
		if c.peek() != '(' || c.after(1) == '(' {
			return false
		}
		c.at++
		_, ok = c.list(")")
	case "{":
		c.at++
		_, ok = c.list("}")
	case "if":
		ok = c.conditional()
	case "while", "until":
		c.at += len(word)
		ok = c.clause("do") && c.clause("done")
	case "for":
		ok = c.loop()
	case "case":
		ok = c.choice()
	case "time": // a word of the language in some shells, a program in others
		if c.at += len(word); !c.gap(false) {
			return false
		}
		c.commands = append(c.commands, timed)
		next := c.bare()
		return next != "" && next[0] != '-' && !reserved(next) && !assigns(next) && c.simple()
	default:
		return c.simple()
	}
	for ok {
		if !c.gap(false) {
			return false
		}
		if !c.redirects() {
			return true
		}
		ok = c.redirect()
	}
	return false
}

// clause reads commands up to one word.
func (c *core) clause(end string) bool {
	_, ok := c.list(end)
	return ok
}

func (c *core) conditional() bool {
	c.at += len("if")
	for {
		if !c.clause("then") {
			return false
		}
		end, ok := c.list("elif", "else", "fi")
		switch {
		case !ok:
			return false
		case end == "fi":
			return true
		case end == "else":
			return c.clause("fi")
		}
	}
}

// loop reads `for name in words; do … done`.
func (c *core) loop() bool {
	c.at += len("for")
	if !c.gap(false) || !loopVariable(c.bare()) {
		return false
	}
	c.at += len(c.bare())
	if !c.gap(false) || c.bare() != "in" {
		return false
	}
	c.at += len("in")
	for n := 0; ; n++ {
		if !c.gap(false) {
			return false
		}
		if b := c.peek(); b == ';' || b == '\n' {
			if c.at++; n == 0 || b == '\n' && !c.document() || !c.gap(true) || c.bare() != "do" {
				return false
			}
			c.at += len("do")
			return c.clause("done")
		}
		if _, ok := c.word(); !ok {
			return false
		}
	}
}

// choice reads `case word in pattern) … ;; esac`. In a substitution, bash 3.2
// takes the parenthesis for its end.
func (c *core) choice() bool {
	c.at += len("case")
	if c.nested > 0 || !c.gap(false) {
		return false
	}
	if _, ok := c.word(); !ok || !c.gap(false) || c.bare() != "in" {
		return false
	}
	c.at += len("in")
	for {
		if !c.gap(true) {
			return false
		}
		if c.bare() == "esac" {
			c.at += len("esac")
			return true
		}
		pattern := c.bare()
		if c.at += len(pattern); pattern == "" || strings.ContainsFunc(pattern, notPlain) || !c.takes(")") {
			return false
		}
		end, ok := c.list(";;", "esac")
		if !ok || end == "esac" {
			return ok
		}
	}
}

// notPlain says whether a character is more than a letter, a digit or a sign
// that means itself in a pattern of case.
func notPlain(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("_.-*/", r)
}

// loopVariable says whether no shell gives the name a meaning: for path in /tmp
// changes what zsh runs.
func loopVariable(name string) bool {
	if len(name) == 1 {
		return name[0] >= 'a' && name[0] <= 'z'
	}
	return slices.Contains([]string{"file", "dir", "name", "item", "line", "pkg", "test", "branch", "commit"}, name)
}
