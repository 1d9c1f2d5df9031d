package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxPinned is the longest value, in bytes, that is worth a line of a policy.
const maxPinned = 4096

// Narrow writes the rule that allows a call from now on, after a person said so
// to rule r, which asked. It names the subject, the server and every argument
// exactly as the call has them, which keeps every condition of r; what it does
// not name stays open, and its comment says so. The text is TOML for
// InsertAbove.
//
// The error says, for a person, why no such rule can be written: globs cannot
// name a star, a question mark, an empty text, a list, an object or null.
func (p *Policy) Narrow(r Rule, c *Call) (text string, err error) {
	if r.Index < 0 || r.Index >= len(p.sources) || p.sources[r.Index].Rule != r {
		return "", errors.New("the rule is not one of this policy")
	}
	asked := &p.sources[r.Index]
	if asked.Action != Prompt || asked.subject != c.Subject {
		return "", errors.New("the rule did not ask about this call")
	}
	rule, err := pin(asked, c)
	if err != nil {
		return "", err
	}
	text = narrowComment(rule.subject) + rule.toml()
	if err := p.try(text, r, c); err != nil {
		return "", err
	}
	return text, nil
}

// try says why the policy would not allow a call with the text above rule r.
func (p *Policy) try(text string, r Rule, c *Call) error {
	var q *Policy
	written, errs := parseSource("always", []byte(text))
	if len(errs) == 0 {
		rules := slices.Insert(slices.Clone(p.sources), r.Index, written...)
		q, errs = compile(rules, Options{Home: p.readers[resourceSlot].home})
	}
	if len(errs) > 0 {
		return fmt.Errorf("the rule cannot be written: %w", errs)
	}
	d := q.Decide(c)
	switch {
	case d.Action == Allow:
		return nil
	case d.Rule != nil && d.Rule.Pos != r.Pos:
		return fmt.Errorf("the rule on line %d would still say %s", d.Rule.Pos.Line, d.Action)
	default:
		return fmt.Errorf("a server may read the call in another way, which no exact rule allows: %s", cmp.Or(d.Reason, strconv.Quote(d.Reading)))
	}
}

func narrowComment(s Subject) string {
	if s == ToolSubject || s == PromptSubject {
		return "# Written after the answer \"always\". Arguments it does not name stay open.\n"
	}
	return "# Written after the answer \"always\".\n"
}

// pin makes the rule that names a call exactly.
func pin(asked *ruleSource, c *Call) (*ruleSource, error) {
	if len(c.Names) != 1 {
		return nil, fmt.Errorf("the call has %d texts, and a rule names one", len(c.Names))
	}
	r := &ruleSource{subject: c.Subject, pattern: c.Names[0]}
	r.Action = Allow
	if err := pinnable("the "+subjectKey(c.Subject), r.pattern); err != nil {
		return nil, err
	}
	switch {
	case c.Server != "":
		if err := pinnable("the server's name", c.Server); err != nil {
			return nil, err
		}
		r.server = &c.Server
	case asked.server != nil:
		return nil, errors.New("the rule that asked is about a server, and this server's name is not known")
	}
	if asked.Description != "" {
		r.Description = "Always: " + asked.Description
	}
	var err error
	if c.Subject == ToolSubject || c.Subject == PromptSubject {
		r.args, err = pinArguments(c.Args)
	}
	return r, err
}

// pinArguments names every argument of a call.
func pinArguments(args []byte) (pinned []argSource, err error) {
	sc := scanner{src: string(args)}
	sc.blanks()
	if len(args) == 0 {
		return nil, nil
	}
	whole := sc.members(func(name string) bool {
		var globs []string
		globs, err = sc.pinned(name)
		pinned = append(pinned, argSource{path: []string{name}, globs: globs})
		return err == nil
	})
	if err == nil && !whole {
		err = errors.New("the arguments cannot be read")
	}
	return pinned, err
}

// pinned reads a value as the globs that match it alone: its text and, of a
// number, its plain form as well.
func (sc *scanner) pinned(name string) ([]string, error) {
	what := fmt.Sprintf("argument %q", name)
	start := sc.at
	switch sc.peek() {
	case '[':
		return nil, fmt.Errorf("%s is a list, and no pattern names a whole list", what)
	case '{':
		return nil, fmt.Errorf("%s is an object, and no pattern names a whole object", what)
	case 'n':
		return nil, fmt.Errorf("%s is null, which no pattern matches", what)
	case '"':
		text, _ := sc.str()
		return []string{text}, pinnable(what, text)
	case 't', 'f':
		sc.skip()
		return []string{sc.src[start:sc.at]}, nil
	}
	sc.skip()
	number := sc.src[start:sc.at]
	if plain := decimal(number); plain != number {
		return []string{number, plain}, nil
	}
	return []string{number}, nil
}

// pinnable says why no glob matches exactly this text, if none does.
func pinnable(what, text string) error {
	switch i := strings.IndexAny(text, "*?"); {
	case text == "":
		return fmt.Errorf("%s is empty, which no pattern matches", what)
	case len(text) > maxPinned:
		return fmt.Errorf("%s is %d bytes long, too long for a rule", what, len(text))
	case i >= 0:
		return fmt.Errorf("%s holds %q, which a pattern takes for any text", what, text[i:i+1])
	}
	return nil
}

// toml writes a rule as a person would.
func (r *ruleSource) toml() string {
	var b strings.Builder
	line := func(key, text string) { fmt.Fprintf(&b, "%s = %s\n", key, text) }
	b.WriteString("[[rule]]\n")
	line("action", tomlString(r.Action.String()))
	line(subjectKey(r.subject), tomlString(r.pattern))
	if r.server != nil {
		line("server", tomlString(*r.server))
	}
	for _, a := range r.args {
		globs := make([]string, len(a.globs))
		for i, g := range a.globs {
			globs[i] = tomlString(g)
		}
		text := globs[0]
		if len(globs) > 1 {
			text = "[" + strings.Join(globs, ", ") + "]"
		}
		line(argName(a.path), text)
	}
	if r.Description != "" {
		line("description", tomlString(r.Description))
	}
	return b.String()
}
