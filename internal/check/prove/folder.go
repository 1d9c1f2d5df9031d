package prove

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// A policy judges a relative path as written. If it knows the folder where the path starts, it also
// judges the absolute path. A call in the model has no such folder. A proof is also valid for calls
// with a folder if every glob that matches the relative path also matches the absolute path. This
// is so for absolute globs, which match no relative path, and for **/x, which matches both. It is
// not so for a glob with two slashes in a row, because no absolute path has them.
//
// In two cases nothing is proved. First, an argument has globs of both kinds: one rule may then
// match the relative path, and another rule the absolute path. Second, an argument has a glob that
// begins with another wildcard, and also a glob about paths: then the policy reads the values as
// paths only because of the glob about paths.

// ReasonFolder is the reason of an undecided class about relative paths. Nothing is proved about
// these paths, because of the globs on an argument (bridgedKeys).
const ReasonFolder = "relative paths, where globs for whole paths and for relative ones are on one argument"

// bridgedKeys returns the keys of the arguments for which nothing can be proved about relative
// paths, because of the kinds of globs on them. If one glob in the policy is about paths, all rules
// read the argument as a path.
func bridgedKeys(rules, policy []*rule) (keys []string) {
	whole, part := map[string]bool{}, map[string]bool{}
	paths, wild := map[string]bool{}, map[string]bool{}
	for _, r := range policy {
		for i := range r.args {
			for _, g := range r.args[i].globs {
				paths[r.args[i].key] = paths[r.args[i].key] || g.Forms.PathLike
			}
		}
	}
	for _, r := range rules {
		for i := range r.args {
			a := &r.args[i]
			for _, g := range a.globs {
				text := g.Forms.Forms[0].Globs[0]
				wild[a.key] = wild[a.key] || strings.IndexByte("*?", text[0]) >= 0 && text != "**" && !strings.HasPrefix(text, "**/")
				switch {
				case strings.HasPrefix(text, "${cwd}"), strings.Contains(strings.Replace(text, "://", "", 1), "//"):
					whole[a.key], part[a.key] = true, true
				case g.Absolute, strings.HasPrefix(text, "**/"):
					whole[a.key] = true
				case text != "**" && !a.hasGlob("**/"+text):
					part[a.key] = true
				}
			}
		}
	}
	for key := range paths {
		if (whole[key] && part[key] || paths[key] && wild[key]) && key != resourceKey {
			keys = append(keys, key)
		}
	}
	return keys
}

func (a *argument) hasGlob(glob string) bool {
	return slices.ContainsFunc(a.globs, func(g shape) bool { return g.Forms.Forms[0].Globs[0] == glob })
}

// hasConditionOn reports whether the rule has a condition on one of the arguments.
func (r *rule) hasConditionOn(keys []string) bool {
	return slices.ContainsFunc(r.args, func(a argument) bool { return slices.Contains(keys, a.key) })
}

// isRooted reports whether a proof about rule i and the rules above it is also valid for relative
// paths.
func isRooted(rules []rule, i int) bool {
	r := &rules[i]
	var above, all []*rule
	for k := range rules {
		o := &rules[k]
		if o.src.Subject != r.src.Subject {
			continue
		}
		all = append(all, o)
		if k <= i && !areAsunder(o.name, r.name) {
			above = append(above, o)
		}
	}
	return r.src.Subject == policy.ResourceSubject || !r.hasConditionOn(bridgedKeys(above, all))
}
