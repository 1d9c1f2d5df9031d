package learn

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

const guardWords = "Keys and secrets stay shut"

// secretDenials returns rules for a new policy that deny access to keys. There is one rule for each
// argument for which a learned rule names a folder.
func secretDenials(rules []*Rule, st style) (parts []string) {
	var seen, denied []string
	for _, glob := range secretGlobs() {
		denied = append(denied, "**/"+glob)
	}
	for _, r := range rules {
		for _, c := range r.Conditions {
			if r.Subject != policy.ToolSubject || slices.Contains(seen, c.Arg) || !slices.ContainsFunc(c.Globs, isFolder) {
				continue
			}
			seen = append(seen, c.Arg)
			parts = append(parts, st.writePairs([]policytext.Pair{
				st.makePair("action", "deny"), st.makePair("tool", "*"),
				st.makePair(policytext.DottedKey("args", c.Arg), denied...), st.makePair("description", guardWords),
			}))
		}
	}
	return parts
}

// folderDenials returns rules that deny access to keys in the folders of the learned rules. It
// leaves out a rule if the extended policy already denies the access. The returned rules go above
// the learned rules. They change only the answers to calls that the policy asked about or had no
// rule for.
func (l *Learner) folderDenials(rules []*Rule, st style) (parts []string) {
	for _, r := range rules {
		for _, c := range r.Conditions {
			var globs []string
			for _, g := range c.Globs {
				if isFolder(g) && r.Action == policy.Allow && r.Subject == policy.ToolSubject && !l.deniesSecrets(r, c.Arg, g) {
					for _, glob := range secretGlobs() {
						globs = append(globs, strings.TrimRight(g, "*")+"**"+strings.TrimLeft(glob, "*"))
					}
				}
			}
			if len(globs) == 0 {
				continue
			}
			parts = append(parts, st.writePairs([]policytext.Pair{
				st.makePair("action", "deny"), st.makePair("tool", r.Name), st.makePair("server", r.Server),
				st.makePair(policytext.DottedKey("args", c.Arg), globs...), st.makePair("description", guardWords),
			}))
		}
	}
	return parts
}

// deniesSecrets reports whether the extended policy denies access to the keys in a folder.
func (l *Learner) deniesSecrets(r *Rule, arg, glob string) bool {
	dir := strings.TrimRight(glob, "*")
	for _, glob := range secretGlobs() {
		name := strings.NewReplacer("**", "x", "*", "x").Replace(glob)
		args, _ := json.Marshal(map[string]string{arg: dir + name}) // the error is ignored, because strings can always be encoded
		c := r.calls[0].call
		c.Args = args
		if d := l.judge.Policy().Decide(&c); d.Action != policy.Deny || d.Rule == nil {
			return false
		}
	}
	return true
}

func isFolder(glob string) bool {
	return strings.HasSuffix(glob, "*") && !strings.HasPrefix(glob, "http")
}
