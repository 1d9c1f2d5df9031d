package client

import "slices"

// slot is a place of the container where a server stands.
type slot struct {
	name  string
	path  []string
	at    int // of the name
	value *node
	twice bool // another slot has the same path
}

// parse reads a file into nodes; nil when it holds nothing.
func parse(r Row, src []byte) (*node, error) {
	if at := invalidUTF8(src); at >= 0 {
		return nil, refuse(src, at, "save the file as UTF-8", "the file is not UTF-8 text")
	}
	switch r.Format {
	case JSON, JSONC, JSON5:
		return parseJSON(src, r.Format, r.KeyPath)
	case TOML:
		return parseTOML(src)
	case YAML:
		return parseYAML(src)
	default:
		return nil, refuse(src, 0, "correct the row in the catalogue", "%q is no format", string(r.Format))
	}
}

// locate finds every server of a file.
func locate(r Row, src []byte, root *node) ([]slot, error) {
	f := finder{row: r, src: src}
	f.walk(root, r.KeyPath, nil)
	if f.err != nil {
		return nil, f.err
	}
	seen := map[string]int{}
	for i, s := range f.slots {
		key := pathKey(s.path)
		if first, twice := seen[key]; twice {
			f.slots[i].twice, f.slots[first].twice = true, true
			continue
		}
		seen[key] = i
	}
	return f.slots, nil
}

// pathKey is one text for a path; no part can imitate another.
func pathKey(path []string) string {
	key := ""
	for _, p := range path {
		key += quote(p)
	}
	return key
}

type finder struct {
	row   Row
	src   []byte
	slots []slot
	err   error
}

// walk goes down the key path. A step that is not there or null holds no
// servers; one of another kind is a file we do not understand.
func (f *finder) walk(n *node, path, walked []string) {
	switch {
	case f.err != nil || n == nil || n.kind == nullKind:
	case n.refused != "":
		f.err = refuse(f.src, n.start, nextYAML, "the way to the servers holds %s", n.refused)
	case len(path) == 0:
		f.container(n, walked)
	case n.kind != objectKind:
		f.err = refuse(f.src, n.start, "check that the file belongs to "+f.row.Name, "%s stands where an object is expected", n.kind)
	case path[0] == "*":
		if m := n.ownDuplicate(); m != nil {
			f.duplicate(m)
		}
		for _, m := range n.members {
			f.walk(m.value, path[1:], append(slices.Clip(walked), m.name))
		}
	default:
		m, twice := n.get(path[0])
		if twice {
			f.duplicate(n.last(path[0]))
		} else if m != nil {
			f.walk(m.value, path[1:], append(slices.Clip(walked), m.name))
		}
	}
}

const nextDuplicate = "remove one of the two"

func (f *finder) duplicate(m *member) {
	if f.err == nil {
		f.err = refuse(f.src, m.start, nextDuplicate, "the key %q stands twice", m.name)
	}
}

func (f *finder) container(n *node, walked []string) {
	want := objectKind
	if f.row.Container == List || f.row.Container == Tables {
		want = listKind
	}
	if n.kind != want {
		f.err = refuse(f.src, n.start, "check that the file belongs to "+f.row.Name, "%s stands where %s of servers is expected", n.kind, want)
		return
	}
	for _, m := range n.members {
		if !slices.Contains(f.row.Ignore, m.name) || f.isServer(m.value) {
			f.slots = append(f.slots, slot{name: m.name, path: append(slices.Clip(walked), m.name), at: m.start, value: m.value})
		}
	}
	for _, item := range n.items {
		s := slot{at: item.start, value: item}
		if m, _ := item.get(f.row.NameField); m != nil && m.value.kind == stringKind {
			s.name, s.at = m.value.text, m.value.start
		}
		s.path = append(slices.Clip(walked), s.name)
		f.slots = append(f.slots, s)
	}
}

func (f *finder) isServer(n *node) bool {
	m, _ := n.get(f.row.commandKey())
	return m != nil
}
