package prove

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// demand is a rule that must match, or a rule that must not match. any means that a call which the
// rule matches only perhaps also counts as matched.
type demand struct {
	rule *rule
	any  bool
}

// question asks for one reading of a call that all rules in needed match and no rule in avoid
// matches.
type question struct {
	subject policy.Subject
	needed  []demand
	avoid   []demand
	manner  manner           // the form of the texts of arguments
	unnamed bool             // the name may be empty
	others  bool             // also ask about readings by transformations
	many    bool             // find more texts than a proof needs
	quick   bool             // do not find more texts than a proof needs
	wary    bool             // no reading of a text may match a rule to avoid; the result is then no proof
	texts   map[string][]any // cache of spelledTexts
	broken  bool             // put line breaks around texts
	doubts  bool             // also accept values for which it is unknown whether they meet a needed constraint
	bare    bool             // calls have only arguments that needed rules name
	lenient bool             // take the texts of all further arguments as innocent; the result is then no proof
	further bool             // each call has one further argument
	home    string           // the home folder; paths below it are also written with ~
}

// answer is the result of a question.
type answer uint8

const (
	impossible answer = iota // it is proved that there is no such reading
	found                    // a candidate was accepted
	open                     // there were candidates, but none was accepted
	spent                    // the work limit was reached
	// like open, and it is also proved that every such call has a text with more than one reading
	hidden
)

// candidate is one reading of a call: texts for the name, the server and the arguments, and the
// findings.
type candidate struct {
	name, server string
	args         map[string]string // texts of the arguments, by key
	look         look
}

// inquiry is a question for one look. It is split into dimensions.
type inquiry struct {
	question
	prover *prover
	keys   []string            // keys of the arguments on which needed rules have conditions
	paths  map[string][]string // paths of these arguments, by key
	atoms  map[string]bool     // atoms of needed rules; the value is true if the condition holds surely
	dims   []dimension
	work   work
	look   look
}

// askQuestion answers a question. The function accept judges each candidate. If accept rejects all
// candidates that a proof needs, askQuestion tries more texts.
func (pr *prover) askQuestion(q question, accept func(candidate) bool) answer {
	a, _ := pr.askWithCost(q, accept)
	return a
}

// askWithCost is askQuestion, and also returns how much work was done.
func (pr *prover) askWithCost(q question, accept func(candidate) bool) (a answer, cost int) {
	if a, cost = pr.askLooks(q, accept); a == open && !q.quick {
		q.many = true
		more, again := pr.askLooks(q, accept)
		if cost += again; more == found {
			a = found
		}
	}
	if a == open && !q.quick {
		result, more := pr.askExceptions(q, accept)
		return result, cost + more
	}
	return a, cost
}

// askLooks answers a question for each look in turn.
func (pr *prover) askLooks(q question, accept func(candidate) bool) (a answer, cost int) {
	looks, whole := pr.listLooks(&q)
	if a = impossible; !whole {
		return spent, 0
	}
	for _, l := range looks {
		result, more := pr.askLook(q, l, accept)
		cost += more
		switch {
		case result == found:
			return found, cost
		case a != spent && result != impossible:
			a = result
		}
	}
	return a, cost
}

// askLook answers a question for calls with the findings of one look.
func (pr *prover) askLook(q question, l look, accept func(candidate) bool) (answer, int) {
	if pr.isDone() {
		return spent, 0
	}
	a := inquiry{question: q, prover: pr, paths: map[string][]string{}, atoms: map[string]bool{}, work: work{pr.work}, look: l}
	for _, d := range q.needed {
		for i := range d.rule.args {
			key := d.rule.args[i].key
			if !slices.Contains(a.keys, key) {
				a.keys = append(a.keys, key)
			}
		}
		for _, atom := range d.rule.atoms {
			a.atoms[atom] = a.atoms[atom] || !d.any || !d.rule.vague || !q.doubts && !strings.HasPrefix(atom, sureAtom)
		}
	}
	if a.contradictsExpressions() || a.contradictsArguments() {
		return impossible, 0
	}
	a.avoid = append(slices.Clone(q.avoid), neededExceptions(q.needed)...)
	a.work.spendWork(len(a.avoid))
	a.avoid = slices.DeleteFunc(a.avoid, func(d demand) bool { return a.isIrrelevant(d) })
	a.listDimensions()
	return a.combineOptions(accept), pr.work - a.work.left
}

// isIrrelevant reports whether the search can ignore a rule that must not match. There are two
// possible reasons. First, findings or the ends of globs show that the rule matches no call which
// the needed rules match. Second, the rule cannot help a proof: it has a condition on an argument
// that the call may lack, or an atom that the needed rules do not imply, or it watches for further
// arguments.
func (a *inquiry) isIrrelevant(d demand) bool {
	r := d.rule
	if a.look.lacksKind(d) {
		return true
	}
	for i := range r.args {
		if !slices.Contains(a.keys, r.args[i].key) {
			return true
		}
	}
	for _, atom := range r.atoms {
		surely, perhaps := a.atoms[atom]
		if !surely && !(perhaps && d.any) && !a.impliesExpression(r, atom) {
			return true
		}
	}
	if a.mayWatchExtras(r) {
		return true
	}
	for _, n := range a.needed {
		if areAsunder(r.name, n.rule.name) || areAsunder(r.server, n.rule.server) {
			return true
		}
	}
	return false
}

// areAsunder reports whether it is proved, by the ends of globs and by texts without wildcards,
// that no text is in both unions. It may return false although there is no such text.
func areAsunder(u, v union) bool {
	if u == nil || v == nil {
		return false
	}
	for _, l := range u {
		for _, m := range v {
			switch {
			case l.isDisjoint(m):
			case m.literal && !l.acceptsText(m.word, true), l.literal && !m.acceptsText(l.word, true):
			default:
				return false
			}
		}
	}
	return true
}

// listDimensions makes the dimensions of the question: the name, the server, and the arguments in
// the conditions of needed rules.
func (a *inquiry) listDimensions() {
	name, server := dimension{manner: named}, dimension{manner: named}
	if a.unnamed {
		name.manner = free
	}
	for _, d := range a.needed {
		name.needUnion(d.rule.name)
		server.needUnion(d.rule.server)
	}
	for _, d := range a.avoid {
		name.avoid = append(name.avoid, d.rule.name)
		server.avoid = append(server.avoid, d.rule.server)
	}
	a.dims = []dimension{name, server}
	if a.subject == policy.ResourceSubject {
		a.dims[0] = dimension{variant: variant{avoid: make([]union, len(a.avoid))}, manner: free}
	}
	for _, key := range a.keys {
		d := dimension{variant: a.variantOf(key, reading{}, true), manner: a.manner}
		if a.manner != tidy {
			v := d.variant
			v.slashed = true
			d.more = append(d.more, v)
		}
		if a.others {
			for _, r := range a.listReadings(key) {
				d.more = append(d.more, a.variantOf(key, r, true))
				if r.plain {
					d.more = append(d.more, a.variantOf(key, r, false))
				}
			}
		}
		a.dims = append(a.dims, d)
	}
}

func (d *dimension) needUnion(u union) {
	if u != nil {
		d.needed = append(d.needed, u)
	}
}

// variantOf returns the search for one argument and one kind of reading. paths only matters for
// plain readings: the search is then about path globs (true) or about the other globs (false).
func (a *inquiry) variantOf(key string, r reading, paths bool) variant {
	var v variant
	for _, d := range a.needed {
		if arg := d.rule.findArgument(key); arg != nil {
			a.paths[key] = arg.path
			v.needed = append(v.needed, a.acceptedTexts(d, arg, r, paths, false))
		}
	}
	for _, d := range a.avoid {
		var u union
		if arg := d.rule.findArgument(key); arg != nil {
			u = a.acceptedTexts(d, arg, r, paths, true)
			if a.wary {
				u = slices.Concat(u, a.prover.foldedTexts(arg))
			}
		} else if path := a.paths[key]; a.bare && !a.lenient && d.rule.watches && key != resourceKey && !d.rule.namesArgument(path) {
			u = innocentTexts(path)
		}
		v.avoid = append(v.avoid, u)
	}
	return v
}

func (a *inquiry) acceptedTexts(d demand, arg *argument, r reading, paths, avoided bool) union {
	if d.any {
		return a.prover.possibleTexts(arg, r, paths, avoided, d.rule.deniesOrAsks())
	}
	return a.prover.sureTexts(arg, r, paths, avoided)
}

// listReadings returns the kinds of readings for an argument: one for each set of transformations
// that changes a glob on it. If only some globs are about paths, it adds the plain readings.
func (a *inquiry) listReadings(key string) []reading {
	var effects uint8
	var like, unlike bool
	for _, d := range slices.Concat(a.needed, a.avoid) {
		arg := d.rule.findArgument(key)
		if arg == nil {
			continue
		}
		for i := range arg.globs {
			effects |= arg.globs[i].effects
			like, unlike = like || arg.globs[i].PathLike, unlike || !arg.globs[i].PathLike
		}
	}
	var rs []reading
	for transforms := 0; transforms < 256; transforms++ {
		if uint8(transforms)&^effects != 0 {
			continue
		}
		if transforms != 0 {
			rs = append(rs, reading{transforms: uint8(transforms)})
		}
		if like && unlike {
			rs = append(rs, reading{transforms: uint8(transforms), plain: true})
		}
	}
	return rs
}
