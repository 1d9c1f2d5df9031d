package client

import "slices"

// slot is the place of one server in the container.
type slot struct {
	name  string
	path  []string
	at    int // offset of the name
	value *node
	twice bool // another slot has the same path
	// beside is the object in which the container is a member; nil if the container is the root.
	beside *node
}

// parseFile reads a file into nodes. It returns nil if the file is empty.
func parseFile(r Row, src []byte) (*node, error) {
	if at := invalidUTF8(src); at >= 0 {
		return nil, newEditError(src, at, "save the file as UTF-8", "the file is not UTF-8 text")
	}
	switch r.Format {
	case JSON, JSONC, JSON5:
		return (&jsonReader{src: src, format: r.Format, beside: r.SandboxRules}).readFile(r.KeyPath)
	case TOML:
		return parseTOML(src)
	case YAML:
		return parseYAML(src)
	default:
		return nil, newEditError(src, 0, "correct the row in the catalogue", "%q is not a format", string(r.Format))
	}
}

func locateServers(r Row, src []byte, root *node) ([]slot, error) {
	f := finder{row: r, src: src}
	f.walkKeyPath(root, r.KeyPath, nil)
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

// pathKey returns a text for a path. The names in it are quoted, so different paths have different
// texts.
func pathKey(path []string) string {
	key := ""
	for _, p := range path {
		key += quoteText(p)
	}
	return key
}

type finder struct {
	row   Row
	src   []byte
	slots []slot
	err   error

	beside *node // the object in which the container is a member
}

// walkKeyPath follows the key path from n. walked are the keys from the root to n. If a value on
// the path is missing or null, the file has no servers. If a value has a wrong kind, walkKeyPath
// sets f.err.
func (f *finder) walkKeyPath(n *node, path, walked []string) {
	switch {
	case f.err != nil || n == nil || n.kind == nullKind:
	case n.refused != "":
		f.err = newEditError(f.src, n.start, nextYAML, "the way to the servers holds %s", n.refused)
	case len(path) == 0:
		f.readContainer(n, walked)
	case n.kind != objectKind:
		f.err = newEditError(f.src, n.start, "check that the file belongs to "+f.row.Name, "%s stands where an object is expected", n.kind)
	case path[0] == "*":
		if m := n.ownDuplicate(); m != nil {
			f.refuseDuplicate(m)
		}
		for _, m := range n.members {
			f.walkKeyPath(m.value, path[1:], append(slices.Clip(walked), m.name))
		}
	default:
		f.beside = n
		m, twice := n.findMember(path[0])
		if twice {
			f.refuseDuplicate(n.lastMember(path[0]))
		} else if m != nil {
			f.walkKeyPath(m.value, path[1:], append(slices.Clip(walked), m.name))
		}
	}
}

const nextDuplicate = "remove one of the two"

func (f *finder) refuseDuplicate(m *member) {
	if f.err == nil {
		f.err = newEditError(f.src, m.start, nextDuplicate, "the key %q is there twice", m.name)
	}
}

func (f *finder) readContainer(n *node, walked []string) {
	want := objectKind
	if f.row.Container == List || f.row.Container == Tables {
		want = listKind
	}
	if n.kind != want {
		f.err = newEditError(f.src, n.start, "check that the file belongs to "+f.row.Name, "%s stands where %s of servers is expected", n.kind, want)
		return
	}
	for _, m := range n.members {
		if !slices.Contains(f.row.Ignore, m.name) || f.isServer(m.value) {
			f.slots = append(f.slots, slot{name: m.name, path: append(slices.Clip(walked), m.name), at: m.start, value: m.value, beside: f.beside})
		}
	}
	for _, item := range n.items {
		s := slot{at: item.start, value: item}
		if m, _ := item.findMember(f.row.NameField); m != nil && m.value.kind == stringKind {
			s.name, s.at = m.value.text, m.value.start
		}
		s.path = append(slices.Clip(walked), s.name)
		f.slots = append(f.slots, s)
	}
}

func (f *finder) isServer(n *node) bool {
	m, _ := n.findMember(f.row.commandKey())
	return m != nil
}
