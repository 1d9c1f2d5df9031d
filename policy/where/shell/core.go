package shell

import (
	"slices"
	"strings"
)

// core reads a text by its own grammar. The grammar contains only what all shells of docs/where.md
// read in the same way: simple commands in pipes, lists, groups, if, while, for and case, with
// words of plain quotes, simple variables and substitutions. core does not rely on a parser:
// test/attack/shell runs the texts that core accepts in those shells. core refuses everything else.
type core struct {
	text string
	at   int
	*program
	nested int    // number of open substitutions
	depth  int    // number of open lists
	words  int    // number of words read so far
	mark   string // the mark that ends the here-document after the next line break; "" if there is none
	raw    bool   // the mark is quoted, so shells expand nothing in the document
}

// Limits on the nesting of lists and on the number of words.
const (
	maxLists = 50
	maxWords = 8_000
)

// readCore returns the program of a text, and whether all of the text is in the core.
// p is nil for a text with too many words.
func readCore(text string) (p *program, known bool) {
	c := core{text: text, program: &program{}}
	_, known = c.readList("")
	if c.words > maxWords {
		return nil, false
	}
	c.sortByPlace()
	return c.program, known && c.mark == ""
}

// peekByte returns the next character, or 0 at the end.
func (c *core) peekByte() byte { return c.peekAt(0) }

func (c *core) peekAt(n int) byte {
	if c.at+n < len(c.text) {
		return c.text[c.at+n]
	}
	return 0
}

func (c *core) takeText(s string) bool {
	if !strings.HasPrefix(c.text[c.at:], s) {
		return false
	}
	c.at += len(s)
	return true
}

// isDelimiter reports whether a character ends a word. The end of the text, which
// peekByte returns as 0, ends a word too.
func isDelimiter(b byte) bool { return strings.IndexByte("\x00 \t\n;&|<>()", b) >= 0 }

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// bareText returns the text up to the next delimiter, as written.
func (c *core) bareText() string {
	end := c.at
	for end < len(c.text) && !isDelimiter(c.text[end]) {
		end++
	}
	return c.text[c.at:end]
}

// skipGap skips blanks, a comment, an escaped line break after a blank, and, if lines
// is true, line breaks. It returns false for a text that is not in the core.
func (c *core) skipGap(lines bool) bool {
	for {
		blank := c.at > 0 && isBlank(c.text[c.at-1])
		switch b := c.peekByte(); {
		case isBlank(b):
			c.at++
		case b == '\\' && c.peekAt(1) == '\n' && blank && c.mark == "":
			c.at += 2
		case b == '\n' && lines:
			if c.at++; !c.skipDocument() {
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

// readList reads commands up to one of the given end words, and also reads this word. The end word
// "" means the end of the text. A separator must follow each command, except the last command of
// the text and a command in front of a closing parenthesis or of ;; in a case.
func (c *core) readList(ends ...string) (end string, ok bool) {
	if c.depth++; c.depth > maxLists {
		return "", false
	}
	defer func() { c.depth-- }()
	for some := false; ; some = true {
		if !c.skipGap(true) {
			return "", false
		}
		for _, end := range ends {
			switch {
			case end == "" && c.at == len(c.text):
				return end, true
			case end != "" && strings.HasPrefix(c.text[c.at:], end) && (isDelimiter(end[0]) || c.bareText() == end):
				c.at += len(end)
				return end, some
			}
		}
		if !c.andOr() || !c.skipGap(false) || !c.readSeparator(ends) {
			return "", false
		}
	}
}

// readSeparator reads the separator after a command. It does not read a word that ends the list.
func (c *core) readSeparator(ends []string) bool {
	switch b := c.peekByte(); {
	case b == 0 || b == '\n':
		return true
	case b == ')':
		return slices.Contains(ends, ")")
	case b == ';' && c.peekAt(1) == ';':
		return slices.Contains(ends, ";;")
	case b == ';':
		c.at++
		return strings.IndexByte("&|", c.peekByte()) < 0 || c.peekByte() == 0
	case b == '&': // in fish, a & before a letter is part of the word
		c.at++
		return strings.IndexByte("\x00 \t\n)", c.peekByte()) >= 0
	}
	return false
}

func (c *core) andOr() bool {
	for {
		if !c.readPipeline() || !c.skipGap(false) {
			return false
		}
		if !c.takeText("&&") && !c.takeText("||") {
			return true
		}
		if !c.skipGap(true) {
			return false
		}
	}
}

func (c *core) readPipeline() bool {
	if c.bareText() == "!" {
		if c.at++; !isBlank(c.peekByte()) || !c.skipGap(false) {
			return false
		}
	}
	for {
		if !c.readCommand() || !c.skipGap(false) {
			return false
		}
		if c.peekByte() != '|' || c.peekAt(1) == '|' {
			return true
		}
		c.at++
		if c.peekByte() == '&' || !c.skipGap(true) {
			return false
		}
	}
}

func (c *core) readCommand() bool {
	word := c.bareText()
	var ok bool
	switch word {
	case "":
		if c.peekByte() != '(' || c.peekAt(1) == '(' {
			return false
		}
		c.at++
		_, ok = c.readList(")")
	case "{":
		c.at++
		_, ok = c.readList("}")
	case "if":
		ok = c.readIf()
	case "while", "until":
		c.at += len(word)
		ok = c.readClause("do") && c.readClause("done")
	case "for":
		ok = c.readFor()
	case "case":
		ok = c.readCase()
	case "time": // time is a reserved word in some shells and a program in others
		if c.at += len(word); !c.skipGap(false) {
			return false
		}
		c.commands = append(c.commands, timed)
		next := c.bareText()
		return next != "" && next[0] != '-' && !isReserved(next) && !isAssignment(next) && c.readSimple()
	default:
		return c.readSimple()
	}
	for ok {
		if !c.skipGap(false) {
			return false
		}
		if !c.isRedirect() {
			return true
		}
		ok = c.readRedirect()
	}
	return false
}

// readClause reads commands up to the given end word, and also reads this word.
func (c *core) readClause(end string) bool {
	_, ok := c.readList(end)
	return ok
}

func (c *core) readIf() bool {
	c.at += len("if")
	for {
		if !c.readClause("then") {
			return false
		}
		end, ok := c.readList("elif", "else", "fi")
		switch {
		case !ok:
			return false
		case end == "fi":
			return true
		case end == "else":
			return c.readClause("fi")
		}
	}
}

// readFor reads `for name in words; do … done`.
func (c *core) readFor() bool {
	c.at += len("for")
	if !c.skipGap(false) || !loopVariable(c.bareText()) {
		return false
	}
	c.at += len(c.bareText())
	if !c.skipGap(false) || c.bareText() != "in" {
		return false
	}
	c.at += len("in")
	for n := 0; ; n++ {
		if !c.skipGap(false) {
			return false
		}
		if b := c.peekByte(); b == ';' || b == '\n' {
			if c.at++; n == 0 || b == '\n' && !c.skipDocument() || !c.skipGap(true) || c.bareText() != "do" {
				return false
			}
			c.at += len("do")
			return c.readClause("done")
		}
		if _, ok := c.readCoreWord(); !ok {
			return false
		}
	}
}

// readCase reads `case word in pattern) … ;; esac`. readCase refuses a case in a substitution,
// because bash 3.2 takes the parenthesis for the end of the substitution.
func (c *core) readCase() bool {
	c.at += len("case")
	if c.nested > 0 || !c.skipGap(false) {
		return false
	}
	if _, ok := c.readCoreWord(); !ok || !c.skipGap(false) || c.bareText() != "in" {
		return false
	}
	c.at += len("in")
	for {
		if !c.skipGap(true) {
			return false
		}
		if c.bareText() == "esac" {
			c.at += len("esac")
			return true
		}
		pattern := c.bareText()
		if c.at += len(pattern); pattern == "" || strings.ContainsFunc(pattern, notPlain) || !c.takeText(")") {
			return false
		}
		end, ok := c.readList(";;", "esac")
		if !ok || end == "esac" {
			return ok
		}
	}
}

// notPlain reports whether a character may have a special meaning in a pattern of case. Letters,
// digits and a few signs have none.
func notPlain(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("_.-*/", r)
}

// loopVariable reports whether a name has no special meaning in any shell. Other names are
// dangerous: `for path in /tmp` changes where zsh finds programs.
func loopVariable(name string) bool {
	if len(name) == 1 {
		return name[0] >= 'a' && name[0] <= 'z'
	}
	return slices.Contains([]string{"file", "dir", "name", "item", "line", "pkg", "test", "branch", "commit"}, name)
}
