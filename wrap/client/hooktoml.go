package client

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// In TOML, hooks are an array of tables at the end of the client's settings. Each hook is a table
// [[hooks]] with its event. Before each of our tables wrap writes a line feed, which makes an empty
// line. Unwrap removes it with the table.

// tomlHook is a hook in a table [[hooks]].
type tomlHook struct {
	Hook
	start, end int // range of the lines of the table, without the empty line before it
}

func tomlHooks(r HookRow, src []byte) ([]tomlHook, error) {
	root, err := parseTOML(src)
	if err != nil {
		return nil, err
	}
	m, _ := root.findMember(r.List[0])
	if m == nil || m.isEmptyListLine(src) {
		return nil, nil
	}
	if m.value.kind != listKind || slices.ContainsFunc(m.value.items, func(n *node) bool { return n.kind != objectKind }) || !m.isTableArray(src) {
		return nil, newEditError(src, m.start, "write each as a table [["+r.List[0]+"]]", "%q is not written as tables", r.List[0])
	}
	var all []tomlHook
	for i, table := range m.value.items {
		h := tomlHook{Hook: Hook{Line: bytes.Count(src[:table.start], []byte("\n")) + 1, Group: i, element: table, leaf: table}}
		h.start = bytes.LastIndexByte(src[:table.start], '\n') + 1
		h.end = afterLine(src, table.start)
		for _, field := range table.members {
			h.end = max(h.end, afterLine(src, field.value.end))
			switch field.name {
			case r.EventKey:
				h.Event = field.value.text
			case "command":
				h.Command = field.value.text
			}
		}
		all = append(all, h)
	}
	return all, nil
}

// isTableArray reports whether a list is written as tables [[name]], and not as name = [...].
func (m *member) isTableArray(src []byte) bool {
	return m.start >= 2 && string(src[m.start-2:m.start]) == "[["
}

// isEmptyListLine reports whether a member is an empty list, alone on its line. Kimi Code writes
// such a line, but TOML does not allow an empty list together with tables of the same name.
func (m *member) isEmptyListLine(src []byte) bool {
	before, after := src[:m.start], src[m.value.end:afterLine(src, m.value.end)]
	return m.value.kind == listKind && len(m.value.items) == 0 && (len(before) == 0 || before[len(before)-1] == '\n') && len(bytes.TrimSpace(after)) == 0
}

// hiddenMark begins a comment. While the file has our tables, this comment replaces the empty list
// of hooks.
const hiddenMark = "# clawai-hook stands below: "

// hideEmptyList turns an empty list of hooks into a comment.
func hideEmptyList(r HookRow, src []byte) ([]byte, error) {
	root, err := parseTOML(src)
	if err != nil {
		return nil, err
	}
	if m, _ := root.findMember(r.List[0]); m != nil && m.isEmptyListLine(src) {
		return spliceEdits(src, []edit{{m.start, m.start, hiddenMark}}), nil
	}
	return src, nil
}

// restoreEmptyList turns the comment of hideEmptyList back into an empty list, unless the file now
// has other hooks.
func restoreEmptyList(r HookRow, src []byte) []byte {
	at := bytes.Index(src, []byte(hiddenMark+r.List[0]))
	if at < 0 || at > 0 && src[at-1] != '\n' {
		return src
	}
	back := spliceEdits(src, []edit{{at, at + len(hiddenMark), ""}})
	if root, err := parseTOML(back); err == nil {
		if m, twice := root.findMember(r.List[0]); m != nil && !twice && m.isEmptyListLine(back) {
			return back
		}
	}
	return src
}

// afterLine returns the offset of the next line's start. The parameter at is an offset in the
// present line.
func afterLine(src []byte, at int) int {
	if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(src)
}

func readTOMLHooks(r HookRow, src []byte, events []string, start HookStart) (Hooked, error) {
	all, err := tomlHooks(r, src)
	if err != nil {
		return Hooked{}, err
	}
	var h Hooked
	count := map[string]int{}
	for _, one := range all {
		if !isHookLine(one.Command) {
			h.Others = append(h.Others, one.Hook)
			continue
		}
		h.Ours = append(h.Ours, one.Hook)
		h.Observe = h.Observe || startOf(one.leaf).Observe
		count[one.Event]++
	}
	if len(h.Ours) == 0 {
		return h, nil
	}
	start.Observe = h.Observe
	for _, event := range events {
		switch count[event] {
		case 0:
			h.Differs = append(h.Differs, "no entry for "+event)
		case 1:
		default:
			h.Differs = append(h.Differs, fmt.Sprintf("%d entries for %s", count[event], event))
		}
	}
	for _, one := range all {
		if !isHookLine(one.Command) {
			continue
		}
		want, err := r.renderElement(one.Event, start)
		switch {
		case err != nil:
			return h, err
		case !slices.Contains(events, one.Event):
			h.Differs = append(h.Differs, "an entry for "+one.Event+", which wrap does not write")
		case strings.TrimSpace(string(src[one.start:one.end])) != strings.TrimSpace(want):
			h.Differs = append(h.Differs, "the entry for "+one.Event+" is not what wrap writes")
		}
	}
	return h, nil
}

func putTOMLHooks(r HookRow, src []byte, events []string, start HookStart) ([]byte, error) {
	made := src == nil
	h, err := readTOMLHooks(r, src, events, start)
	if err != nil {
		return nil, err
	}
	if h.Observe == start.Observe && len(h.Ours) > 0 && len(h.Differs) == 0 {
		return src, nil
	}
	if src, err = cutTOMLHooks(r, src); err != nil {
		return nil, err
	}
	if src, err = hideEmptyList(r, src); err != nil {
		return nil, err
	}
	for i, event := range events {
		text, err := r.renderElement(event, start)
		if err != nil {
			return nil, err
		}
		if !made || i > 0 {
			src = append(slices.Clip(src), '\n')
		}
		src = append(src, text...)
	}
	if _, err := tomlHooks(r, src); err != nil {
		return nil, fmt.Errorf("clawai's entries do not fit into it: %w", err)
	}
	return src, nil
}

// takeTOMLHooks is TakeHooks for TOML.
func takeTOMLHooks(r HookRow, src []byte, events []string) ([]byte, error) {
	all, err := tomlHooks(r, src)
	if err != nil {
		return nil, err
	}
	if at := slices.IndexFunc(all, func(h tomlHook) bool { return isHookLine(h.Command) }); at >= 0 {
		if made, err := putTOMLHooks(r, nil, events, startOf(all[at].leaf)); err == nil && bytes.Equal(made, src) {
			return nil, nil
		}
	}
	return cutTOMLHooks(r, src)
}

func cutTOMLHooks(r HookRow, src []byte) ([]byte, error) {
	all, err := tomlHooks(r, src)
	if err != nil {
		return nil, err
	}
	for _, h := range slices.Backward(all) {
		if !isHookLine(h.Command) {
			continue
		}
		blank := h.start >= 2 && src[h.start-2] == '\n'
		if h.start > 0 && (blank || h.end == len(src)) {
			h.start-- // also remove the line feed before the table, which wrap wrote
		}
		src = append(slices.Clip(src[:h.start]), src[h.end:]...) // an empty result is not nil, because the file stays
	}
	return restoreEmptyList(r, src), nil
}

// maskTOMLHooks is MaskHooks for TOML.
func maskTOMLHooks(_ HookRow, src []byte) []byte {
	root, err := parseTOML(src)
	if err != nil {
		return src
	}
	var edits []edit
	var cover func(n *node)
	cover = func(n *node) {
		if m, _ := n.findMember("command"); m != nil && isHookLine(m.value.text) {
			return
		}
		if n.kind == stringKind && n.text != "" && n.end > n.start+1 {
			edits = append(edits, edit{n.start, n.end, `"` + hiddenText + `"`})
		}
		for _, m := range n.members {
			cover(m.value)
		}
		for _, item := range n.items {
			cover(item)
		}
	}
	cover(root)
	slices.SortFunc(edits, func(a, b edit) int { return a.start - b.start })
	return spliceEdits(src, edits)
}
