package policy

import "fmt"

// header takes a [table] or [[list of tables]].
func (p *parser) header(e expression) {
	p.scope = refusedScope
	first := e.key[0]
	name := string(first.name)
	alone := len(e.key) == 1
	switch {
	case name == "rule" && alone:
		if e.form == tableForm {
			p.fail(e.start, e.end, "[rule] must be [[rule]]", "a policy is a list of rules")
		}
		p.openRule(e)
	case name == "rule":
		p.ruleTable(e)
	case name == "server" || name == "extends":
		p.later(first)
	case alone && nearest(name, []string{"rule"}) != "":
		p.fail(e.start, e.end, fmt.Sprintf("unknown table %q", name), "did you mean [[rule]]?")
		p.openRule(e)
	default:
		p.fail(e.start, e.end, fmt.Sprintf("unknown table %q", name), "a policy holds only [[rule]] tables")
	}
}

// ruleTable takes a table inside the current rule: [rule.args] and below.
func (p *parser) ruleTable(e expression) {
	second := e.key[1]
	name := string(second.name)
	k := findKey(second.name)
	switch {
	case !p.open:
		p.fail(e.start, e.end, "table of a rule above every [[rule]]", "put [[rule]] on a line before it")
	case k == keyCount:
		p.unknownKey(second)
	case k != argsKey:
		p.fail(second.start, second.end, name+" must be a string, not a table", "")
		p.give(k, second)
	case e.form == tableArrayForm:
		p.fail(e.start, e.end, "[[rule.args]] must be [rule.args]", "")
		p.give(k, second)
		p.arguments++
	default:
		p.give(k, second)
		p.scope, p.prefix, p.tables = argsScope, argPath(nil, e.key[2:]), true
		p.rule().end = e.end
	}
}

// filePair reports a pair that stands in no table.
func (p *parser) filePair(e expression) {
	first := e.key[0]
	name := string(first.name)
	switch {
	case name == "server" || name == "extends":
		p.later(first)
	case name == "rule":
		p.fail(first.start, first.end, "rules must be written as [[rule]] tables", "put [[rule]] above the keys of each")
	case findKey(first.name) < keyCount || isLater(name):
		p.fail(first.start, first.end, fmt.Sprintf("%q stands above every [[rule]]", name), "put [[rule]] on a line before it")
	default:
		p.fail(first.start, first.end, fmt.Sprintf("unknown key %q", name), "a policy holds only [[rule]] tables")
	}
}

// openRule starts a rule at its header.
func (p *parser) openRule(e expression) {
	p.closeRule()
	p.open, p.acts, p.broken, p.scope = true, false, false, ruleScope
	p.where, p.arguments = [keyCount]int{}, 0
	p.rules = append(p.rules, ruleSource{start: e.start, end: e.end})
	r := p.rule()
	r.Pos, r.Index = p.doc.position(e.start), len(p.rules)-1
}

// closeRule checks what only a whole rule can tell.
func (p *parser) closeRule() {
	if !p.open {
		return
	}
	p.open = false
	r := p.rule()
	if !p.broken && p.where[actionKey] == 0 {
		p.failRule("rule without an action", `add action = "allow", "deny" or "prompt"`)
	}
	if !p.broken && r.subject == NoSubject {
		p.failRule("rule without a subject", "add one of "+listWords(subjectKeys))
	}
	p.checkAsk(r)
	at := p.where[argsKey] - 1
	if at < 0 {
		return
	}
	if !p.broken && p.arguments == 0 {
		p.fail(at, at+len("args"), "args names no argument", `write args.path = "/some/**"`)
	}
	switch r.subject {
	case NoSubject, ToolSubject, PromptSubject:
	default:
		p.fail(at, at+len("args"), fmt.Sprintf("args beside %s", subjectKey(r.subject)), "only tools and prompts have arguments")
	}
	p.checkArguments(r.args)
}

// failRule reports a finding at the current rule's header.
func (p *parser) failRule(msg, hint string) {
	start := p.rule().start
	p.fail(start, start+len("[[rule]]"), msg, hint)
}
