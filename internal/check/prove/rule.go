package prove

import (
	"slices"
	"strconv"
	"strings"

	"github.com/clawai/clawai/policy"
)

// rule is a policy rule whose conditions are languages: a union for the name, one for the server,
// and one for each argument.
type rule struct {
	src        *policy.Source
	strict     int        // strictness of the answer: strictDeny to strictAllow
	name       union      // nil for any name
	server     union      // nil for any server
	exceptions []rule     // each has one exception as its only condition, and is vague if no language expresses it
	excepted   []rule     // the exceptions that are not vague
	anywhere   []anywhere // the conditions on any argument
	args       []argument
	atoms      []string      // the conditions that no language expresses, as sorted texts
	listed     int           // number of atoms that exhaustCases handles: the exceptions that are not vague
	exprs      []*expression // the constraints among the atoms that hold for a regular language
	same       int           // equal for rules with equal conditions
	finds      []string      // one of these kinds must be found; nil for a rule without find
	vague      bool          // the rule may match some calls only perhaps

	watches bool       // the rule watches for further arguments (further.go)
	only    bool       // the rule has args_only
	named   [][]string // paths of the arguments that the rule names
}

// argument is the condition on one argument or on a resource's URI.
type argument struct {
	key   string // the path, as one text
	path  []string
	globs []shape
}

// shape is one glob with its forms for all transformations.
type shape struct {
	policy.Forms
	effects uint8 // the transformations that change the glob
}

// resourceKey is the argument key of a resource's URI.
const resourceKey = "\x00uri"

// prover reads policies and caches the languages that they share.
type prover struct {
	langs    map[string]*lang    // by glob
	bases    map[bool]union      // cache of unknownBases
	regulars map[string]*regular // by expression; nil for one that cannot be compared
	emptied  map[string]bool     // cache of isEmpty
	same     map[string]int      // rule.same, by the text of the conditions
	work     int                 // work limit of one question
	home     string              // home folder; "" if unknown
	asks     bool                // some rule has the condition find (look.go)
	kinds    []string            // kinds of findings that calls may have, if some rule has find
	windows  bool                // servers run on Windows; see windows.go
}

func newProver(o Options) *prover {
	if o.Work <= 0 {
		o.Work = defaultWork
	}
	return &prover{langs: map[string]*lang{}, bases: map[bool]union{}, same: map[string]int{}, regulars: map[string]*regular{}, emptied: map[string]bool{}, work: o.Work}
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

// readRules reads the rules of a policy.
func (pr *prover) readRules(p *policy.Policy) []rule {
	if at, err := p.GlobForms("~"); err == nil && len(at.Forms) > 1 {
		pr.home = at.Forms[1].Globs[0]
	}
	sources := p.Sources()
	rules := make([]rule, len(sources))
	for i := range sources {
		if rules[i].src = &sources[i]; sources[i].Subject == policy.NoSubject {
			continue // the rule is about replies, or edits requests: it decides no calls
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

// readConstraints reads the conditions that only the policy itself can judge: typed constraints,
// times, and the other conditions on a call as a whole that no language expresses. They become
// atoms. An argument with a constraint must have some text, except for constraints on its presence
// or its type, which values such as [] may also meet.
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
			continue // a loaded policy has no such glob
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

// conditionText returns a text that is equal for rules that match the same
// calls.
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

// Strictness of answers, strictest first.
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

// formFor returns the form of the glob for readings by a set of transformations.
func (s *shape) formFor(transforms uint8) *policy.Form {
	transforms &= s.effects
	for i := range s.Forms.Forms {
		if s.Forms.Forms[i].Transforms == transforms {
			return &s.Forms.Forms[i]
		}
	}
	return &s.Forms.Forms[0]
}

// reading is a kind of reading to ask about: the readings by one set of transformations.
type reading struct {
	transforms uint8
	// plain means that the value is no path. Path globs see the transformed value, and other globs
	// see the value as sent.
	plain bool
}

// sureTexts returns the texts that an argument's condition surely matches in a reading. For a plain
// reading, only the path globs and ** count if paths is true, and only the other globs if it is false.
// If the result is not exact, it is too small for a rule to avoid (avoided), and else too large.
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

// deniesOrAsks reports whether the rule denies or asks.
func (r *rule) deniesOrAsks() bool { return r.src.Action != policy.Allow }

// hasAliases reports whether the glob has further texts that a deny or a prompt
// may match.
func (s *shape) hasAliases() bool {
	return slices.ContainsFunc(s.Forms.Forms, func(f policy.Form) bool { return f.Also != nil })
}

// possibleTexts is sureTexts with the texts that the condition matches only perhaps. If deniesOrAsks
// is true, the rule denies or asks, and also matches the aliases of the globs.
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

// foldedTexts returns languages that include every text that an argument's condition matches in a
// reading by decoding, by folding of letter case, or by both. The condition matches no text outside
// these languages.
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
