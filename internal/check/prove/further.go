package prove

import (
	"slices"
	"strconv"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
	readings "github.com/clawai/clawai/policy/reading"
)

// A further argument is an argument that a rule does not name. If a call has a further argument
// that looks like a path, a URL or a command, a rule that allows and has conditions on arguments
// matches it only perhaps. A rule with args_only does not match a call with any further argument
// (policy.Further). In this package, both kinds of rules watch for further arguments. A proof
// treats such a rule in one of two ways:
//
// - If calls only have arguments that the needed rules name (question.bare), and the rule has no
// args_only, the rule covers a call only if the texts of its further arguments are surely innocent.
//
// - Otherwise the rule covers nothing, unless a needed rule excludes every argument for which it
// watches.

// setFurther sets the fields of a rule about further arguments: the arguments that it names, and
// whether it has args_only.
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

// namesArgument reports whether a rule names an argument, or an object around the argument.
func (r *rule) namesArgument(path []string) bool {
	return slices.ContainsFunc(r.named, func(n []string) bool { return len(n) <= len(path) && slices.Equal(n, path[:len(n)]) })
}

// confinesRule reports whether no call that r surely matches can have an argument for which o
// watches.
func (r *rule) confinesRule(o *rule) bool {
	return r.watches && (r.only || !o.only) && !slices.ContainsFunc(r.named, func(n []string) bool { return !o.namesArgument(n) })
}

// requiredPaths returns the paths of the arguments that every matching call must have.
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

// mayWatchExtras reports whether further arguments of the call may have the effect that rule r does
// not surely match. r is a rule that must not match.
func (a *inquiry) mayWatchExtras(r *rule) bool {
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

// contradictsArguments reports whether it is proved that a needed rule requires an argument that
// another needed rule forbids.
func (a *inquiry) contradictsArguments() bool {
	for _, d := range a.needed {
		for _, e := range a.needed {
			if d.rule.only && slices.ContainsFunc(e.rule.requiredPaths(), func(path []string) bool { return !d.rule.namesArgument(path) }) {
				return true
			}
		}
	}
	return false
}

// isTextual reports whether an argument is never suspicious, because its name shows that it holds
// plain text.
func isTextual(path []string) bool {
	name := path[len(path)-1]
	return readings.SuspectReason(name, "x") == "" && readings.SuspectReason(name, "/x") == ""
}

// innocentTexts returns the texts for which an argument is surely not suspicious; nil if there are
// none.
func innocentTexts(path []string) union {
	name := path[len(path)-1]
	switch {
	case isTextual(path):
		return nil
	case readings.SuspectReason(name, "x") != "":
		return union{emptyText}
	}
	return union{emptyText, harmless}
}

// emptyText contains only the empty text.
var emptyText = globLang("", false)

// harmless contains the texts that do not begin like a path and have no character of a URL, a
// command, a path through a parent folder, or JSON.
var harmless = &lang{text: "\x00harmless", steps: []step{
	{loop: test{oneOf, textclass.Blanks}, leave: test{except, "/~\\.$%`[{:" + textclass.Blanks}},
	{loop: test{except, "\\.:% "}},
}}

// suspects are suspicious texts for further arguments.
var suspects = []any{"..", "/x", "~/x", "https://x.example/x"}

// watchesExtras reports whether some rule of the question watches for further arguments.
func (q *question) watchesExtras() bool {
	return slices.ContainsFunc(slices.Concat(q.needed, q.avoid), func(d demand) bool { return d.rule.watches })
}

// extraArguments returns further arguments that the rules of the question may distinguish: one with
// a suspicious name and text, one with a plain name and text, and arguments that rules with
// args_only name. It leaves out arguments that a needed rule requires.
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

// watchedArguments returns arguments for which some rules may watch. The first one looks like a
// path.
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

// unusedName returns a name that no rule names: name itself, or name with a number added.
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
