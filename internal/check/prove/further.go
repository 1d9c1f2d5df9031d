package prove

import (
	"slices"
	"strconv"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
	readings "github.com/clawai/clawai/policy/reading"
)

// An allow with conditions on arguments is a maybe for a call that has an argument
// beside them which looks like a path, a URL or a command, and a rule with args_only
// does not match one that has any (policy.Further). A rule that watches for such is
// taken to cover
//
//   - where calls are asked about that have no arguments but those that the needed
//     rules speak of, and it has no args_only: what it covers otherwise, as far as
//     their texts are surely innocent;
//   - else nothing, unless a needed rule leaves no argument that it would watch for.

// setFurther reads what a rule says of arguments that it does not name.
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

// namesArgument reports whether a rule names an argument, or what that lies in.
func (r *rule) namesArgument(path []string) bool {
	return slices.ContainsFunc(r.named, func(n []string) bool { return len(n) <= len(path) && slices.Equal(n, path[:len(n)]) })
}

// confinesRule says that a call that r surely matches has no argument that o watches for.
func (r *rule) confinesRule(o *rule) bool {
	return r.watches && (r.only || !o.only) && !slices.ContainsFunc(r.named, func(n []string) bool { return !o.namesArgument(n) })
}

// requiredPaths lists the arguments that a call must have which the rule matches.
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

// mayWatchExtras says that a rule to avoid may fail to match, or not surely match, for what
// a call has beside the arguments that it names.
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

// contradictsArguments says that it is proved: a needed rule allows no argument beside its own,
// and another one wants one.
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

// isTextual says that no text makes an argument suspicious.
func isTextual(path []string) bool {
	name := path[len(path)-1]
	return readings.SuspectReason(name, "x") == "" && readings.SuspectReason(name, "/x") == ""
}

// innocentTexts gives the language of texts that surely are, under a name; nil where all are.
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

// harmless are texts that begin as no path does, and hold nothing that makes them a
// URL, a command, a path through a parent or JSON.
var harmless = &lang{text: "\x00harmless", steps: []step{
	{loop: test{oneOf, textclass.Blanks}, leave: test{except, "/~\\.$%`[{:" + textclass.Blanks}},
	{loop: test{except, "\\.:% "}},
}}

// suspects are texts for arguments that rules above may watch for.
var suspects = []any{"..", "/x", "~/x", "https://x.example/x"}

// watchesExtras says that some rule of a question watches for further arguments.
func (q *question) watchesExtras() bool {
	return slices.ContainsFunc(slices.Concat(q.needed, q.avoid), func(d demand) bool { return d.rule.watches })
}

// extraArguments gives further arguments that rules of a question may tell apart: one that
// looks like a path, one that no rule names, and those that args_only lists.
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

// watchedArguments gives arguments that some rules watch for.
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

// unusedName gives a name, changed until no rule names it.
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
