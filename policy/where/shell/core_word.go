package shell

import (
	"slices"
	"strings"
)

// word reads one word.
func (c *core) word() (word, bool) {
	if c.words++; c.words > maxWords {
		return word{}, false
	}
	if text := c.bare(); isPlain(text) && strings.IndexByte("<>(", c.after(len(text))) < 0 {
		c.at += len(text)
		return word{text: text, known: true}, true
	}
	r := reading{word: word{known: true}}
	start := c.at
	for !isDelimiter(c.peek()) {
		b := c.peek()
		switch {
		case b == '\'':
			if !c.single(&r) {
				return word{}, false
			}
			continue
		case b == '"':
			if !c.double(&r) {
				return word{}, false
			}
			continue
		case b == '$':
			if !c.dollar(&r, false) {
				return word{}, false
			}
			continue
		case b == '`':
			if !c.backquoted(&r, false) {
				return word{}, false
			}
			continue
		case b == '\\': // fish knows \n and its like
			if next := c.after(1); next < ' ' || next > '~' || strings.IndexByte("abcefnrtuUvxX01234567", next) >= 0 {
				return word{}, false
			}
			r.put(c.text[c.at+1:c.at+2], true)
			c.at += 2
			continue
		case b == '#' && c.at == start, b == '!' && !c.literalBang():
			return word{}, false
		}
		r.put(c.text[c.at:c.at+1], false)
		c.at++
	}
	if c.peek() == '(' || c.at == start {
		return word{}, false
	}
	// Braces alone group commands, in zsh wherever they stand. Before a redirection,
	// {name} and a number of several digits are a descriptor to some.
	raw := c.text[start:c.at]
	descriptor := strings.HasSuffix(raw, "}") || strings.Trim(raw, "0123456789") == ""
	if raw == "{" || raw == "}" || descriptor && (c.peek() == '<' || c.peek() == '>') {
		return word{}, false
	}
	return r.finish(), true
}

// isPlain says whether a word is of characters on which no shell acts.
func isPlain(s string) bool {
	for _, b := range []byte(s) {
		if (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') && (b < '-' || b > '9') && b != '_' {
			return false
		}
	}
	return s != ""
}

// literalBang says whether the "!" that comes next fetches no earlier command.
func (c *core) literalBang() bool { return strings.IndexByte("\x00 \t\n=\"", c.after(1)) >= 0 }

// single reads a text in single quotes. fish knows \' and \\ there.
func (c *core) single(r *reading) bool {
	text, _, closed := strings.Cut(c.text[c.at+1:], "'")
	if !closed || strings.HasSuffix(text, `\`) || strings.Contains(text, `\\`) || c.mark != "" && strings.Contains(text, "\n") {
		return false
	}
	r.put(text, true)
	c.at += len(text) + 2
	return true
}

// double reads a text in double quotes.
func (c *core) double(r *reading) bool {
	for c.at++; c.at < len(c.text); {
		b := c.peek()
		switch {
		case b == '"':
			c.at++
			return true
		case b == '$':
			if !c.dollar(r, true) {
				return false
			}
			continue
		case b == '`':
			if !c.backquoted(r, true) {
				return false
			}
			continue
		case b == '\\' && c.after(1) == '\n', b == '\n' && c.mark != "", b == '!' && !c.literalBang():
			return false
		case b == '\\' && strings.IndexByte("$`\"\\", c.after(1)) >= 0:
			c.at++
		case b == '\\' && c.after(1) == '!':
			r.put(`\`, true)
			c.at++
		}
		r.put(c.text[c.at:c.at+1], true)
		c.at++
	}
	return false
}

// dollar reads a variable or a substitution. A bracket behind a variable is an
// index in zsh and fish.
func (c *core) dollar(r *reading, quoted bool) bool {
	c.at++
	rest := c.text[c.at:]
	n := identifier(rest)
	several := !quoted
	variable := rest[:n]
	switch b := c.peek(); {
	case n > 0:
	case b == '{':
		if n = expansion(rest); n == identifier(rest[1:])+2 {
			variable = rest[1 : n-1]
		}
	case b >= '0' && b <= '9', b == '?', b == '*', b == '@', strings.IndexByte("$#!", b) >= 0 && c.alone(1):
		n, several = 1, several || b == '@'
	case b == '(':
		return c.substitution(r, quoted)
	case quoted && strings.IndexByte("\" |/\\)", b) >= 0 || !quoted && strings.IndexByte("\x00 \t\n|;)", b) >= 0:
		r.put("$", quoted)
		return true
	}
	c.at += n
	r.unknown(several)
	r.split = r.split || !quoted
	r.others = r.others || !quoted || !environment(variable)
	return n > 0 && c.peek() != '['
}

// alone says whether what comes n characters on ends a word, a name or quotes.
func (c *core) alone(n int) bool {
	return isDelimiter(c.after(n)) || strings.IndexByte(`"/`, c.after(n)) >= 0
}

// expansion is the length of `{name}` at the beginning of a text, in which a
// plain text may stand for the variable or be cut from it; 0 when it is more.
func expansion(s string) int {
	n := 1 + identifier(s[1:])
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

// substitution reads `$(commands)`.
func (c *core) substitution(r *reading, quoted bool) bool {
	if c.after(1) == '(' {
		return false
	}
	c.at++
	r.unknown(!quoted)
	r.split, r.others = r.split || !quoted, true
	c.nested++
	defer func() { c.nested-- }()
	return c.clause(")")
}

// backquoted reads a substitution in backquotes in which no backslash and no
// more backquotes stand, and in double quotes no quotes. To fish it is text:
// there must be nothing in it that ends a command.
func (c *core) backquoted(r *reading, quoted bool) bool {
	text, _, closed := strings.Cut(c.text[c.at+1:], "`")
	if !closed || strings.TrimSpace(text) == "" || strings.ContainsAny(text, "\\#\n;&()<>!") || quoted && strings.ContainsAny(text, "\"'") {
		return false
	}
	r.unknown(!quoted)
	r.split, r.others = r.split || !quoted, true
	whole := c.text
	c.at++
	c.text = whole[:c.at+len(text)]
	c.nested++
	_, ok := c.list("")
	c.nested--
	c.text = whole
	c.at++
	return ok
}
