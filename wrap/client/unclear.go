package client

import (
	"fmt"
	"slices"
	"strings"
)

const nextPlain = "write the key out"

// readKeys adds a problem if two programs could read a key of the entry differently. If two keys
// are equal, some programs take the first key and others the last. Some programs do not decode
// escapes in keys, or ignore the case of keys.
func (s *shapeReader) readKeys(n *node) {
	before := s.problem
	if s.slot.twice {
		s.keepProblem(s.slot.at, nextDuplicate, "the server %q is defined twice", s.slot.name)
	}
	if m := n.findDuplicate(); m != nil {
		s.keepProblem(m.start, nextDuplicate, "the key %q is there twice in the entry of %q", m.name, s.slot.name)
	}
	if m := n.findDeepMember(func(m *member) bool { return m.escaped && needsNoEscape(m.name) }); m != nil {
		s.keepProblem(m.start, nextPlain, "the key %q in the entry of %q is written with escapes", m.name, s.slot.name)
	}
	for i := range n.members {
		m := &n.members[i]
		if key := s.row.matchKeyFold(m.name); key != "" {
			s.keepProblem(m.start, "write it as "+quoteText(key)+", or take it out", "the key %q in the entry of %q differs from %q in its case alone", m.name, s.slot.name, key)
		}
	}
	s.unclear = before == nil && s.problem != nil
}

// needsNoEscape reports whether a name has only characters that no program escapes.
func needsNoEscape(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"'\/`, r) })
}

// matchKeyFold returns the key of the command, arguments, environment or url that differs from name
// only in case; "" if there is none.
func (r Row) matchKeyFold(name string) string {
	keys := append([]string{r.commandKey(), r.argsKey(), r.envKey(), r.Nested, r.SandboxField}, r.URLFields...)
	if slices.Contains(keys, name) {
		return ""
	}
	for _, key := range keys {
		if key != "" && strings.EqualFold(key, name) {
			return key
		}
	}
	return ""
}

// findDeepMember returns the first member m, at any depth, for which holds(m) is true.
func (n *node) findDeepMember(holds func(*member) bool) *member {
	if n == nil {
		return nil
	}
	for i := range n.members {
		if holds(&n.members[i]) {
			return &n.members[i]
		}
		if m := n.members[i].value.findDeepMember(holds); m != nil {
			return m
		}
	}
	for _, item := range n.items {
		if m := item.findDeepMember(holds); m != nil {
			return m
		}
	}
	return nil
}

// namesClawai reports whether some command inside the entry is clawai.
func (r Row) namesClawai(n *node) bool {
	return n.findDeepMember(func(m *member) bool {
		if !strings.EqualFold(m.name, r.commandKey()) {
			return false
		}
		words := []*node{m.value}
		if m.value.kind == listKind {
			words = m.value.items
		} else if path, _ := m.value.findMember("path"); path != nil {
			words = []*node{path.value}
		}
		return len(words) > 0 && words[0].kind == stringKind && isClawai(words[0].text)
	}) != nil
}

// readEnvironment reads the environment of an entry's process, without the variables that Wrap
// added.
func (s *shapeReader) readEnvironment(entry *node) {
	objects := []*node{entry}
	for _, m := range []string{s.row.Nested, s.row.commandKey()} {
		if inner, _ := entry.findMember(m); inner != nil && inner.value.kind == objectKind {
			objects = append(objects, inner.value)
		}
	}
	for _, object := range objects {
		env, _ := object.findMember(s.row.envKey())
		if env == nil || env.value.kind == nullKind {
			continue
		}
		v := env.value
		if v.kind == listKind && len(v.items) == 0 {
			continue
		}
		if v.kind != objectKind || v.refused != "" {
			if s.mixed == nil {
				s.mixed = &fault{v.start, "write it out as names and values", fmt.Sprintf("what the %s of %q sets cannot be told", env.name, s.slot.name)}
			}
			continue
		}
		for i := range v.members {
			s.environment = append(s.environment, &v.members[i])
			if m := &v.members[i]; !s.isAddedVariable(m) {
				s.env = append(s.env, Variable{m.name, m.value.text})
			}
		}
	}
}

// isAddedVariable reports whether Wrap added a variable to the environment.
func (sh *shape) isAddedVariable(m *member) bool {
	r := sh.remote
	if r == nil || r.original == nil {
		return false
	}
	return m == r.url || m == r.bearer || slices.ContainsFunc(r.headers, func(h header) bool { return h.member == m })
}
