package policy

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/reading"
	"github.com/clawai/clawai/policy/where/scalar"
	"github.com/clawai/clawai/policy/where/shell"
)

// rule is a compiled rule.
type rule struct {
	action Action
	rank   rank
	// nil for a rule without a subject. A resource rule also has nil, because its URI globs are a
	// condition
	names      anyOf
	notNames   anyOf      // exceptions: none of these globs may match
	calls      []callTest // conditions on the call as a whole
	noted      bool       // the rule has a limit, or alters content
	conditions []condition
	further    further
	// False for a rule that cannot match the calls of Options.Calls: its syntax is checked, but it
	// is not compiled.
	compiled bool
}

// compileSources compiles rules. It reports every invalid glob.
func compileSources(sources []ruleSource, o Options) (*Policy, Errors) {
	c := compiler{
		policy:   &Policy{sources: sources, rules: make([]rule, len(sources)), readers: make([]argReader, resourceSlot+1), options: o},
		home:     knownHome(o.Home),
		windows:  o.windows,
		options:  &Options{Home: knownHome(o.Home), Disk: o.Disk, windows: o.windows},
		patterns: map[patternKey]*pattern{},
		globs:    map[string]*glob.Pattern{},
	}
	if c.windows {
		c.home = reading.WindowsForm(c.home)
	}
	c.policy.args[ToolSubject], c.policy.args[PromptSubject] = &argNames{}, &argNames{}
	var screens [OnCount]Errors
	last := OnCall
	if o.judges == OnCall && !o.windows && o.Calls == nil {
		last = OnCount - 1
	}
	shareWork(int(last-OnCall)+1, func(i int) {
		if on := OnCall + On(i); on != OnCall {
			screens[on] = c.policy.compileScreen(on)
		} else {
			c.compileRules()
		}
	})
	c.errs = append(c.errs, slices.Concat(screens[:]...)...)
	if len(c.errs) > 0 {
		return nil, c.errs
	}
	c.policy.timed = c.policy.matchesAnyLayer(func(q *Policy) bool { return q.timed })
	c.policy.readers[resourceSlot].URIs = true
	for i := range c.policy.readers {
		c.policy.readers[i].Home, c.policy.readers[i].Windows = c.home, c.windows
	}
	for s := range c.policy.subjects {
		c.policy.subjects[s].buildIndex(c.policy, Subject(s))
	}
	return c.policy, nil
}

// knownHome returns the home that ~ stands for, or "" if home is not an absolute path that a
// glob can name.
func knownHome(home string) string {
	home = strings.TrimRight(strings.ReplaceAll(home, `\`, "/"), "/")
	if !(strings.HasPrefix(home, "/") || reading.HasDrive(home)) || !utf8.ValidString(home) || strings.ContainsAny(home, "*?") {
		return ""
	}
	return home
}

// A slot is an index in Policy.readers. Slot 0 means no slot. resourceSlot is the slot for the URI
// of a resource; the higher slots are for arguments.
const resourceSlot int32 = 1

// argReader reads the values of one argument name.
type argReader struct {
	reading.Reader
	typed bool // a where constraint has a condition on the argument
	based bool // a constraint on the argument judges relative paths inside a text
	local bool // a glob on the argument begins at the folder where relative paths start
	sieve *sieve
}

type compiler struct {
	policy   *Policy
	home     string
	windows  bool                    // the rules are compiled for servers that run on Windows
	options  *Options                // the options for the compilation of constraints
	patterns map[patternKey]*pattern // a cache, because several rules often have the same glob
	globs    map[string]*glob.Pattern
	errs     Errors
}

// compileRules compiles the rules that the policy judges by, but only those that can match its calls.
func (c *compiler) compileRules() {
	o := &c.policy.options
	for i := range c.policy.sources {
		if src := &c.policy.sources[i]; src.On == o.judges {
			c.noteDependencies(src)
			if o.Calls == nil || src.mayMatchCalls(o.Calls) {
				c.policy.rules[i] = c.compileRule(src)
			} else {
				c.checkGlobs(src)
			}
		}
	}
}

type patternKey struct {
	text   string
	closes bool // see newPattern
}

func (c *compiler) compileRule(src *ruleSource) rule {
	r := rule{compiled: true, action: src.Action, rank: src.rank(), noted: src.Rate.HasLimit() || src.Action.AltersContent()}
	stated := src.callConditions()
	for i := len(stated) - 1; i >= 0; i-- { // from the last to the first: the condition on the time is last, and it costs less than a glob
		r.calls = append(r.calls, stated[i].test)
	}
	for i := range src.not.calls {
		r.calls = append(r.calls, except{src.not.calls[i].test})
	}
	switch src.subject {
	case NoSubject:
	case ResourceSubject:
		r.conditions = append(r.conditions, c.compileCondition(resourceSlot, src.patterns, src.Action, src.Pos))
	default:
		r.names = make(anyOf, 0, len(src.patterns))
		for _, text := range src.patterns {
			r.names = append(r.names, c.compileGlob(text, src.Pos))
		}
	}
	r.conditions = slices.Grow(r.conditions, len(src.args)+len(src.where))
	for _, a := range src.args {
		slot := c.slotFor(&r, src.subject, a.path)
		r.conditions = append(r.conditions, c.compileCondition(slot, a.globs, src.Action, a.pos))
	}
	for i := range src.where {
		w := &src.where[i]
		slot := c.slotFor(&r, src.subject, w.path)
		rd := &c.policy.readers[slot]
		rd.Paths, rd.typed = rd.Paths || w.key.path, true
		rd.based = rd.based || shell.AsksPlaces(w.made) || scalar.NamesBase(w.made)
		r.conditions = append(r.conditions, condition{slot: slot, typed: c.compileConstraint(w)})
	}
	c.compileExceptions(&r, src)
	r.further.watches, r.further.only = src.watchesUnnamedArgs(), src.further.Only
	for _, name := range src.further.Names {
		r.further.named = append(r.further.named, c.policy.args[src.subject].ensureNode([]string{name}))
	}
	return r
}

// noteDependencies marks in the policy the facts that the rule's conditions depend on.
func (c *compiler) noteDependencies(src *ruleSource) {
	p := c.policy
	stated := src.callConditions()
	for i := range stated {
		p.timed = p.timed || stated[i].Key == ruleKeys[whenKey]
		p.labelled = p.labelled || stated[i].Key == ruleKeys[afterKey]
	}
	for _, all := range [][]Stated{stated, src.not.calls} {
		for i := range all {
			k, _ := CallKeyOf(all[i].Key)
			p.hinted = p.hinted || k.Hint != ""
			if k.isIdentity() {
				p.identity = append(p.identity, k.Name)
			}
		}
	}
	for i := range src.where {
		w := &src.where[i]
		p.asksDisk = p.asksDisk || w.key.path || shell.AsksDisk(w.made)
	}
}

// checkGlobs reports a BaseWord in a wrong place in the globs of a rule that is not compiled. The
// parser has already checked the rest of the syntax.
func (c *compiler) checkGlobs(src *ruleSource) {
	for _, a := range src.argGlobs() {
		for _, text := range a.globs {
			if err := checkBaseWord(text); err != nil {
				c.errs = append(c.errs, &Error{Pos: a.pos, Text: text, Msg: err.Error()})
			}
		}
	}
}

// slotFor returns the slot of an argument that a rule names. It adds a slot if the argument has
// none.
func (c *compiler) slotFor(r *rule, s Subject, path []string) int32 {
	n := c.policy.args[s]
	if !EveryArgument(path) {
		n = n.ensureNode(path)
		r.further.named = append(r.further.named, n)
	}
	if n.slot == 0 {
		n.slot = int32(len(c.policy.readers))
		c.policy.readers = append(c.policy.readers, argReader{})
	}
	return n.slot
}

func (c *compiler) compileCondition(slot int32, globs []string, a Action, pos Position) condition {
	cond := condition{slot: slot, patterns: make([]*pattern, 0, len(globs))}
	rd := &c.policy.readers[slot]
	for _, text := range globs {
		key := patternKey{text, a != Allow}
		p := c.patterns[key]
		if p == nil {
			var err error
			if p, err = c.compilePattern(text, key.closes); err != nil {
				c.errs = append(c.errs, &Error{Pos: pos, Text: text, Msg: err.Error()})
				continue
			}
			c.patterns[key] = p
		}
		rd.Effects |= p.effects
		rd.local = rd.local || p.local
		rd.Paths = rd.Paths || p.pathLike
		cond.patterns = append(cond.patterns, p)
	}
	if n := len(cond.patterns); n >= fewPatterns && n <= manyPatterns {
		if rd.sieve == nil {
			rd.sieve = &sieve{}
		}
		cond.sieve, cond.word = rd.sieve, rd.sieve.addPatterns(cond.patterns)
	}
	return cond
}

func (c *compiler) compileGlob(text string, pos Position) *glob.Pattern {
	g := c.globs[text]
	if g != nil {
		return g
	}
	g, err := glob.Compile(text)
	if err != nil {
		c.errs = append(c.errs, &Error{Pos: pos, Text: text, Msg: err.Error()})
	}
	c.globs[text] = g
	return g
}
