package prove

import (
	"slices"
	"strconv"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
	readings "github.com/clawai/clawai/policy/reading"
)

// An argument that a rule does not name is a further argument. An allow with conditions on
// arguments matches only perhaps if the call has a further argument that looks like a path, a URL
// or a command. A rule with args_only does not match a call with any further argument
// (policy.Further). We say that both kinds of rules watch for further arguments. A proof treats
// such a rule as follows:
//
//   - If calls have only the arguments that the needed rules name (question.bare), and the rule has
//     no args_only, it covers a call only if the texts of the further arguments are surely innocent.
//   - Otherwise it covers nothing, unless a needed rule excludes every argument that the rule
//     watches for.

// setFurther sets the arguments that a rule names, and whether the rule has args_only.
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

// mayWatchExtras reports whether further arguments of the call may keep a rule to avoid from surely
// matching.
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

// contradictsArguments reports whether a proof exists that one needed rule
// requires an argument that another needed rule forbids.
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

// isTextual reports whether an argument is not suspicious, whatever its text: its name shows that it
// holds plain text.
func isTextual(path []string) bool {
	name := path[len(path)-1]
	return readings.SuspectReason(name, "x") == "" && readings.SuspectReason(name, "/x") == ""
}

// innocentTexts returns the texts that surely do not make an argument suspicious, or nil when no
// text does.
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

// emptyText is the language that contains only the empty text.
var emptyText = globLang("", false)

// harmless is the language of the texts that do not begin like a path and contain no character of a
// URL, a command, a path through a parent folder, or JSON.
var harmless = &lang{text: "\x00harmless", steps: []step{
	{loop: test{oneOf, textclass.Blanks}, leave: test{except, "/~\\.$%`[{:" + textclass.Blanks}},
	{loop: test{except, "\\.:% "}},
}}

// suspects are suspicious texts, for arguments that rules above may watch for.
var suspects = []any{"..", "/x", "~/x", "https://x.example/x"}

// watchesExtras reports whether a rule of the question watches for further
// arguments.
func (q *question) watchesExtras() bool {
	return slices.ContainsFunc(slices.Concat(q.needed, q.avoid), func(d demand) bool { return d.rule.watches })
}

// extraArguments lists further arguments that the rules of the question may distinguish: one with a
// name and a text that look like a path, one with a plain name and text, and those that args_only
// lists. It omits arguments that a needed rule requires.
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

// watchedArguments lists arguments that some of the rules may watch for. The first one looks like a
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

// unusedName returns a name that no rule names: name, with numbers added if necessary.
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
