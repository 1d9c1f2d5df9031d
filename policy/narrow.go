package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/policy/reading"
)

// Narrowed is the new rule that keeps a person's answer. It stands above the rule that asked.
type Narrowed struct {
	Text   string  // the new rule as TOML, for InsertAbove
	Policy *Policy // the policy with the new rule in its place; this policy has no revision

	Name   string   // the subject's glob
	Server string   // "" if the rule is about every server
	Cwd    string   // the folder where the call's relative paths must start; "" for any folder
	Limits []Limit  // conditions on arguments
	Not    []string // the exceptions of the rule that asked, in the syntax of policies
	Open   []string // arguments of the call that the rule does not restrict

	rule ruleSource
}

// SetDescription sets the description of the rule. The rule had no description before.
func (n *Narrowed) SetDescription(text string) {
	n.rule.Description = text
	n.Text = n.rule.formatTOML()
}

// ArgsOnlyNames returns whether the rule has args_only, and the names in args_only. A rule with
// args_only does not match a call with an unnamed argument that is not in names.
func (n *Narrowed) ArgsOnlyNames() (names []string, only bool) {
	return n.rule.further.Names, n.rule.further.Only
}

// Limit is a condition on one argument.
type Limit struct {
	Path  []string // the names below args
	Globs []string // globs; one must match
}

// ArgumentName returns the argument's name in the syntax of policies, without "args.": path, "a.b",
// options.mode.
func (l Limit) ArgumentName() string { return policytext.DottedKey(l.Path[0], l.Path[1:]...) }

// NarrowRule writes the rule that allows or denies a call from now on, after a person answered the
// question of rule r. The new rule keeps every condition of r and names the call's own tool and
// server. The scope decides about the other conditions of the new rule:
//
//   - Exact: every argument, with the call's value, and in an allow also with its JSON type;
//   - File: every argument that is a path or URL, with the call's value; or the URI;
//   - Folder: the folder of every argument that is a path or URL; or the folder of the URI;
//   - Tool: nothing more.
//
// An allow with conditions does not match a call with a suspicious argument that it does not name.
// So in every scope the new rule names each suspicious argument, with its values. An allow about
// commands or relative paths is bound to the folder of the call, except with the scope Tool.
//
// So r matches every call that the new rule matches, in any reading. The new rule changes only the
// answers to calls that r asked about.
//
// The error tells a person why no such rule can be written: globs cannot name a star, a question
// mark, an empty text, a list, an object or null, and cannot demand that two globs on one argument
// both match.
func (p *Policy) NarrowRule(r Rule, c *Call, s Scope, a Action) (*Narrowed, error) {
	if r.Index >= 0 && r.Index < len(p.sources) && p.sources[r.Index].from != "" && p.anchorOf(r.Index) == "" {
		return nil, fmt.Errorf("the rule comes from %s, which the policy extends; write one of your own above it", p.sources[r.Index].from)
	}
	return p.narrowRule(r, c, s, a)
}

// Grant returns the same allow rule as NarrowRule, for an answer that is not written into the policy.
// NarrowRule refuses a rule r from an extended text; Grant accepts it.
func (p *Policy) Grant(r Rule, c *Call, s Scope) (*Narrowed, error) {
	return p.narrowRule(r, c, s, Allow)
}

func (p *Policy) narrowRule(r Rule, c *Call, s Scope, a Action) (*Narrowed, error) {
	if r.Index < 0 || r.Index >= len(p.sources) || p.sources[r.Index].Rule != r {
		return nil, errors.New("the rule is not one of this policy")
	}
	asked := &p.sources[r.Index]
	if asked.Action != Prompt || asked.subject != c.Subject {
		return nil, errors.New("the rule did not ask about this call")
	}
	if asked.Approval != nil {
		return nil, fmt.Errorf("the rule on line %d asks approvers at the team's centre, and no answer is kept as a rule", r.Pos.Line)
	}
	if asked.Pinned {
		return nil, fmt.Errorf("the rule on line %d is pinned: it asks every time, and no answer is kept as a rule", r.Pos.Line)
	}
	if a == Prompt {
		return nil, errors.New("an answer allows or denies")
	}
	n := narrower{asked: asked, call: c, home: p.homeFolder(), scope: s, anchor: p.anchorOf(r.Index)}
	n.rule = *asked
	n.rule.Action = a
	if err := n.narrowKeys(); err != nil {
		return nil, err
	}
	out := &Narrowed{rule: n.rule, Text: n.rule.formatTOML(), Name: n.rule.patterns[0], Limits: n.limits, Open: n.open}
	if s := n.rule.conditionFor(ruleKeys[serverKey]); s != nil {
		out.Server = listWords(s.Globs)
	}
	if s := n.rule.conditionFor(ruleKeys[cwdKey]); s != nil {
		out.Cwd = strings.Join(s.Globs, " or ")
	}
	n.rule.writeNot(func(key, toml string) { out.Not = append(out.Not, key+" = "+toml) })
	var err error
	out.Policy, err = p.tryRuleAbove(out.Text, r, c, a)
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (p *Policy) homeFolder() string { return p.readers[resourceSlot].Home }

// tryRuleAbove returns the policy with the text above rule r, if that policy answers the call
// with the action a.
func (p *Policy) tryRuleAbove(text string, r Rule, c *Call, a Action) (*Policy, error) {
	var q *Policy
	written, errs := parseFile("always", []byte(text), p.sources[r.Index].lists)
	if len(errs) == 0 {
		rules := slices.Insert(slices.Clone(p.sources), r.Index, written.rules...)
		q, errs = compileSources(rules, p.options)
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("the rule cannot be written: %w", errs)
	}
	d := q.Decide(c)
	switch {
	case d.Action == a:
		return q, nil
	case d.Rule != nil && d.Rule.Pos != r.Pos:
		return nil, fmt.Errorf("the rule on line %d would still say %s", d.Rule.Pos.Line, d.Action)
	default:
		return nil, fmt.Errorf("a server may read the call in another way, which no such rule allows: %s", cmp.Or(d.Reason, strconv.Quote(d.Reading)))
	}
}

// narrower builds one rule.
type narrower struct {
	asked *ruleSource
	call  *Call
	home  string
	scope Scope

	anchor string // the name of the rule that asked, for the key "above"
	rule   ruleSource
	limits []Limit
	open   []string
}

func (n *narrower) narrowKeys() error {
	if len(n.call.Names) != 1 {
		return fmt.Errorf("the call has %d texts, and a rule names one", len(n.call.Names))
	}
	for _, k := range written {
		if narrow := keys[k].narrow; narrow != nil {
			if err := narrow(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepPlace gives the new rule the key "above", if the rule that asked is an extended rule.
func (n *narrower) keepPlace() error {
	if n.asked.from != "" {
		n.rule.above = n.anchor
	}
	return nil
}

// dropDescription removes the description of the rule that asked.
func (n *narrower) dropDescription() error {
	n.rule.Description = ""
	return nil
}

// dropLimit removes the limit from a rule that denies.
func (n *narrower) dropLimit() error {
	if n.rule.Action == Deny {
		n.rule.limit = ""
	}
	return nil
}

// dropAsk removes the key ask, because an allow or a deny asks no one.
func (n *narrower) dropAsk() error {
	n.rule.OutOfBand = false
	return nil
}

// dropPreview removes the key preview, because an allow or a deny asks no one.
func (n *narrower) dropPreview() error {
	n.rule.Preview = false
	return nil
}

// narrowName sets the rule's glob to the call's name. For a resource the glob is the URI or the
// URI's folder.
func (n *narrower) narrowName() error {
	name := n.call.Names[0]
	key := subjectKey(n.call.Subject)
	switch n.call.Subject {
	case ToolSubject:
	case PromptSubject:
		if n.scope == File || n.scope == Folder {
			return fmt.Errorf("a prompt has no %s", n.scope)
		}
	case ResourceSubject:
		return n.narrowResource(name)
	default:
		if n.scope != Exact {
			return fmt.Errorf("there is no %s to widen %s to", n.scope, key)
		}
	}
	n.rule.patterns, n.rule.written = []string{name}, nil
	return checkExact("the "+key, name)
}

func (n *narrower) narrowResource(uri string) error {
	wanted := uri
	switch n.scope {
	case Exact, File:
		if err := checkExact("the resource", uri); err != nil {
			return err
		}
	case Folder:
		var found bool
		if wanted, found = n.folderGlob(uri, true); !found {
			return errors.New("the resource names no folder")
		}
	default:
		return errors.New("a resource belongs to no tool")
	}
	both := intersectGlobs(n.asked.patterns, []string{wanted}, n.home)
	if len(both) != 1 {
		return fmt.Errorf("no single pattern covers %q and keeps to the rule's %s", wanted, listWords(policytext.QuoteAll(n.asked.patterns)))
	}
	n.rule.patterns, n.rule.written = both, nil
	return nil
}

// bindServer binds the rule to the call's server.
func (n *narrower) bindServer() error {
	switch {
	case n.call.Server != "":
		n.rule.setCondition(serverKey, Stated{Text: policytext.Quote(n.call.Server), Globs: []string{n.call.Server}})
		return checkExact("the server's name", n.call.Server)
	case n.asked.conditionFor(ruleKeys[serverKey]) != nil && n.rule.Action == Allow:
		return errors.New("the rule that asked is about a server, and this server's name is not known")
	}
	return nil
}

// narrowArguments sets the rule's conditions on arguments. First come the conditions on the call's
// arguments, in the order of the call, and then the remaining conditions of the rule that asked.
func (n *narrower) narrowArguments() error {
	if n.call.Subject != ToolSubject && n.call.Subject != PromptSubject {
		return nil
	}
	n.rule.args = nil
	args, err := readArguments(n.call.Args)
	if err != nil {
		return err
	}
	taken := map[int]bool{}
	wants := false
	for i := range args {
		path := []string{args[i].name}
		if EveryArgument(path) {
			return errStar
		}
		own := slices.IndexFunc(n.asked.args, func(a argSource) bool { return slices.Equal(a.path, path) })
		globs, err := n.scopeGlobs(&args[i], own >= 0)
		if err != nil {
			return err
		}
		below := slices.ContainsFunc(n.asked.args, func(a argSource) bool { return a.path[0] == path[0] })
		switch {
		case globs == nil && !below:
			n.open = append(n.open, policytext.DottedKey(args[i].name))
		case globs == nil:
		case own < 0:
			n.addLimit(path, globs)
			n.bindType(path, args[i].kind)
			wants = true
		default:
			both := intersectGlobs(n.asked.args[own].globs, globs, n.home)
			if len(both) == 0 {
				return fmt.Errorf("no single pattern keeps argument %q to %q and to the condition of the rule", args[i].name, globs)
			}
			n.addLimit(path, both)
			n.bindType(path, args[i].kind)
			wants, taken[own] = true, true
		}
	}
	if (n.scope == File || n.scope == Folder) && !wants {
		return fmt.Errorf("no argument names a %s", n.scope)
	}
	for i, a := range n.asked.args {
		if !taken[i] {
			n.rule.args = append(n.rule.args, a)
			n.limits = append(n.limits, Limit{Path: a.path, Globs: a.globs})
		}
	}
	return n.limitSuspects()
}

// errStar is the error for an argument that a rule cannot name.
var errStar = errors.New(`the call has an argument called "` + everyName + `", and a rule cannot name it: in a rule "` + everyName + `" means every argument`)

// limitSuspects adds conditions on the suspicious arguments of this call, with their values.
// Without these conditions, the rule would not match the call.
func (n *narrower) limitSuspects() error {
	if !n.rule.watchesUnnamedArgs() || n.rule.further.Only {
		return nil
	}
	for _, s := range suspectsIn(n.call.Args) {
		if n.rule.namesArgument(s.path) {
			continue
		}
		if slices.Contains(s.path, everyName) {
			return errStar
		}
		for _, text := range s.texts {
			if err := checkExact(fmt.Sprintf("argument %q", s.path[len(s.path)-1]), text); err != nil {
				return err
			}
		}
		n.addLimit(s.path, s.texts)
		n.open = slices.DeleteFunc(n.open, func(name string) bool { return name == policytext.DottedKey(s.path[0]) })
	}
	return nil
}

func (n *narrower) addLimit(path, globs []string) {
	n.rule.args = append(n.rule.args, argSource{path: path, globs: globs})
	n.limits = append(n.limits, Limit{Path: path, Globs: globs})
}

// bindType adds a condition on the JSON type of an exact value, because a glob does not tell 1, "1"
// and ["1"] apart. A deny does not get this condition, because a deny may match more calls.
func (n *narrower) bindType(path []string, kind string) {
	key := findConstraint("type")
	if n.scope > File || n.rule.Action != Allow || kind == "" ||
		slices.ContainsFunc(n.rule.where, func(w whereSource) bool { return w.key == key && slices.Equal(w.path, path) }) {
		return
	}
	n.rule.where = append(slices.Clip(n.rule.where), whereSource{path: path, key: key, text: quoteTOML(kind)})
}

// scopeGlobs returns the globs that the scope requires for an argument; nil if the scope requires
// none. named means that the rule has a condition on the argument.
func (n *narrower) scopeGlobs(a *argument, named bool) (globs []string, err error) {
	switch n.scope {
	case Exact:
		return a.exact, a.inexact
	case File, Folder:
		for _, text := range a.texts {
			glob, found := n.folderGlob(text, named)
			if !found {
				return nil, nil
			}
			if n.scope == File {
				if err := checkExact(fmt.Sprintf("argument %q", a.name), text); err != nil {
					return nil, err
				}
				glob = text
			}
			if !slices.Contains(globs, glob) {
				globs = append(globs, glob)
			}
		}
	}
	return globs, nil
}

// folderGlob returns the glob of the folder that a text names. It returns false if the text
// does not certainly name a folder, or is too long for a rule.
func (n *narrower) folderGlob(text string, named bool) (glob string, found bool) {
	if len(text) > maxLiteral {
		return "", false
	}
	return reading.FolderGlob(text, n.home, named)
}
