package prove

import (
	"slices"
	"strconv"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
	readings "github.com/clawai/clawai/policy/reading"
)

// An allow with conditions on arguments matches only perhaps if the call has a
// further argument that looks like a path, a URL or a command. A rule with
// args_only does not match a call with any further argument (policy.Further).
// Such rules watch for further arguments. A rule that watches is taken to
// cover:
//
//   - if calls have only the arguments that the needed rules name, and the
//     rule has no args_only: the calls it would cover otherwise, as far as
//     their texts are surely innocent;
//   - else nothing, unless a needed rule excludes every argument that it
//     would watch for.

// setFurther reads a rule's conditions on arguments that it does not name.
func (r *rule) setFurther(src *policy.Source) {
	r.only = src.Further.Only
	for _, a := range src.Args {
		r.named = append(r.named, a.Path)
	}
	for _, w := range src.Where {
		r.named = append(r.named, w.Path)
	}
	for _, a := range src.Not.Args {
		if !policy.EveryArgument(a.Path) {
			r.named = append(r.named, a.Path)
		}
	}
	for _, name := range src.Further.Names {
		r.named = append(r.named, []string{name})
	}
}

// namesArgument reports whether a rule names an argument or an object that
// contains the argument.
func (r *rule) namesArgument(path []string) bool {
	return slices.ContainsFunc(r.named, func(n []string) bool { return len(n) <= len(path) && slices.Equal(n, path[:len(n)]) })
}

// confinesRule reports whether no call that r certainly matches can have an argument that o watches
// for.
func (r *rule) confinesRule(o *rule) bool {
	return r.watches && (r.only || !o.only) && !slices.ContainsFunc(r.named, func(n []string) bool { return !o.namesArgument(n) })
}

// requiredPaths lists the arguments that every matching call must have.
func (r *rule) requiredPaths() (paths [][]string) {
	for _, a := range r.src.Args {
		paths = append(paths, a.Path)
	}
	for _, w := range r.src.Where {
		if w.Key != "present" || w.Text != "false" {
			paths = append(paths, w.Path)
		}
	}
	return paths
}

// mayWatchExtras reports whether a rule to avoid may fail to match surely
// because the call has arguments that the rule does not name.
func (a *asked) mayWatchExtras(r *rule) bool {
	if !r.watches {
		return false
	}
	if slices.ContainsFunc(a.needed, func(d demand) bool { return !d.any && d.rule.confinesRule(r) }) {
		return false
	}
	if !a.bare || r.only {
		return true
	}
	for _, d := range a.needed {
		for _, path := range d.rule.requiredPaths() {
			if !r.namesArgument(path) && !slices.Contains(a.keys, argumentKey(path)) && !isTextual(path) {
				return true
			}
		}
	}
	return false
}

// contradictsArguments reports whether a proof exists that one needed rule
// requires an argument that another needed rule forbids.
func (a *asked) contradictsArguments() bool {
	for _, d := range a.needed {
		for _, e := range a.needed {
			if d.rule.only && slices.ContainsFunc(e.rule.requiredPaths(), func(path []string) bool { return !d.rule.namesArgument(path) }) {
				return true
			}
		}
	}
	return false
}

// isTextual reports whether no text makes an argument suspicious.
func isTextual(path []string) bool {
	name := path[len(path)-1]
	return readings.SuspectReason(name, "x") == "" && readings.SuspectReason(name, "/x") == ""
}

// innocentTexts returns the language of surely innocent texts for an argument;
// nil when all texts are innocent.
func innocentTexts(path []string) union {
	name := path[len(path)-1]
	switch {
	case isTextual(path):
		return nil
	case readings.SuspectReason(name, "x") != "":
		return union{none}
	}
	return union{none, harmless}
}

var none = globLang("", false)

// harmless holds texts that do not begin like a path and contain nothing that
// makes them a URL, a command, a path through a parent folder, or JSON.
var harmless = &lang{text: "\x00harmless", steps: []step{
	{loop: test{oneOf, textclass.Blanks}, leave: test{except, "/~\\.$%`[{:" + textclass.Blanks}},
	{loop: test{except, "\\.:% "}},
}}

// suspects are texts for arguments that rules above may watch for.
var suspects = []any{"..", "/x", "~/x", "https://x.example/x"}

// watchesExtras reports whether a rule of the question watches for further
// arguments.
func (q *question) watchesExtras() bool {
	return slices.ContainsFunc(slices.Concat(q.needed, q.avoid), func(d demand) bool { return d.rule.watches })
}

// extraArguments lists further arguments that rules of a question may
// distinguish: one that looks like a path, one that no rule names, and those
// that args_only lists.
func (q *question) extraArguments() (all [][]value) {
	var rules []*rule
	for _, d := range slices.Concat(q.needed, q.avoid) {
		rules = append(rules, d.rule)
	}
	for _, v := range watchedArguments(rules) {
		if !slices.ContainsFunc(q.needed, func(d demand) bool {
			return slices.ContainsFunc(d.rule.requiredPaths(), func(p []string) bool { return p[0] == v.path[0] })
		}) {
			all = append(all, []value{v})
		}
	}
	return all
}

// watchedArguments lists arguments that the rules may watch for.
func watchedArguments(rules []*rule) []value {
	all := []value{{[]string{unusedName("another_path", rules)}, "/another"}, {[]string{unusedName("another", rules)}, "x"}}
	for _, r := range rules {
		for _, name := range r.src.Further.Names {
			v := value{[]string{name}, "x"}
			if !slices.ContainsFunc(all, func(o value) bool { return o.path[0] == name }) {
				all = append(all, v)
			}
		}
	}
	return all
}

// unusedName returns name, extended until no rule names it.
func unusedName(name string, rules []*rule) string {
	for n := 2; ; n++ {
		if !slices.ContainsFunc(rules, func(r *rule) bool {
			return r.namesArgument([]string{name, ""}) || slices.ContainsFunc(r.named, func(p []string) bool { return p[0] == name })
		}) {
			return name
		}
		name += strconv.Itoa(n)
	}
}
