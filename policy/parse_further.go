package policy

import (
	"fmt"
	"slices"

	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/policytext"
)

// argsOnly reads the value of args_only: true, or a list of names.
func (p *parser) argsOnly(k ruleKey, e toml.Expression) {
	r, name, want := p.currentRule(), label{key: k}, "true or a list of names"
	r.further.Only = true
	switch v := e.Value; {
	case v.IsBool() && v.Text() == "true":
	case v.IsList():
		elements := 0
		v.EachElement(func(element toml.Value) {
			elements++
			if !element.IsString() {
				p.wrongType(name, want, e.Key, element, `write args_only = ["limit", "offset"]`)
				return
			}
			if element.Text() == everyName {
				p.fail(e.Key[0].Start, e.Key[0].End, fmt.Sprintf("args_only has %q, which is not a name of an argument", everyName), "list names, or leave args_only out")
			}
			r.further.Names = append(r.further.Names, element.Text())
		})
		if elements == 0 {
			p.fail(e.Key[0].Start, e.Key[0].End, "args_only is an empty list", "for no further arguments at all write args_only = true")
		}
	default:
		p.wrongType(name, want, e.Key, v, `write args_only = true, or args_only = ["limit", "offset"]`)
	}
}

func (p *parser) argsOpen(k ruleKey, e toml.Expression) {
	p.currentRule().further.Open = true
	if !e.Value.IsBool() || e.Value.Text() != "true" {
		p.wrongType(label{key: k}, "true", e.Key, e.Value, "leave it out where further arguments are not accepted")
	}
}

// checkFurther returns a check that reports an args_only or args_open without effect in its rule.
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
		case slices.ContainsFunc(r.argumentPaths(), EveryArgument):
			fail(`args_open beside args."*"`, `args."*" is about every argument`)
		case p.arguments+p.typed+len(r.not.args) == 0:
			fail("args_open names no argument", "an allow without args and where is open to all arguments")
		}
	}
}

// formatArgsOnly returns the value of args_only as TOML.
func (f *Further) formatArgsOnly() string {
	if f.Names == nil {
		return "true"
	}
	return policytext.FormatList(policytext.QuoteAll(f.Names))
}
