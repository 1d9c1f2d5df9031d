package prove

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// A relative path is judged as it stands and, where the folder is known at which it
// starts, as the path that it leads to. The model has calls without that folder. What
// is proved of them holds for the others, too, as long as a glob that matches the
// relative text matches the whole path as well: those with a root match no relative
// text, and **/x both. Where other globs stand beside such on an argument, one rule may
// match the text and another the path, and nothing is proved. Neither is it where a
// glob that begins with a wildcard stands beside one that has the values read as paths:
// without that one, the first is about the text alone.

// ReasonFolder is why policies are then not wholly compared.
const ReasonFolder = "relative paths, where globs for whole paths and for relative ones are on one argument"

// bridgedKeys lists the arguments on which both kinds of globs are.
func bridgedKeys(rules []*rule) (keys []string) {
	whole, part := map[string]bool{}, map[string]bool{}
	paths, wild := map[string]bool{}, map[string]bool{}
	for _, r := range rules {
		for i := range r.args {
			a := &r.args[i]
			for _, g := range a.globs {
				text := g.Forms.Forms[0].Globs[0]
				paths[a.key] = paths[a.key] || g.Forms.PathLike
				wild[a.key] = wild[a.key] || strings.IndexByte("*?", text[0]) >= 0 && text != "**" && !strings.HasPrefix(text, "**/")
				switch {
				case strings.HasPrefix(text, "${cwd}"):
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

// speaksOf reports whether a rule has a condition on one of some arguments.
func (r *rule) speaksOf(keys []string) bool {
	return slices.ContainsFunc(r.args, func(a argument) bool { return slices.Contains(keys, a.key) })
}

// isRooted reports whether a proof about the last of some rules is one about relative paths
// as well.
func isRooted(rules []rule) bool {
	last := &rules[len(rules)-1]
	var among []*rule
	for i := range rules {
		if r := &rules[i]; r.src.Subject == last.src.Subject && !areAsunder(r.name, last.name) {
			among = append(among, r)
		}
	}
	return last.src.Subject == policy.ResourceSubject || !last.speaksOf(bridgedKeys(among))
}
