package learn

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// shapeRule returns the rule that is learned from one call, or the reason why there is none.
func (l *Learner) shapeRule(t *tool, s *sighting, folders []folder) (*Rule, string) {
	r := &Rule{Subject: s.call.Subject, Name: s.call.Names[0], Server: s.call.Server, Above: s.rule, Class: t.class, asked: s.asked, links: l.o.Links}
	if r.Subject == policy.ResourceSubject {
		var why string
		r.Name, why = l.generaliseText(r.Name, folders)
		return r, why
	}
	present := map[string]bool{}
	for i := range s.args {
		m := &s.args[i]
		present[m.name] = true
		switch {
		case t.class == Executes:
			c, why := l.pinArgument(m)
			if why != "" {
				return nil, why
			}
			r.Conditions = append(r.Conditions, c)
		case t.places[m.name]:
			c := Condition{Arg: m.name}
			if len(m.texts) == 0 || m.redacted {
				return nil, "an argument that says where, and cannot be named"
			}
			for _, text := range m.texts {
				glob, why := l.generaliseText(text, folders)
				if why != "" {
					return nil, why
				}
				if !slices.Contains(c.Globs, glob) {
					c.Globs = append(c.Globs, glob)
				}
			}
			slices.Sort(c.Globs)
			r.Conditions = append(r.Conditions, c)
		}
	}
	// The rule forbids some arguments that this call does not have but other calls of the tool
	// have: all of them if the tool executes, otherwise those that hold a path or an address.
	must := t.places
	if t.class == Executes {
		must = t.names
	}
	for _, name := range slices.Sorted(maps.Keys(must)) {
		if !present[name] {
			r.Absent = append(r.Absent, name)
		}
	}
	slices.SortFunc(r.Conditions, func(a, b Condition) int { return cmp.Compare(a.Arg, b.Arg) })
	return r, ""
}

// pinArgument returns the condition that an argument has exactly its recorded value. The result why
// is the reason why no rule is learned, or "".
func (l *Learner) pinArgument(m *member) (c Condition, why string) {
	c.Arg = m.name
	switch {
	case m.redacted:
		return c, "a secret, or a long text, in what executes"
	case m.word != "":
		c.Globs = []string{m.word}
	case len(m.texts) == 1 && m.value[0] == '"' && isWritable(m.texts[0]):
		c.Globs = m.texts
	default:
		return c, "an argument of what executes that no rule can name exactly"
	}
	if m.isPlace() {
		_, why = l.protected.parseLocation(m.texts[0])
	}
	return c, why
}

// generaliseText returns the glob for a path or an address: its folder if enough files were seen
// there, its host, or the text itself.
func (l *Learner) generaliseText(text string, folders []folder) (glob, why string) {
	p, why := l.protected.parseLocation(text)
	switch {
	case why != "":
		return "", why
	case p.glob != "":
		return p.glob, ""
	}
	for i := range folders {
		if folders[i].containsLocation(&p) && p.root != "file:///" { // not for file URIs, because no list of globs can deny all spellings of the keys in the folder
			return folders[i].globText(), ""
		}
	}
	return p.text, ""
}

// matchesSighting reports whether a call of the rule's tool meets all conditions of the rule.
func (r *Rule) matchesSighting(s *sighting) bool {
	if r.Subject == policy.ResourceSubject {
		return matchesGlob(r.Name, s.call.Names[0])
	}
	if slices.ContainsFunc(s.args, func(m member) bool { return slices.Contains(r.Absent, m.name) }) {
		return false
	}
	for _, c := range r.Conditions {
		i := slices.IndexFunc(s.args, func(m member) bool { return m.name == c.Arg })
		if i < 0 {
			return false
		}
		texts := s.args[i].texts
		if s.args[i].word != "" {
			texts = []string{s.args[i].word}
		}
		for _, text := range texts {
			if !slices.ContainsFunc(c.Globs, func(g string) bool { return matchesGlob(g, text) }) {
				return false
			}
		}
	}
	return true
}

// matchesGlob reports whether a text matches a learned glob: an exact text, FOLDER/*, or FOLDER/**.
func matchesGlob(glob, text string) bool {
	if dir, ok := strings.CutSuffix(glob, "/**"); ok {
		return strings.HasPrefix(text, dir+"/")
	}
	if dir, ok := strings.CutSuffix(glob, "/*"); ok {
		rest, below := strings.CutPrefix(text, dir+"/")
		return below && !strings.Contains(rest, "/")
	}
	return glob == text
}
