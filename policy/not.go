package policy

import (
	"fmt"
	"slices"

	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/policy/where"
)

// exceptions holds the exceptions of a rule. The rule does not match a call that meets one of its
// exceptions, even if the rule's conditions hold. If it is uncertain whether the call meets an
// exception, an allow does not match, and a deny or a prompt matches.
type exceptions struct {
	subject  ruleKey  // the subject key that the patterns belong to, such as tool
	patterns []string // globs on the same texts as the subject's globs
	written  []string // the patterns as in the file, with each ${NAME} of [folders]; nil if no pattern has such a name
	calls    []Stated
	args     []argSource
}

func (e *exceptions) hasExceptions() bool { return len(e.patterns)+len(e.calls)+len(e.args) > 0 }

// except is a callTest that gives the opposite result of the callTest in it.
type except struct{ callTest }

func (e except) matchCall(c *Call) where.Match { return where.Yes - e.callTest.matchCall(c) }

// oppositeAction returns an action under which an uncertain result has the opposite effect: Deny
// for Allow, and Allow for every other action.
func oppositeAction(a Action) Action {
	if a == Allow {
		return Deny
	}
	return Allow
}

// compileExceptions compiles the exceptions of a rule.
func (c *compiler) compileExceptions(r *rule, src *ruleSource) {
	add := func(slot int32, globs []string, pos Position) {
		cond := c.compileCondition(slot, globs, oppositeAction(src.Action), pos)
		cond.not = true
		r.conditions = append(r.conditions, cond)
	}
	if src.subject == ResourceSubject && src.not.patterns != nil {
		add(resourceSlot, src.not.patterns, src.Pos)
	} else {
		for _, text := range src.not.patterns {
			r.notNames = append(r.notNames, c.compileGlob(text, src.Pos))
		}
	}
	for _, a := range src.not.args {
		add(c.slotFor(r, src.subject, a.path), a.globs, a.pos)
	}
}

// readNot reads a pair whose key begins with "not".
func (p *parser) readNot(e toml.Expression) {
	p.markGiven(notKey, e.Key[0])
	if len(e.Key) > 1 || e.Value.IsTable() {
		p.readException(argPath(nil, e.Key[1:]), e.Key, e.Value)
		return
	}
	p.wrongType(label{key: notKey}, "a table", e.Key, e.Value, `write not.args.path = "**/.git/**"`)
}

// readException reads a pair below the key "not", or a table of pairs.
func (p *parser) readException(path []string, at []toml.KeyPart, v toml.Value) {
	start, end, name := at[0].Start, at[len(at)-1].End, label{notKey, path}
	if v.IsTable() {
		given := false
		p.eachPair(path, v, func(path []string, at []toml.KeyPart, v toml.Value) {
			given = true
			p.readException(path, at, v)
		})
		if !given {
			p.fail(start, end, name.String()+" is empty", `write not.args.path = "**/.git/**"`)
		}
		return
	}
	k, not := findKey(path[0]), &p.currentRule().not
	switch {
	case k == argsKey && len(path) == 1:
		p.wrongType(name, "a table", at, v, `write not.args.path = "**/.git/**"`)
	case k == argsKey && strayStar(path[1:]):
		p.fail(start, end, name.String()+` has a "*" beside other names`, strayHint)
	case len(path) > maxArgDepth:
		p.fail(start, end, fmt.Sprintf("not nests more than %d deep", maxArgDepth), "")
	case k == argsKey:
		if globs, written := p.expandGlobs(p.readGlobs(name, at, v), at, v); globs != nil {
			not.args = append(not.args, argSource{path: path[1:], globs: globs, written: written, pos: p.positionOf(start)})
		}
	case len(path) > 1 || k == noKey || !k.isSubject() && (keys[k].call == nil || !keys[k].call.Glob):
		known := exceptionNames()
		p.fail(start, end, fmt.Sprintf("unknown key %q", name), suggestWord(path[0], known, "not has "+listWords(known)))
	case k.isSubject() && not.patterns != nil, slices.ContainsFunc(not.calls, func(s Stated) bool { return s.Key == path[0] }):
		p.fail(start, end, name.String()+" is given twice", "a list of globs is an exception for each")
	default:
		globs, written := p.readNames(k, name, at, v)
		switch {
		case globs == nil:
		case k.isSubject():
			not.subject, not.patterns, not.written = k, globs, written
		default:
			s := keys[k].call.statedGlobs(globs, written)
			s.Key = path[0]
			not.calls = append(not.calls, s)
		}
	}
}

// exceptionNames returns the keys that are possible below the key "not".
func exceptionNames() (names []string) {
	for i := range keys {
		if k := ruleKey(i); k.isSubject() || k == argsKey || keys[i].call != nil && keys[i].call.Glob {
			names = append(names, keys[i].name)
		}
	}
	return names
}

// checkNot reports exceptions that belong to another subject than the rule's, and arguments that
// have two exceptions.
func (p *parser) checkNot(r *ruleSource) {
	at := p.given[notKey] - 1
	if at < 0 {
		return
	}
	fail := func(msg, hint string) { p.fail(at, at+len("not"), msg, hint) }
	switch {
	case p.broken || r.subject == NoSubject:
	case len(p.errs) == 0 && !r.not.hasExceptions():
		fail("not excepts nothing", `write not.args.path = "**/.git/**"`)
	case r.not.patterns != nil && Subject(r.not.subject) != r.subject:
		fail(fmt.Sprintf("not.%s beside %s", ruleKeys[r.not.subject], subjectKey(r.subject)), fmt.Sprintf("write not.%s", subjectKey(r.subject)))
	case r.not.args != nil && r.subject != ToolSubject && r.subject != PromptSubject:
		fail("not.args beside "+subjectKey(r.subject), "only tools and prompts have arguments")
	}
	for i, b := range r.not.args {
		for _, a := range r.not.args[:i] {
			if slices.Equal(a.path, b.path) {
				name := policytext.DottedKey("not", append([]string{"args"}, b.path...)...)
				p.errs = append(p.errs, &Error{Pos: b.pos, Text: name, Msg: name + " is given twice",
					Hint: fmt.Sprintf("the first is on line %d; a list of globs is an exception for each", a.pos.Line)})
			}
		}
	}
}

func (r *ruleSource) writeNot(line func(key, toml string)) {
	write := func(text string, path ...string) { line(policytext.DottedKey("not", path...), text) }
	if r.not.patterns != nil {
		write(globsTOML(r.not.patterns, r.not.written), ruleKeys[r.not.subject])
	}
	for _, s := range r.not.calls {
		write(s.Text, s.Key)
	}
	for _, a := range r.not.args {
		write(globsTOML(a.globs, a.written), append([]string{"args"}, a.path...)...)
	}
}
