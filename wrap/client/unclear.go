package client

import (
	"fmt"
	"slices"
	"strings"
)

const nextPlain = "write the key out"

// readKeys refuses an entry whose keys two readers could take differently: one
// takes the first of two, another the last; one compares keys as they are written,
// or without regard to case, another does not.
func (s *shapeReader) readKeys(n *node) {
	before := s.problem
	if s.slot.twice {
		s.refuse(s.slot.at, nextDuplicate, "the server %q is defined twice", s.slot.name)
	}
	if m := n.duplicate(); m != nil {
		s.refuse(m.start, nextDuplicate, "the key %q stands twice in the entry of %q", m.name, s.slot.name)
	}
	if m := n.find(func(m *member) bool { return m.escaped && needless(m.name) }); m != nil {
		s.refuse(m.start, nextPlain, "the key %q in the entry of %q is written with escapes", m.name, s.slot.name)
	}
	for i := range n.members {
		m := &n.members[i]
		if key := s.row.nearly(m.name); key != "" {
			s.refuse(m.start, "write it as "+quote(key)+", or take it out", "the key %q in the entry of %q differs from %q in its case alone", m.name, s.slot.name, key)
		}
	}
	s.unclear = before == nil && s.problem != nil
}

// needless: no writer has to escape any character of the name.
func needless(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"'\/`, r) })
}

// nearly is the key of what is started that a name is in another case; "" for any
// other name.
func (r Row) nearly(name string) string {
	keys := append([]string{r.commandKey(), r.argsKey(), r.envKey(), r.Nested}, r.URLFields...)
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

// find is the first member, at any depth, that a question holds for.
func (n *node) find(holds func(*member) bool) *member {
	if n == nil {
		return nil
	}
	for i := range n.members {
		if holds(&n.members[i]) {
			return &n.members[i]
		}
		if m := n.members[i].value.find(holds); m != nil {
			return m
		}
	}
	for _, item := range n.items {
		if m := item.find(holds); m != nil {
			return m
		}
	}
	return nil
}

// namesClawai says that a command somewhere in an entry is clawai.
func (r Row) namesClawai(n *node) bool {
	return n.find(func(m *member) bool {
		if !strings.EqualFold(m.name, r.commandKey()) {
			return false
		}
		words := []*node{m.value}
		if m.value.kind == listKind {
			words = m.value.items
		} else if path, _ := m.value.get("path"); path != nil {
			words = []*node{path.value}
		}
		return len(words) > 0 && words[0].kind == stringKind && isClawai(words[0].text)
	}) != nil
}

// readEnvironment reads what an entry tells its process, but for what Wrap has put
// there.
func (s *shapeReader) readEnvironment(entry *node) {
	objects := []*node{entry}
	for _, m := range []string{s.row.Nested, s.row.commandKey()} {
		if inner, _ := entry.get(m); inner != nil && inner.value.kind == objectKind {
			objects = append(objects, inner.value)
		}
	}
	for _, object := range objects {
		env, _ := object.get(s.row.envKey())
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
			if m := &v.members[i]; !s.put(m) {
				s.env = append(s.env, Variable{m.name, m.value.text})
			}
		}
	}
}

// put says that Wrap has put a variable into the environment.
func (sh *shape) put(m *member) bool {
	r := sh.remote
	if r == nil || r.original == nil {
		return false
	}
	return m == r.url || m == r.bearer || slices.ContainsFunc(r.headers, func(h header) bool { return h.member == m })
}
