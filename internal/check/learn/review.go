package learn

import (
	"path"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// NarrowerRule returns a narrower form of the rule: only the files in a folder instead of all files
// below it, or the exact files and addresses instead of a folder or host. It returns false if there
// is no narrower form.
func (r *Rule) NarrowerRule() (*Rule, bool) {
	n := *r
	n.Conditions = slices.Clone(r.Conditions)
	changed := false
	for i, c := range n.Conditions {
		var globs []string
		for _, g := range c.Globs {
			if !strings.HasSuffix(g, "*") {
				globs = append(globs, g)
				continue
			}
			changed = true
			for _, text := range r.argumentTexts(c.Arg) {
				if !matchesGlob(g, text) {
					continue
				}
				if strings.HasSuffix(g, "/**") && !strings.HasPrefix(g, "http") {
					text = path.Dir(text) + "/*"
				}
				if !slices.Contains(globs, text) && isWritable(strings.TrimSuffix(text, "/*")) && len(globs) < maxTexts {
					globs = append(globs, text)
				}
			}
		}
		if len(globs) == 0 {
			return nil, false
		}
		slices.Sort(globs)
		n.Conditions[i].Globs = globs
	}
	return &n, changed
}

// maxTexts is the maximum number of globs in one condition.
const maxTexts = 50

// argumentTexts returns the values that an argument has in the calls of the rule.
func (r *Rule) argumentTexts(arg string) (all []string) {
	for _, s := range r.calls {
		for _, m := range s.args {
			if m.name == arg {
				all = append(all, m.texts...)
			}
		}
	}
	return all
}

// AskingRule returns the rule with the action prompt. It returns false if a rule of the extended
// policy already asks about these calls.
func (r *Rule) AskingRule() (*Rule, bool) {
	if r.Above != nil {
		return nil, false
	}
	n := *r
	n.Action = policy.Prompt
	return &n, true
}

// UnseenExample describes a call that the rule would match but that was not recorded. It returns ""
// if the rule matches only recorded arguments.
func (r *Rule) UnseenExample() string {
	for _, c := range r.Conditions {
		for _, g := range c.Globs {
			switch {
			case strings.HasSuffix(g, "/**") && strings.HasPrefix(g, "http"):
				return c.Arg + " = " + strings.TrimRight(g, "*") + "any/page?and=words"
			case strings.HasSuffix(g, "/**"):
				return c.Arg + " = " + strings.TrimRight(g, "*") + "any/other/file"
			case strings.HasSuffix(g, "/*"):
				return c.Arg + " = " + strings.TrimRight(g, "*") + "any_other_file"
			}
		}
	}
	if len(r.Open) > 0 {
		return strings.Join(r.Open, ", ") + " = anything"
	}
	return ""
}
