package prove

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// A relative path is judged as written and, if the folder where it starts is
// known, as the path that it leads to. Calls in the model have no such folder.
// A proof also holds for calls with a folder if every glob that matches the
// relative text matches the whole path as well: globs with a root match no
// relative text, and **/x matches both. If an argument has other globs beside
// these, one rule may match the text and another the path, and nothing is
// proved. Nothing is proved either if a glob that begins with a wildcard stands
// beside a glob that has the values read as paths: without the second glob, the
// first is about the text alone.

// ReasonFolder is the reason of such an incomplete comparison.
const ReasonFolder = "relative paths, where globs for whole paths and for relative ones are on one argument"

// bridgedKeys lists the arguments that have both kinds of globs.
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

// speaksOf reports whether a rule has a condition on one of the arguments.
func (r *rule) speaksOf(keys []string) bool {
	return slices.ContainsFunc(r.args, func(a argument) bool { return slices.Contains(keys, a.key) })
}

// isRooted reports whether a proof about the last of the rules also holds for
// relative paths.
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
