package upstream

import (
	"errors"
	"fmt"
	"strings"
)

// ExpandVariables replaces $NAME and ${NAME} by the values of variables, and $$ by $. It does not
// expand variables inside a value. If a variable is not set, the error contains its name. The error
// never contains a value.
func ExpandVariables(text string, lookup func(string) (string, bool)) (string, error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		if rest, escaped := strings.CutPrefix(after, "$"); escaped {
			b.WriteByte('$')
			text = rest
			continue
		}
		name, rest, err := parseVariable(after)
		if err != nil {
			return "", err
		}
		value, set := lookup(name)
		if !set {
			return "", fmt.Errorf("the variable %s is not set", name)
		}
		b.WriteString(value)
		text = rest
	}
}

// parseVariable parses the name after a $.
func parseVariable(text string) (name, rest string, err error) {
	inner, braced := strings.CutPrefix(text, "{")
	end := 0
	for end < len(inner) && isNameByte(inner[end], end) {
		end++
	}
	name, rest = inner[:end], inner[end:]
	if braced {
		closed := false
		if rest, closed = strings.CutPrefix(rest, "}"); !closed {
			return "", "", fmt.Errorf("%q has no } behind its name; a dollar is written $$", "${"+name)
		}
	}
	if name == "" {
		return "", "", errors.New("no name follows a $; a dollar is written $$")
	}
	return name, rest, nil
}

func isNameByte(c byte, at int) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || at > 0 && c >= '0' && c <= '9'
}
