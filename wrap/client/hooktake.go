package client

import (
	"bytes"
	"slices"
	"strings"
)

// TakeHooks removes our hooks from a file. It returns nil if wrap created the file and the file has
// not changed since. The caller can then remove the file.
func TakeHooks(r HookRow, src []byte, events []string) ([]byte, error) {
	if r.Format == Script {
		return takeScript(r, src, events[0])
	}
	if r.Format == TOML {
		return takeTOMLHooks(r, src, events)
	}
	for {
		f, err := openHooks(r, src)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(f.all, func(h Hook) bool { return startsClawai(h.leaf) })
		if at < 0 {
			return src, nil
		}
		if made, err := createHooks(r, events, startOf(f.all[at].leaf)); err == nil && bytes.Equal(made, src) {
			return nil, nil
		}
		src = f.removeHandler(f.all[at])
	}
}

// startOf returns the path and options of clawai-hook in a handler.
func startOf(leaf *node) (start HookStart) {
	for _, text := range leaf.collectStrings() {
		switch {
		case baseIs(text, "clawai-hook"):
			start.Path = text
		case text == observeWord:
			start.Observe = true
		case isHookLine(text):
			line, word := strings.CutSuffix(strings.TrimPrefix(text, "exec "), " "+observeWord)
			start.Observe = start.Observe || word
			if start.Path, _, _ = strings.Cut(line, " "); line[0] == '\'' {
				start.Path, _, _ = strings.Cut(line[1:], "'")
			}
		}
	}
	return start
}

// removeHandler removes one handler. It also removes the containers around the handler that are
// then empty, unless they were there before wrap.
func (f *hookFile) removeHandler(h Hook) []byte {
	child := edit{start: h.leaf.start, end: h.leaf.end}
	for i := len(h.trail) - 1; i >= 0; i-- {
		in := h.trail[i]
		all := in.childSpans()
		if in == h.element && i > 0 { // with its last handler, remove the whole element and its matcher
			child = edit{start: in.start, end: in.end}
			continue
		}
		at := slices.IndexFunc(all, func(c edit) bool { return c.start <= child.start && child.end <= c.end })
		child = all[at] // in an object, a child is a member: remove its key too
		if len(all) > 1 {
			return f.cutChild(all, at)
		}
		before := child.start == in.start+2 && f.src[in.start+1] == ' '
		if before || i == 0 {
			return f.cutOnly(in, child, before)
		}
		child = edit{start: in.start, end: in.end}
	}
	return f.src
}

// cutChild removes one of several children (all[at]), and the comma before or after it.
func (f *hookFile) cutChild(all []edit, at int) []byte {
	c := all[at]
	from, to := c.end, 0
	if at > 0 {
		from, to = all[at-1].end, c.start
	} else {
		to = all[1].start
	}
	comma := f.nextTokenOffset(from)
	if string(bytes.TrimSpace(f.src[from:to])) == "," {
		if at > 0 {
			return spliceEdits(f.src, []edit{{from, c.end, ""}})
		}
		return spliceEdits(f.src, []edit{{c.start, to, ""}})
	}
	return spliceEdits(f.src, []edit{{comma, comma + 1, ""}, {c.start, c.end, ""}}) // keep a comment between the child and the comma
}

// cutOnly removes the only child of a container. If the parameter before is true, the container is
// older than wrap's edit. The edit put a blank in front of the child, so cutOnly removes this blank
// too.
func (f *hookFile) cutOnly(in *node, c edit, before bool) []byte {
	from := c.start
	if before {
		from = in.start + 1
	}
	edits := []edit{{from, c.end, ""}}
	if comma := f.nextTokenOffset(c.end); comma < in.end && f.src[comma] == ',' {
		edits = append(edits, edit{comma, comma + 1, ""})
	}
	return spliceEdits(f.src, edits)
}

// nextTokenOffset returns the offset of the next token, after blanks and comments.
func (f *hookFile) nextTokenOffset(at int) int {
	j := jsonReader{src: f.src, at: at, format: f.row.Format}
	j.skipSpace()
	return j.at
}

// MaskHooks returns a file in a form that may be shown: every string value that is not ours is
// hidden.
func MaskHooks(r HookRow, src []byte) []byte {
	if r.Format == Script || src == nil {
		return src
	}
	if r.Format == TOML {
		return maskTOMLHooks(r, src)
	}
	f, err := openHooks(r, src)
	if err != nil {
		return src
	}
	var edits []edit
	var cover func(n *node)
	cover = func(n *node) {
		if slices.ContainsFunc(f.all, func(h Hook) bool { return h.leaf == n && startsClawai(n) }) {
			return
		}
		if n.kind == stringKind && n.text != "" && n.text != r.HookWord() && n.text != "*" {
			edits = append(edits, edit{n.start + 1, n.end - 1, hiddenText})
		}
		for _, m := range n.members {
			cover(m.value)
		}
		for _, item := range n.items {
			cover(item)
		}
	}
	cover(f.root)
	return spliceEdits(src, edits)
}
