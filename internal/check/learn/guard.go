package learn

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

const guardWords = "Keys and secrets stay shut"

// secretDenials gives the rules of a new policy that keep keys shut: for every
// argument that some rule names folders of.
func secretDenials(rules []*Rule, st style) (parts []string) {
	var seen, shut []string
	for _, glob := range secretGlobs() {
		shut = append(shut, "**/"+glob)
	}
	for _, r := range rules {
		for _, c := range r.Conditions {
			if r.Subject != policy.ToolSubject || slices.Contains(seen, c.Arg) || !slices.ContainsFunc(c.Globs, isFolder) {
				continue
			}
			seen = append(seen, c.Arg)
			parts = append(parts, st.writePairs([]policytext.Pair{
				st.makePair("action", "deny"), st.makePair("tool", "*"),
				st.makePair(policytext.DottedKey("args", c.Arg), shut...), st.makePair("description", guardWords),
			}))
		}
	}
	return parts
}

// inFolders gives rules that keep keys shut in the folders that rules open, where
// the policy that is extended does not deny them already. They stand above those
// rules, deny, and so take nothing away that the policy did not ask about or
// leave to others.
func (l *Learner) inFolders(rules []*Rule, st style) (parts []string) {
	for _, r := range rules {
		for _, c := range r.Conditions {
			var globs []string
			for _, g := range c.Globs {
				if isFolder(g) && r.Action == policy.Allow && r.Subject == policy.ToolSubject && !l.keptShut(r, c.Arg, g) {
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

// keptShut says that the policy denies by itself what keys are called in a folder.
func (l *Learner) keptShut(r *Rule, arg, glob string) bool {
	dir := strings.TrimRight(glob, "*")
	for _, glob := range secretGlobs() {
		name := strings.NewReplacer("**", "x", "*", "x").Replace(glob)
		args, _ := json.Marshal(map[string]string{arg: dir + name}) // texts always can be
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
