package prove

import (
	"slices"
	"strconv"
	"strings"

	"github.com/clawai/clawai/policy"
)

// rule is a rule of a policy. Its conditions are languages: one union for the name, one for the
// server, and one for each argument.
type rule struct {
	src        *policy.Source
	strict     int        // strictness of the answer: strictDeny to strictAllow
	name       union      // nil if the rule matches any name
	server     union      // nil if the rule matches any server
	exceptions []rule     // one rule for each exception, with the exception as its only condition; vague if no language expresses it
	excepted   []rule     // the exceptions that are not vague
	anywhere   []anywhere // the conditions on any argument (args."*")
	args       []argument
	atoms      []string      // the conditions that no language expresses, as sorted texts
	listed     int           // number of atoms that exhaustCases can handle: the exceptions that are not vague
	exprs      []*expression // those atoms that are constraints with a regular language
	same       int           // a number that is equal for rules with equal conditions
	finds      []string      // the call must have a finding of one of these kinds; nil without the condition find
	vague      bool          // the rule can match a call only perhaps

	watches bool       // the rule watches for further arguments (further.go)
	only    bool       // the rule has args_only
	named   [][]string // paths of the arguments that the rule names
}

// argument is the condition on one argument, or on the URI of a resource.
type argument struct {
	key   string // path of the argument as one text
	path  []string
	globs []shape
}

// shape is one glob with its forms for all transformations.
type shape struct {
	policy.Forms
	effects uint8 // the transformations that change the glob
}

// resourceKey is the key of a resource's URI, in place of an argument's key.
const resourceKey = "\x00uri"

// prover reads policies and keeps the languages that they have in common.
type prover struct {
	langs    map[string]*lang    // languages, by glob
	bases    map[bool]union      // cache of unknownBases
	regulars map[string]*regular // by expression; nil if the expression cannot be compared
	emptied  map[string]bool     // cache of isEmpty
	same     map[string]int      // rule.same, by conditionText
	work     int                 // work limit for one question
	done     <-chan struct{}     // Options.Done
	home     string              // the home folder; "" if unknown
	asks     bool                // some rule has the condition find (look.go)
	kinds    []string            // kinds of findings that a call may have, if some rule has the condition find
	windows  bool                // the servers run on Windows (windows.go)
}

func newProver(o Options) *prover {
	if o.Work <= 0 {
		o.Work = defaultWork
	}
	return &prover{langs: map[string]*lang{}, bases: map[bool]union{}, same: map[string]int{}, regulars: map[string]*regular{}, emptied: map[string]bool{}, work: o.Work, done: o.Done}
}

// isDone reports whether nobody waits for answers any more.
func (pr *prover) isDone() bool {
	select {
	case <-pr.done:
		return true
	default:
		return false
	}
}

func (pr *prover) langOf(glob string) *lang { return pr.cachedLang(glob, false) }

func (pr *prover) unionOf(globs []string) (u union) {
	for _, g := range globs {
		u = append(u, pr.langOf(g))
	}
	return u
}

func (pr *prover) cachedLang(glob string, relative bool) *lang {
	key := glob
	if relative {
		key += "\x00"
	}
	l := pr.langs[key]
	if l == nil {
		l = globLang(glob, relative)
		pr.langs[key] = l
	}
	return l
}

func (pr *prover) unknownBases(homeless bool) union {
	if pr.bases[homeless] == nil {
		pr.bases[homeless] = unknownBases(homeless)
	}
	return pr.bases[homeless]
}

// readRules returns the rules of a policy in the form of this package.
func (pr *prover) readRules(p *policy.Policy) []rule {
	if at, err := p.GlobForms("~"); err == nil && len(at.Forms) > 1 {
		pr.home = at.Forms[1].Globs[0]
	}
	sources := p.Sources()
	rules := make([]rule, len(sources))
	for i := range sources {
		if rules[i].src = &sources[i]; sources[i].Subject == policy.NoSubject {
			continue // this rule is about replies or edits requests, so it decides no calls
		}
		rules[i] = pr.readRule(p, &sources[i])
	}
	return rules
}

func (pr *prover) readRule(p *policy.Policy, src *policy.Source) rule {
	r := rule{src: src, strict: strictness(&src.Rule), watches: src.WatchesUnnamedArgs()}
	pr.extractAtoms(&r, p)
	src = r.src
	if src.Subject == policy.ResourceSubject {
		r.args = []argument{newArgument(p, resourceKey, nil, src.Names)}
	} else {
		r.name = pr.unionOf(src.Names)
	}
	for _, a := range src.Args {
		r.args = append(r.args, newArgument(p, argumentKey(a.Path), a.Path, a.Globs))
	}
	pr.readConstraints(&r, p)
	for i := range r.args {
		for _, g := range r.args[i].globs {
			r.vague = r.vague || g.Absolute || g.Homeless || g.Perhaps != nil || g.Forms.Forms[0].Rest != "" || r.deniesOrAsks() && g.hasAliases()
		}
	}
	r.setFurther(src)
	slices.SortFunc(r.args, func(a, b argument) int { return strings.Compare(a.key, b.key) })
	slices.Sort(r.atoms)
	name := r.conditionText()
	if _, known := pr.same[name]; !known {
		pr.same[name] = len(pr.same)
	}
	r.same = pr.same[name]
	return r
}

// readConstraints turns the conditions that no language expresses into atoms: typed constraints,
// times, and the other conditions on the whole call. An argument with a constraint must have some
// text, unless the constraint is on presence or type, because values such as [] can meet these
// constraints.
func (pr *prover) readConstraints(r *rule, p *policy.Policy) {
	for _, w := range r.src.Where {
		key := argumentKey(w.Path)
		opens := r.src.Action == policy.Allow
		r.vague = true
		atom := strings.Join([]string{key, w.Key, w.Text, strconv.FormatBool(opens)}, "\x01")
		r.atoms = append(r.atoms, atom)
		if e := pr.parseExpression(key, atom, w.Key, w.Text, !opens); e != nil {
			r.exprs = append(r.exprs, e)
		}
		whole := w.Key == "present" || w.Key == "type" && slices.Contains([]string{`"null"`, `"array"`, `"object"`}, w.Text)
		known := slices.ContainsFunc(r.args, func(a argument) bool { return a.key == key })
		if !whole && !known {
			r.args = append(r.args, newArgument(p, key, w.Path, []string{"**"}))
		}
	}
	for _, c := range r.src.Calls {
		k, _ := policy.CallKeyOf(c.Key)
		if k.Proof == policy.ServerNames {
			r.server = pr.unionOf(c.Globs)
			continue
		}
		r.vague = true
		if k.Proof == policy.FoundKinds {
			r.finds, pr.asks = pr.kindsOf(r.src.Finds, p), true
			continue
		}
		atom := "\x01" + c.Key + "\x01" + c.Text
		if k.Proof == policy.Tightening {
			atom = sureAtom + atom
		}
		r.atoms = append(r.atoms, atom)
	}
}

func newArgument(p *policy.Policy, key string, path, globs []string) argument {
	a := argument{key: key, path: path}
	for _, g := range globs {
		forms, err := p.GlobForms(g)
		if err != nil {
			continue // cannot happen, because a policy with such a glob does not load
		}
		s := shape{Forms: forms}
		for _, f := range forms.Forms {
			s.effects |= f.Transforms
		}
		a.globs = append(a.globs, s)
	}
	return a
}

func argumentKey(path []string) string { return strings.Join(path, "\x00") }

// conditionText returns a text that is equal for rules which match the same calls.
func (r *rule) conditionText() string {
	var b strings.Builder
	b.WriteString(r.src.Subject.RuleKey() + "\x02" + r.name.unionKey() + "\x02" + r.server.unionKey())
	for _, a := range r.args {
		globs := make([]string, 0, len(a.globs))
		for _, g := range a.globs {
			globs = append(globs, g.Forms.Forms[0].Globs[0])
		}
		slices.Sort(globs)
		b.WriteString("\x02" + a.key + "\x03" + strings.Join(slices.Compact(globs), "\x03"))
	}
	b.WriteString("\x02" + strings.Join(r.atoms, "\x04") + "\x02" + strings.Join(r.finds, "\x04"))
	if r.watches {
		names := slices.Sorted(slices.Values(r.src.Further.Names))
		b.WriteString("\x02" + strconv.FormatBool(r.only) + "\x05" + strings.Join(slices.Compact(names), "\x05"))
	}
	return b.String()
}

func (r *rule) findArgument(key string) *argument {
	for i := range r.args {
		if r.args[i].key == key {
			return &r.args[i]
		}
	}
	return nil
}

// Strictness of an answer; the strictest comes first.
const (
	strictDeny = iota
	strictAskApprovers
	strictAskOutOfBand
	strictAsk
	strictAllow
)

func strictness(r *policy.Rule) int {
	switch {
	case r.Action == policy.Allow:
		return strictAllow
	case r.Action == policy.Deny:
		return strictDeny
	case r.Approval != nil:
		return strictAskApprovers
	case r.OutOfBand:
		return strictAskOutOfBand
	}
	return strictAsk
}

// formFor returns the form of the glob for readings by these transformations.
func (s *shape) formFor(transforms uint8) *policy.Form {
	transforms &= s.effects
	for i := range s.Forms.Forms {
		if s.Forms.Forms[i].Transforms == transforms {
			return &s.Forms.Forms[i]
		}
	}
	return &s.Forms.Forms[0]
}

// reading is one way to read values: by one set of transformations.
type reading struct {
	transforms uint8
	// plain means that the value is no path. Path globs then see the transformed value, and other
	// globs see the value as sent.
	plain bool
}

// sureTexts returns the texts that the condition on an argument surely matches in a reading. For a
// plain reading, sureTexts uses only the path globs and ** if paths is true, and only the other
// globs if paths is false. If the result cannot be exact, it is too small if avoided is true (a
// rule that must not match), and otherwise too large.
func (pr *prover) sureTexts(a *argument, r reading, paths, avoided bool) union {
	u := union{}
	for i := range a.globs {
		s := &a.globs[i]
		transforms := r.transforms
		if r.plain && s.PathLike != paths {
			if s.Forms.Forms[0].Globs[0] != "**" {
				continue
			}
			transforms = 0
		} else if r.plain && !paths {
			transforms = 0
		}
		f := s.formFor(transforms)
		if f.Odd && avoided {
			continue
		}
		for _, g := range f.Globs {
			u = append(u, pr.langOf(g))
		}
	}
	return u
}

// deniesOrAsks reports whether the action of the rule is not allow.
func (r *rule) deniesOrAsks() bool { return r.src.Action != policy.Allow }

// hasAliases reports whether a deny or a prompt with this glob may match more texts than the glob
// itself.
func (s *shape) hasAliases() bool {
	return slices.ContainsFunc(s.Forms.Forms, func(f policy.Form) bool { return f.Also != nil })
}

// possibleTexts returns the result of sureTexts and also the texts that match only perhaps. If
// deniesOrAsks is true, the rule denies or asks, and also matches the aliases of its globs.
func (pr *prover) possibleTexts(a *argument, r reading, paths, avoided, deniesOrAsks bool) union {
	u := pr.sureTexts(a, r, paths, avoided)
	for i := range a.globs {
		s := &a.globs[i]
		if r.plain && s.PathLike != paths {
			continue
		}
		if rest := s.formFor(r.transforms).Rest; rest != "" {
			u = append(u, pr.cachedLang(rest, true))
		}
		if s.Absolute {
			u = append(u, pr.unknownBases(s.Homeless)...)
		}
		if s.Homeless {
			u = append(u, pr.langOf("**"))
		}
		for _, word := range s.Perhaps {
			u = append(u, pr.langOf(word))
		}
		for _, f := range s.Forms.Forms {
			if deniesOrAsks && f.Transforms&^r.transforms == 0 {
				for _, g := range f.Also {
					u = append(u, pr.langOf(g))
				}
			}
		}
	}
	return u
}

// foldedTexts returns languages with every text that the condition on an argument can match after
// decoding, after folding of letter case, or after both.
func (pr *prover) foldedTexts(a *argument) (u union) {
	add := func(g string) {
		l := pr.langs["\x00folded\x00"+g]
		if l == nil {
			l = foldedLang(g)
			pr.langs[l.text] = l
		}
		u = append(u, l)
	}
	for i := range a.globs {
		for _, f := range a.globs[i].Forms.Forms {
			for _, g := range f.Globs {
				add(g)
			}
		}
		for _, word := range a.globs[i].Perhaps {
			if word == strings.ToLower(word) {
				add(word)
			}
		}
	}
	return u
}
