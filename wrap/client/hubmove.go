package client

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/clawai/clawai/wrap/proxyargs"
)

// Piece is a text that was taken out of a file. Behind is the key of the unit before the piece. The
// hub's entry replaces the first piece; for this piece, Behind is the text of the hub's entry.
type Piece struct {
	Behind string `json:"behind"`
	Text   string `json:"text"`
}

// MoveOut takes bare entries of one container out of a file. It replaces the first one by an entry
// that starts the hub. The parameter path is the path of clawai, and the last parameter has the
// names of the hub's servers. MoveOut returns an *EditError if MoveBack could not restore the file
// byte for byte from the pieces.
func MoveOut(r Row, src []byte, entries []Entry, path string, only []string) (after []byte, pieces []Piece, err error) {
	f, err := openFile(r, src)
	if err != nil {
		return nil, nil, err
	}
	container := entries[0].KeyPath[:len(entries[0].KeyPath)-1]
	units, err := f.splitUnits(container)
	if err != nil {
		return nil, nil, err
	}
	var gone []int
	var moved []slot
	for _, e := range entries {
		s, _, err := f.findTarget(e)
		if err != nil {
			return nil, nil, err
		}
		own := f.unitsOf(s, units)
		if len(own) == 0 {
			return nil, nil, newEditError(src, s.at, "write it with a header or a line of its own", "%q cannot be taken out by itself", s.name)
		}
		gone, moved = append(gone, own...), append(moved, s)
	}
	slices.Sort(gone)
	slices.SortFunc(moved, func(a, b slot) int { return a.at - b.at })
	first := units[gone[0]]
	hub := f.hubEntry(first, moved[0], path, only)
	edits := []edit{{first.start, first.end, hub}}
	pieces = []Piece{{hub, string(src[first.start:first.end])}}
	for _, i := range gone[1:] {
		before := units[i-1]
		edits = append(edits, edit{before.end, units[i].end, ""})
		pieces = append(pieces, Piece{before.key, string(src[before.end:units[i].end])})
	}
	after = spliceEdits(src, edits)
	return after, pieces, f.proveMove(after, pieces, moved, slices.Concat(container, []string{HubName}))
}

// proveMove checks the result of MoveOut. The result must have the hub's entry and none of the
// moved entries. Every other entry must be unchanged, and MoveBack must restore the file.
func (f *file) proveMove(after []byte, pieces []Piece, moved []slot, hub []string) error {
	failed := newEditError(f.src, moved[0].at, "wrap these servers without --hub", "the entry of %q cannot be taken out exactly", moved[0].name)
	g, err := openFile(f.row, after)
	if err != nil {
		return failed
	}
	left := map[string][]string{}
	for _, s := range f.slots {
		if !slices.ContainsFunc(moved, func(m slot) bool { return pathKey(m.path) == pathKey(s.path) }) {
			left[pathKey(s.path)] = readShape(f.row, s).meaningWords()
		}
	}
	if left[pathKey(hub)] != nil {
		return newEditError(f.src, moved[0].at, "rename it", "another server is called %q here, as the hub would be", HubName)
	}
	for _, s := range g.slots {
		sh := readShape(f.row, s)
		if pathKey(s.path) == pathKey(hub) {
			if _, found := readHub(sh.words); !found || sh.problem != nil {
				return failed
			}
			continue
		}
		means, known := left[pathKey(s.path)]
		if !known || !slices.Equal(means, sh.meaningWords()) {
			return failed
		}
	}
	if len(g.slots) != len(left)+1 {
		return failed
	}
	if back, err := MoveBack(f.row, after, hub, pieces); err != nil || !bytes.Equal(back, f.src) {
		return failed
	}
	return nil
}

// MoveBack replaces the hub's entry by the first piece, and puts each other piece after the unit
// that was before it. If this unit is missing, because a client has changed the file, the piece
// comes after the previous piece.
func MoveBack(r Row, src []byte, hub []string, pieces []Piece) ([]byte, error) {
	at := -1
	for i, p := range pieces {
		f, err := openFile(r, src)
		if err != nil {
			return nil, err
		}
		units, err := f.splitUnits(hub[:len(hub)-1])
		if err != nil {
			return nil, err
		}
		if i == 0 {
			n := slices.IndexFunc(f.slots, func(s slot) bool { return pathKey(s.path) == pathKey(hub) })
			if n < 0 {
				return nil, newEditError(src, 0, "write an entry "+quoteText(HubName)+" that starts clawai hub, then run the command again", "the hub's entry is gone, and what it stood for has no place")
			}
			own := f.unitsOf(f.slots[n], units)
			if len(own) != 1 {
				return nil, newEditError(src, f.slots[n].at, "write it as wrap --hub wrote it", "the hub's entry cannot be taken out by itself")
			}
			u := units[own[0]]
			if bytes.HasPrefix(src[u.start:], []byte(p.Behind)) {
				u.end = u.start + len(p.Behind) // the rest is text that was added after the hub's entry: keep it
			}
			src, at = spliceEdits(src, []edit{{u.start, u.end, p.Text}}), u.start+len(p.Text)
			continue
		}
		if n := slices.IndexFunc(units, func(u unit) bool { return u.key == p.Behind }); n >= 0 && (at <= units[n].start || at > units[n].end) {
			at = units[n].end
		}
		src = spliceEdits(src, []edit{{at, at, p.Text}})
		at += len(p.Text)
	}
	f, err := openFile(r, src)
	if err != nil {
		return nil, err
	}
	for _, s := range f.slots {
		if s.twice {
			return nil, newEditError(src, s.at, "rename or remove it, then run the command again", "a server %q was written beside the hub since, and one of that name comes back", s.name)
		}
	}
	return src, nil
}

// readHub reads the options of an entry that starts the hub. clawai may have any path. ok is false
// for other entries.
func readHub(words []*node) (hub Wrapper, ok bool) {
	if len(words) < 2 || !isClawai(words[0].text) || words[1].text != "hub" {
		return hub, false
	}
	hub = Wrapper{Path: words[0].text, Hub: true}
	var rest []string
	for i := 2; i < len(words); i++ {
		name, list, joined := strings.Cut(words[i].text, "=")
		if name != "--only" && name != "-only" {
			rest = append(rest, words[i].text)
			continue
		}
		if !joined && i+1 < len(words) {
			i++
			list = words[i].text
		}
		hub.Only = append(hub.Only, strings.Split(list, ",")...)
	}
	line, err := proxyargs.Parse(rest)
	if err != nil {
		hub.Differs = append(hub.Differs, "the hub would not start with its options: "+err.Error())
	}
	hub.Observe = invocation{line: line}.isObserving()
	for _, name := range []string{"policy", "state"} { // these options select another policy, or another place for the record
		if value, given := line.OptionValue(name); given {
			hub.Differs = append(hub.Differs, settingDiffers(proxyargs.Setting{Name: name, Value: value}))
		}
	}
	return hub, true
}

// hubEntry returns the text of the hub's entry, which replaces the server in the parameter like.
// The text has the same layout as this server. The parameter first is the first unit of this
// server.
func (f *file) hubEntry(first unit, like slot, path string, only []string) string {
	args := []string{"hub", "--only", strings.Join(only, ",")}
	all := f.hubMembers(like.value, path, args)
	eol := lineBreak(f.src, len(f.src))
	switch {
	case f.row.Format == TOML && first.pair >= 0:
		var said []string
		for _, m := range all {
			said = append(said, m.name+" = "+m.raw)
		}
		own := append(slices.Clone(like.path[:len(like.path)-1]), HubName)
		return tomlPath(own[first.pair:]) + " = { " + strings.Join(said, spaced) + " }" + eol
	case f.row.Format == TOML:
		header := "[" + tomlPath(append(slices.Clone(like.path[:len(like.path)-1]), HubName)) + "]"
		if f.row.Container == Tables {
			header = "[[" + tomlPath(like.path[:len(like.path)-1]) + "]]"
		}
		text := header + eol
		for _, m := range all {
			text += m.name + " = " + m.raw + eol
		}
		if first.end < len(f.src) {
			text += eol
		}
		return text
	case f.row.Format == YAML && !first.flow:
		blank := strings.Repeat(" ", first.start-lineStart(f.src, first.start)) + "  "
		text, lead := HubName+":", eol+blank
		if f.row.Container == List {
			text, lead = "-", " "
		}
		for _, m := range all {
			text += lead + m.name + ": " + m.raw
			lead = eol + blank
		}
		return text
	}
	var said []string
	for _, m := range all {
		said = append(said, quoteText(m.name)+": "+m.raw)
	}
	text := "{" + strings.Join(said, spaced) + "}"
	if f.row.Container == List {
		return text // YAML accepts this text too
	}
	return quoteText(HubName) + ": " + text
}

// hubMembers returns the members of the hub's entry: the command with its arguments, and the type
// if entries of this client have one. It adds the members name and enabled only if the replaced
// entry (like) has them.
func (f *file) hubMembers(like *node, path string, args []string) (all []extra) {
	list := "[" + strings.Join(quoteAll(args), spaced) + "]"
	if field := cmp.Or(f.row.NameField, "name"); like.hasMember(field) {
		all = append(all, extra{field, quoteText(HubName)})
	}
	if f.row.TypeField != "" && len(f.row.StdioTypes) > 0 {
		all = append(all, extra{f.row.typeKey(), quoteText(f.row.stdioType())})
	}
	switch f.row.CommandForm {
	case ArrayCommand:
		all = append(all, extra{f.row.commandKey(), "[" + strings.Join(quoteAll(append([]string{path}, args...)), spaced) + "]"})
	default:
		all = append(all, extra{f.row.commandKey(), quoteText(path)}, extra{f.row.argsKey(), list})
	}
	if like.hasMember("enabled") {
		all = append(all, extra{"enabled", "true"})
	}
	return all
}

func (n *node) hasMember(name string) bool { m, _ := n.findMember(name); return m != nil }

func tomlPath(path []string) string {
	keys := make([]string, len(path))
	for i, key := range path {
		keys[i] = tomlKey(key)
	}
	return strings.Join(keys, ".")
}
