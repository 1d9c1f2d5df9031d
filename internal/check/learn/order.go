package learn

import (
	"cmp"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// orderRules sorts the rules, because the first rule that matches decides. A rule that asks goes
// above each rule that allows some of the same calls. There is one exception: a rule that allows
// only a part of the calls of the asking rule stays above the asking rule.
func (l *Learner) orderRules(rules []*Rule) []*Rule {
	ordered := slices.Clone(rules)
	for i, r := range ordered {
		if r.Action != policy.Prompt {
			continue
		}
		at := slices.IndexFunc(ordered[:i], func(o *Rule) bool {
			return o.Action != policy.Prompt && l.overlaps(r, o) && !l.covers(r, o)
		})
		if at >= 0 {
			ordered = slices.Insert(slices.Delete(ordered, i, i+1), at, r)
		}
	}
	return ordered
}

// meetsOtherAction reports whether a rule with another action matches some calls that r matches.
func (l *Learner) meetsOtherAction(r *Rule, all []*Rule) bool {
	return slices.ContainsFunc(all, func(o *Rule) bool { return o.Action != r.Action && l.overlaps(r, o) })
}

// compareRules sorts rules by server and subject. Among the rules with the same server and subject,
// those that allow come first. Among the rules for one tool, the narrowest comes first.
func (l *Learner) compareRules(a, b *Rule) int {
	return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Subject, b.Subject), cmp.Compare(b.Action, a.Action),
		cmp.Compare(b.Class, a.Class), cmp.Compare(a.toolName(), b.toolName()), cmp.Compare(len(b.Conditions), len(a.Conditions)),
		cmp.Compare(l.depthOf(b), l.depthOf(a)), cmp.Compare(a.ruleKey(), b.ruleKey()))
}

// toolName returns a name that is equal for rules about the same tool. For a resource it is "",
// because a resource's name is a location.
func (r *Rule) toolName() string {
	if r.Subject == policy.ResourceSubject {
		return ""
	}
	return r.Name
}

// globConditions returns the conditions of a rule. A rule about a resource has its name as the only
// condition.
func (r *Rule) globConditions() []Condition {
	if r.Subject == policy.ResourceSubject {
		return []Condition{{Globs: []string{r.Name}}}
	}
	return r.Conditions
}

func (r *Rule) globsOf(arg string) ([]string, bool) {
	for _, c := range r.globConditions() {
		if c.Arg == arg {
			return c.Globs, true
		}
	}
	return nil, false
}

// overlaps reports whether two rules may match the same call.
func (l *Learner) overlaps(a, b *Rule) bool {
	if a.Server != b.Server || a.Subject != b.Subject || a.toolName() != b.toolName() || a.Above != b.Above {
		return false
	}
	needs := func(r *Rule, absent []string) bool {
		return slices.ContainsFunc(r.Conditions, func(c Condition) bool { return slices.Contains(absent, c.Arg) })
	}
	if needs(a, b.Absent) || needs(b, a.Absent) {
		return false
	}
	for _, c := range a.globConditions() {
		globs, ok := b.globsOf(c.Arg)
		if ok && !slices.ContainsFunc(c.Globs, func(g string) bool {
			return slices.ContainsFunc(globs, func(h string) bool { return l.placeOf(g).overlaps(l.placeOf(h)) })
		}) {
			return false
		}
	}
	return true
}

// covers reports whether the first rule (wide) matches every call that the second rule (narrow)
// matches. Both rules must be for the same tool.
func (l *Learner) covers(wide, narrow *Rule) bool {
	if slices.ContainsFunc(wide.Absent, func(arg string) bool { return !slices.Contains(narrow.Absent, arg) }) {
		return false
	}
	for _, c := range wide.globConditions() {
		globs, ok := narrow.globsOf(c.Arg)
		if !ok || slices.ContainsFunc(globs, func(g string) bool {
			return !slices.ContainsFunc(c.Globs, func(w string) bool { return l.placeOf(w).covers(l.placeOf(g)) })
		}) {
			return false
		}
	}
	return true
}

// depthOf returns the depth of a rule's folders. If one rule covers another, the covered rule has
// the same or a larger depth.
func (l *Learner) depthOf(r *Rule) (sum int) {
	for _, c := range r.globConditions() {
		least := l.placeOf(c.Globs[0]).depth()
		for _, g := range c.Globs[1:] {
			least = min(least, l.placeOf(g).depth())
		}
		sum += least
	}
	return sum
}

// place is the meaning of a learned glob. Two globs for the same files have equal places, even if
// one is an absolute path, a path below "~/" or a file URI.
type place struct {
	root  string   // "/", "~/" if the home is unknown, scheme://authority, or "" for other text
	names []string // elements of the path below the root
	stars string   // wildcard at the end: "", "*" or "**"
}

func (l *Learner) placeOf(glob string) place {
	if p, ok := l.places[glob]; ok {
		return p
	}
	dir := strings.TrimRight(glob, "*")
	p := place{stars: glob[len(dir):]}
	if p.stars != "" {
		dir = strings.TrimSuffix(dir, "/")
	}
	scheme, rest, isURL := strings.Cut(dir, "://")
	switch {
	case strings.HasPrefix(dir, "file:///"):
		p.root, dir = "/", dir[len("file:///"):]
	case isURL:
		authority, below, _ := strings.Cut(rest, "/")
		p.root, dir = scheme+"://"+authority, below
	case strings.HasPrefix(dir, "~/") && l.protected.home != nil:
		p.root, dir = "/", strings.Join(l.protected.home, "/")+dir[1:]
	case strings.HasPrefix(dir, "~/"):
		p.root, dir = "~/", dir[2:]
	case strings.HasPrefix(dir, "/"):
		p.root, dir = "/", dir[1:]
	}
	if dir != "" {
		p.names = strings.Split(dir, "/")
	}
	l.places[glob] = p
	return p
}

func (p place) depth() int {
	if p.stars == "*" {
		return 2*len(p.names) + 1
	}
	return 2 * len(p.names)
}

func (p place) covers(q place) bool {
	n := len(p.names)
	if p.root != q.root || len(q.names) < n || !slices.Equal(p.names, q.names[:n]) {
		return false
	}
	switch below := len(q.names) - n; p.stars {
	case "":
		return below == 0 && q.stars == ""
	case "*":
		return below == 1 && q.stars == "" || below == 0 && q.stars == "*"
	default:
		return below > 0 || q.stars != ""
	}
}

// overlaps reports whether two places may have a file in common. Two learned globs with the same
// root have a file in common only if one of them covers the other.
func (p place) overlaps(q place) bool {
	if p.root != q.root && (p.root == "~/" && q.root == "/" || p.root == "/" && q.root == "~/") {
		return true
	}
	return p.covers(q) || q.covers(p)
}
