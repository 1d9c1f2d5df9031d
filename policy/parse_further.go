package policy

import (
	"fmt"

	"github.com/clawai/clawai/internal/policytext"
)

// argsOnly takes true, or a list of names.
func (p *parser) argsOnly(k ruleKey, e expression) {
	r, name, want := p.rule(), label{key: k}, "true or a list of names"
	r.further.Only = true
	switch v := e.value; {
	case v.isBool() && v.text() == "true":
	case v.isList():
		elements := 0
		v.elements(func(element tomlValue) {
			elements++
			if !element.isString() {
				p.wrongType(name, want, e.key, element, `write args_only = ["limit", "offset"]`)
				return
			}
			r.further.Names = append(r.further.Names, element.text())
		})
		if elements == 0 {
			p.fail(e.key[0].start, e.key[0].end, "args_only is an empty list", "for no further arguments at all write args_only = true")
		}
	default:
		p.wrongType(name, want, e.key, v, `write args_only = true, or args_only = ["limit", "offset"]`)
	}
}

func (p *parser) argsOpen(k ruleKey, e expression) {
	p.rule().further.Open = true
	if !e.value.isBool() || e.value.text() != "true" {
		p.wrongType(label{key: k}, "true", e.key, e.value, "leave it out where further arguments are not accepted")
	}
}

// checkFurther reports what a rule says of further arguments and cannot mean.
func checkFurther(k ruleKey) func(p *parser, r *ruleSource) {
	return func(p *parser, r *ruleSource) {
		at, name := p.given[k]-1, ruleKeys[k]
		if at < 0 {
			return
		}
		fail := func(msg, hint string) { p.fail(at, at+len(name), msg, hint) }
		switch {
		case r.subject != NoSubject && r.subject != ToolSubject && r.subject != PromptSubject:
			fail(fmt.Sprintf("%s beside %s", name, subjectKey(r.subject)), "only tools and prompts have arguments")
		case k == argsOnlyKey || p.broken:
		case p.given[argsOnlyKey] > 0:
			fail("args_open beside args_only", "a rule accepts further arguments, or it does not")
		case p.acts && r.Action != Allow:
			fail(fmt.Sprintf("args_open beside action %q", r.Action), "only an allow is shut by further arguments")
		case p.arguments+p.typed == 0:
			fail("args_open names no argument", "an allow without args and where is open to all arguments")
		}
	}
}

// only writes args_only.
func (f *Further) only() string {
	if f.Names == nil {
		return "true"
	}
	return policytext.List(policytext.QuoteAll(f.Names))
}
