package shell

import (
	"slices"
	"strings"
)

// readCoreWord reads one word.
func (c *core) readCoreWord() (word, bool) {
	if c.words++; c.words > maxWords {
		return word{}, false
	}
	if text := c.bareText(); isPlain(text) && strings.IndexByte("<>(", c.peekAt(len(text))) < 0 {
		c.at += len(text)
		return word{text: text, known: true}, true
	}
	r := reading{word: word{known: true}}
	start := c.at
	for !isDelimiter(c.peekByte()) {
		b := c.peekByte()
		switch {
		case b == '\'':
			if !c.readSingleQuoted(&r) {
				return word{}, false
			}
			continue
		case b == '"':
			if !c.readDoubleQuoted(&r) {
				return word{}, false
			}
			continue
		case b == '$':
			if !c.readDollar(&r, false) {
				return word{}, false
			}
			continue
		case b == '`':
			if !c.readBackquoted(&r, false) {
				return word{}, false
			}
			continue
		case b == '\\': // fish decodes \n and similar escapes
			if next := c.peekAt(1); next < ' ' || next > '~' || strings.IndexByte("abcefnrtuUvxX01234567", next) >= 0 {
				return word{}, false
			}
			r.putText(c.text[c.at+1:c.at+2], true)
			c.at += 2
			continue
		case b == '#' && c.at == start, b == '!' && !c.literalBang():
			return word{}, false
		}
		r.putText(c.text[c.at:c.at+1], false)
		c.at++
	}
	if c.peekByte() == '(' || c.at == start {
		return word{}, false
	}
	// This check is for single braces and for digits. In zsh, single braces group commands
	// everywhere. Before a redirection, some shells read {name}, or a number of several digits, as
	// a descriptor.
	raw := c.text[start:c.at]
	descriptor := strings.HasSuffix(raw, "}") || strings.Trim(raw, "0123456789") == ""
	if raw == "{" || raw == "}" || descriptor && (c.peekByte() == '<' || c.peekByte() == '>') {
		return word{}, false
	}
	return r.finishWord(), true
}

// isPlain reports whether a word has no character that is special to a shell.
func isPlain(s string) bool {
	for _, b := range []byte(s) {
		if (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') && (b < '-' || b > '9') && b != '_' {
			return false
		}
	}
	return s != ""
}

// literalBang reports whether the "!" at the cursor is plain text. Otherwise some shells replace it
// by an earlier command.
func (c *core) literalBang() bool { return strings.IndexByte("\x00 \t\n=\"", c.peekAt(1)) >= 0 }

// readSingleQuoted reads a text in single quotes. It refuses \' and \\, because fish decodes them
// there.
func (c *core) readSingleQuoted(r *reading) bool {
	text, _, closed := strings.Cut(c.text[c.at+1:], "'")
	if !closed || strings.HasSuffix(text, `\`) || strings.Contains(text, `\\`) || c.mark != "" && strings.Contains(text, "\n") {
		return false
	}
	r.putText(text, true)
	c.at += len(text) + 2
	return true
}

// readDoubleQuoted reads a text in double quotes.
func (c *core) readDoubleQuoted(r *reading) bool {
	for c.at++; c.at < len(c.text); {
		b := c.peekByte()
		switch {
		case b == '"':
			c.at++
			return true
		case b == '$':
			if !c.readDollar(r, true) {
				return false
			}
			continue
		case b == '`':
			if !c.readBackquoted(r, true) {
				return false
			}
			continue
		case b == '\\' && c.peekAt(1) == '\n', b == '\n' && c.mark != "", b == '!' && !c.literalBang():
			return false
		case b == '\\' && strings.IndexByte("$`\"\\", c.peekAt(1)) >= 0:
			c.at++
		case b == '\\' && c.peekAt(1) == '!':
			r.putText(`\`, true)
			c.at++
		}
		r.putText(c.text[c.at:c.at+1], true)
		c.at++
	}
	return false
}

// readDollar reads a variable or a substitution. A bracket after a variable is an
// index in zsh and fish.
func (c *core) readDollar(r *reading, quoted bool) bool {
	c.at++
	rest := c.text[c.at:]
	n := identifierLength(rest)
	several := !quoted
	variable := rest[:n]
	switch b := c.peekByte(); {
	case n > 0:
	case b == '{':
		if n = expansionLength(rest); n == identifierLength(rest[1:])+2 {
			variable = rest[1 : n-1]
		}
	case b >= '0' && b <= '9', b == '?', b == '*', b == '@', strings.IndexByte("$#!", b) >= 0 && c.endsWordAt(1):
		n, several = 1, several || b == '@'
	case b == '(':
		return c.readSubstitution(r, quoted)
	case quoted && strings.IndexByte("\" |/\\)", b) >= 0 || !quoted && strings.IndexByte("\x00 \t\n|;)", b) >= 0:
		r.putText("$", quoted)
		return true
	}
	c.at += n
	r.markUnknown(several)
	r.split = r.split || !quoted
	r.others = r.others || !quoted || !isEnvironment(variable)
	return n > 0 && c.peekByte() != '['
}

// endsWordAt reports whether the character at the offset n from the cursor ends a word, a name or
// quotes.
func (c *core) endsWordAt(n int) bool {
	return isDelimiter(c.peekAt(n)) || strings.IndexByte(`"/`, c.peekAt(n)) >= 0
}

// expansionLength returns the length of the `{name}` at the beginning of a text. The braces may
// also hold an operator that gives a plain text instead of the value, or cuts a plain text from it.
// For any other expansion expansionLength returns 0.
func expansionLength(s string) int {
	n := 1 + identifierLength(s[1:])
	if n == 1 && len(s) > 1 && s[1] >= '0' && s[1] <= '9' {
		n = 2
	}
	end := strings.IndexByte(s, '}')
	if n == 1 || end < n {
		return 0
	}
	if operator := s[n:end]; operator != "" {
		plain := strings.TrimLeft(operator, ":-+")
		if operator[0] == '%' || operator[0] == '#' {
			plain = strings.TrimLeft(operator[1:], operator[:1])
		}
		taken := operator[:len(operator)-len(plain)]
		if !slices.Contains([]string{"-", ":-", "+", ":+", "%", "%%", "#", "##"}, taken) || strings.ContainsFunc(plain, notPlain) {
			return 0
		}
	}
	return end + 1
}

// readSubstitution reads `$(commands)`.
func (c *core) readSubstitution(r *reading, quoted bool) bool {
	if c.peekAt(1) == '(' {
		return false
	}
	c.at++
	r.markUnknown(!quoted)
	r.split, r.others = r.split || !quoted, true
	c.nested++
	defer func() { c.nested-- }()
	return c.readClause(")")
}

// readBackquoted reads a substitution in backquotes. The substitution must not contain a backslash
// or other backquotes; inside double quotes it must not contain quotes. fish reads the substitution
// as text, so it must contain nothing that ends a command.
func (c *core) readBackquoted(r *reading, quoted bool) bool {
	text, _, closed := strings.Cut(c.text[c.at+1:], "`")
	if !closed || strings.TrimSpace(text) == "" || strings.ContainsAny(text, "\\#\n;&()<>!") || quoted && strings.ContainsAny(text, "\"'") {
		return false
	}
	r.markUnknown(!quoted)
	r.split, r.others = r.split || !quoted, true
	whole := c.text
	c.at++
	c.text = whole[:c.at+len(text)]
	c.nested++
	_, ok := c.readList("")
	c.nested--
	c.text = whole
	c.at++
	return ok
}
