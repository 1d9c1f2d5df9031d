package policy

import (
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/policy/glob"
)

// rule is a compiled rule.
type rule struct {
	action     Action
	rank       rank
	name       *glob.Pattern // nil for a resource: its URI is a condition
	server     *glob.Pattern // nil when any will do
	when       *When         // nil at any time
	limited    bool
	conditions []condition
}

// compile prepares rules for deciding. It reports every glob that is none.
func compile(sources []ruleSource, o Options) (*Policy, Errors) {
	c := compiler{
		policy:   &Policy{sources: sources, rules: make([]rule, len(sources)), readers: make([]reader, resourceSlot+1), options: o},
		home:     knownHome(o.Home),
		options:  Options{Home: knownHome(o.Home), Disk: o.Disk},
		patterns: map[string]*pattern{},
	}
	c.policy.args[ToolSubject], c.policy.args[PromptSubject] = &argNames{}, &argNames{}
	for i := range sources {
		c.policy.rules[i] = c.rule(&sources[i])
	}
	if len(c.errs) > 0 {
		return nil, c.errs
	}
	for i := range c.policy.readers {
		c.policy.readers[i].home = c.home
	}
	for s := range c.policy.subjects {
		c.policy.subjects[s].build(c.policy, Subject(s))
	}
	return c.policy, nil
}

// knownHome is the home that ~ stands for, or "" when what was given is no
// absolute path that a glob can name.
func knownHome(home string) string {
	home = strings.TrimRight(strings.ReplaceAll(home, `\`, "/"), "/")
	if !(strings.HasPrefix(home, "/") || hasDrive(home)) || !utf8.ValidString(home) || strings.ContainsAny(home, "*?") {
		return ""
	}
	return home
}

// resourceSlot stands for the URI of a resource; arguments have the slots after
// it, and 0 is none.
const resourceSlot int32 = 1

type compiler struct {
	policy   *Policy
	home     string
	options  Options
	patterns map[string]*pattern // by text: rules repeat themselves
	errs     Errors
}

func (c *compiler) rule(src *ruleSource) rule {
	r := rule{action: src.Action, rank: src.rank(), when: src.when, limited: src.Rate.Limited()}
	c.policy.timed = c.policy.timed || r.when != nil
	if src.subject == ResourceSubject {
		r.conditions = append(r.conditions, c.condition(resourceSlot, []string{src.pattern}, src.Pos))
	} else {
		r.name = c.glob(src.pattern, src.Pos)
	}
	if src.server != nil {
		r.server = c.glob(*src.server, src.Pos)
	}
	for _, a := range src.args {
		r.conditions = append(r.conditions, c.condition(c.slot(src.subject, a.path), a.globs, a.pos))
	}
	for i := range src.where {
		w := &src.where[i]
		slot := c.slot(src.subject, w.path)
		rd := &c.policy.readers[slot]
		rd.paths, rd.typed = rd.paths || w.key.path, true
		c.policy.asksDisk = c.policy.asksDisk || w.key.path
		r.conditions = append(r.conditions, condition{slot: slot, typed: c.constraint(w)})
	}
	return r
}

// slot is the number of an argument.
func (c *compiler) slot(s Subject, path []string) int32 {
	n := c.policy.args[s].reach(path)
	if n.slot == 0 {
		n.slot = int32(len(c.policy.readers))
		c.policy.readers = append(c.policy.readers, reader{})
	}
	return n.slot
}

func (c *compiler) condition(slot int32, globs []string, pos Position) condition {
	cond := condition{slot: slot, patterns: make([]*pattern, 0, len(globs))}
	rd := &c.policy.readers[slot]
	for _, text := range globs {
		p := c.patterns[text]
		if p == nil {
			var err error
			if p, err = newPattern(text, c.home); err != nil {
				c.errs = append(c.errs, &Error{Pos: pos, Text: text, Msg: err.Error()})
				continue
			}
			c.patterns[text] = p
		}
		rd.effects |= p.effects
		rd.paths = rd.paths || p.pathLike
		cond.patterns = append(cond.patterns, p)
	}
	return cond
}

func (c *compiler) glob(text string, pos Position) *glob.Pattern {
	g, err := glob.Compile(text)
	if err != nil {
		c.errs = append(c.errs, &Error{Pos: pos, Text: text, Msg: err.Error()})
	}
	return g
}
