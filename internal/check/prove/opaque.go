package prove

import (
	"slices"
	"strconv"
	"strings"

	"github.com/clawai/clawai/policy"
)

// A condition on any argument (args."*") is about all values of a call, but the model only has
// values for arguments that rules name. So such a condition becomes an atom: a text that is only
// compared with other atoms. A rule with an atom only covers rules with the same atom. An exception
// becomes an atom too. A call that a rule surely matches is in none of the rule's exceptions.

// sureAtom is the first byte of some atoms. If the rule of such an atom matches a call only
// perhaps, the atom does not prove that another rule with the same atom surely matches.
const sureAtom = "\x02"

// extractAtoms turns a rule's conditions on any argument, and its exceptions, into atoms. The other
// conditions stay in r.src.
func (pr *prover) extractAtoms(r *rule, p *policy.Policy) {
	src := *r.src
	opens := strconv.FormatBool(src.Action == policy.Allow)
	atom := func(parts ...string) {
		r.vague = r.vague || parts[0] != "not" || parts[1] == "args"
		r.atoms = append(r.atoms, sureAtom+strings.Join(append(parts, opens), "\x01"))
	}
	src.Args, src.Where = nil, nil
	for _, a := range r.src.Args {
		if !policy.EveryArgument(a.Path) {
			src.Args = append(src.Args, a)
			continue
		}
		atom("args", asSet(a.Globs))
		r.anywhere = append(r.anywhere, anywhere{globs: a.Globs})
	}
	for _, w := range r.src.Where {
		if !policy.EveryArgument(w.Path) {
			src.Where = append(src.Where, w)
			continue
		}
		atom("where", w.Key, w.Text)
		r.anywhere = append(r.anywhere, anywhere{key: w.Key, text: w.Text})
	}
	not := &src.Not
	except := func(e rule, known bool) {
		e.src = &policy.Source{Subject: src.Subject}
		if e.vague = !known; known {
			r.excepted = append(r.excepted, e)
			r.listed++
		}
		r.exceptions = append(r.exceptions, e)
	}
	if not.Names != nil {
		atom("not", src.Subject.RuleKey(), asSet(not.Names))
		e := rule{name: pr.unionOf(not.Names)}
		if src.Subject == policy.ResourceSubject {
			e = rule{args: []argument{newArgument(p, resourceKey, nil, not.Names)}}
		}
		except(e, true)
	}
	for _, c := range not.Calls {
		atom("not", c.Key, asSet(c.Globs))
		k, _ := policy.CallKeyOf(c.Key)
		except(rule{server: pr.unionOf(c.Globs)}, k.Proof == policy.ServerNames)
	}
	for _, a := range not.Args {
		atom("not", "args", argumentKey(a.Path), asSet(a.Globs))
		except(rule{args: []argument{newArgument(p, argumentKey(a.Path), a.Path, a.Globs)}}, !policy.EveryArgument(a.Path))
	}
	r.src = &src
}

// asSet returns a text that is equal for lists with the same globs.
func asSet(globs []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(globs))), "\x03")
}

// anywhere is a condition on any argument (args."*"): globs or a constraint.
type anywhere struct {
	globs     []string // nil if the condition is a constraint
	key, text string   // key and TOML value of a constraint
}

// exampleTexts returns texts that may meet the condition.
func (w *anywhere) exampleTexts() (texts []any) {
	for _, g := range w.globs {
		texts = append(texts, unstarGlob(g))
	}
	if w.globs == nil {
		texts = exampleValues(w.key, w.text)
	}
	return texts
}

// addAnywhere adds arguments to the calls: one for each needed condition on any argument.
func (q *question) addAnywhere(all [][]value) [][]value {
	for _, d := range q.needed {
		for i := range d.rule.anywhere {
			var longer [][]value
			for _, args := range all {
				for _, text := range d.rule.anywhere[i].exampleTexts() {
					longer = append(longer, append(slices.Clone(args), value{[]string{"x"}, text}))
				}
			}
			all = append(longer, all...) // also keep the calls without the added argument, because their other arguments may already meet the condition
		}
	}
	return all[:min(len(all), maxCandidates)]
}

// askExceptions asks the question for calls that one of the avoided rules (q.avoid) does not match
// because of the exceptions of that rule. It returns found or open.
func (pr *prover) askExceptions(q question, accept func(candidate) bool) (a answer, cost int) {
	for i, d := range q.avoid {
		for k := range d.rule.excepted {
			among := q
			among.needed = append(slices.Clip(q.needed), demand{rule: &d.rule.excepted[k]})
			among.avoid = slices.Delete(slices.Clone(q.avoid), i, i+1)
			a, more := pr.askLooks(among, accept)
			if cost += more; a == found {
				return found, cost
			}
		}
	}
	return open, cost
}

// IsExcepted reports whether it is proved that rule i surely matches no call, because of its
// exceptions.
func (a *Analysis) IsExcepted(i int) bool {
	r := &a.rules[i]
	return a.isImpossible(question{needed: []demand{{rule: r}}}, r)
}

// IdleExceptions tells for each exception of rule i whether it is proved that the exception
// excludes no call. The order is: the exception of the name, the exceptions on the whole call, the
// exceptions on arguments.
func (a *Analysis) IdleExceptions(i int) []bool {
	r := a.rules[i]
	idle := make([]bool, len(r.exceptions))
	r.excepted = nil
	for k := range r.exceptions {
		e := &r.exceptions[k]
		idle[k] = !e.vague && a.isImpossible(question{needed: []demand{{&r, r.vague}, {e, true}}}, &r)
	}
	return idle
}

// isImpossible reports whether it is proved that there is no call for a question about a rule, in
// any reading.
func (a *Analysis) isImpossible(q question, about *rule) bool {
	if a.beyondText(about) {
		return false
	}
	q.subject, q.unnamed, q.doubts = about.src.Subject, true, true
	plain := a.askQuestion(q, func(candidate) bool { return true }) == impossible
	q.others = true
	return plain && a.askQuestion(q, func(candidate) bool { return true }) == impossible
}

// neededExceptions returns the exceptions of the needed rules, as rules that must not match. For a
// rule that may also match only perhaps, it leaves out the exceptions on arguments, because a call
// that is perhaps in such an exception perhaps matches the rule.
func neededExceptions(needed []demand) (ds []demand) {
	for _, d := range needed {
		for i := range d.rule.excepted {
			if e := &d.rule.excepted[i]; !d.any || e.args == nil {
				ds = append(ds, demand{rule: e})
			}
		}
	}
	return ds
}
