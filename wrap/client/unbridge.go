package client

import (
	"bytes"
	"slices"
	"strings"
)

// unbridgeEntry returns the edits that turn a bridge back into the remote entry.
func (f *file) unbridgeEntry(sh shape) ([]edit, error) {
	r := sh.remote
	if err := f.refuseExtras(sh); err != nil {
		return nil, err
	}
	address := r.inner
	if r.inner.text == urlReference {
		address = r.url.value
	}
	var own []*member // members that wrap added
	if sh.args != nil {
		own = append(own, sh.args)
	}
	edits := f.renameKey(sh.command, r.original[0])
	bearer := slices.Contains(r.original, f.row.BearerField) && f.row.BearerField != ""
	passed, _ := sh.holder.findMember(f.row.PassEnvField)
	switch {
	case f.row.PassEnvField == "" || passed == nil:
	case bearer && passed.value.kind == listKind && len(passed.value.items) > 0:
		edits = append(edits, f.renameKey(passed, f.row.BearerField)...)
		edits = append(edits, edit{passed.value.start, passed.value.end, f.rawText(passed.value.items[0])})
	case r.envHeaders:
		own = append(own, passed)
	}
	more, mine, err := f.restoreEnvironment(sh)
	if err != nil {
		return nil, err
	}
	edits = append(edits, more...)
	if mine {
		own = append(own, r.holder)
	}
	if more, err = f.restoreType(sh); err != nil {
		return nil, err
	}
	edits = append(edits, more...)
	return f.restoreAddress(sh, edits, own, f.rawText(address))
}

// restoreAddress replaces the command by the address, and removes the members in the parameter own,
// which wrap added. One edit removes the members that are still directly after the command. The
// remaining members get separate edits.
func (f *file) restoreAddress(sh shape, edits []edit, own []*member, address string) ([]edit, error) {
	value := sh.command.value
	at, _ := f.newArgs(sh.command, "")
	end := at
	var moved []*member
	for _, m := range own {
		_, text := f.newArgs(sh.command, m.name)
		text += f.compactText(m.value)
		if bytes.HasPrefix(f.src[end:], []byte(text)) {
			end += len(text)
			continue
		}
		moved = append(moved, m)
	}
	gone, err := f.removeMembers(sh.holder, moved)
	if err != nil {
		return nil, err
	}
	edits = append(edits, gone...)
	start, stop := value.start, value.end
	if at == stop {
		return append(edits, edit{start, end, address}), nil
	}
	return append(edits, edit{start, stop, address}, edit{at, end, ""}), nil
}

// compactText returns the text that wrap would write for a list or an object.
func (f *file) compactText(n *node) string {
	if n.kind == objectKind {
		var all []extra
		for _, m := range n.members {
			all = append(all, extra{m.name, f.rawText(m.value)})
		}
		return f.objectText(all)
	}
	var raws []string
	for _, item := range n.items {
		raws = append(raws, f.rawText(item))
	}
	return "[" + strings.Join(raws, compact) + "]"
}

// refuseExtras returns an error if somebody has added variables to the environment of a bridge, and
// the remote entry had no environment.
func (f *file) refuseExtras(sh shape) error {
	r := sh.remote
	if r.holder == nil || r.holder.value.kind != objectKind || slices.Contains(r.original, f.row.envKey()) && !f.envIsHeaders(r) {
		return nil
	}
	for _, m := range r.holder.value.members {
		if m.name != urlVariable && !strings.HasPrefix(m.name, headerVariable) {
			return newEditError(f.src, m.start, "take it out, then run the command again",
				"%s was added to the environment, and a remote entry has no place for it", quoteText(m.name))
		}
	}
	return nil
}

// envIsHeaders reports whether wrap made the environment of a bridge from the headers.
func (f *file) envIsHeaders(r *remote) bool {
	for _, field := range []string{f.row.HeadersField, f.row.EnvHeadersField} {
		if field != "" && slices.Contains(r.original, field) {
			return true
		}
	}
	return false
}

// restoreEnvironment returns the edits that restore the headers and the environment of the remote
// entry. The result mine is true if wrap created the environment, so that the caller must remove
// it.
func (f *file) restoreEnvironment(sh shape) (edits []edit, mine bool, err error) {
	r := sh.remote
	if r.holder == nil {
		return nil, false, nil
	}
	hadEnv := slices.Contains(r.original, f.row.envKey())
	if !f.envIsHeaders(r) && !hadEnv {
		return nil, true, nil
	}
	var gone []*member
	for _, m := range []*member{r.url, r.bearer} {
		if m != nil {
			gone = append(gone, m)
		}
	}
	if edits, err = f.removeMembers(r.holder.value, gone); err != nil {
		return nil, false, err
	}
	if !f.envIsHeaders(r) {
		return edits, false, nil
	}
	field := f.row.HeadersField
	if f.row.EnvHeadersField != "" && slices.Contains(r.original, f.row.EnvHeadersField) {
		field = f.row.EnvHeadersField
	}
	edits = append(edits, f.renameKey(r.holder, field)...)
	if other, _ := sh.holder.findMember(field); other != nil && hadEnv {
		edits = append(edits, f.renameKey(other, f.row.envKey())...)
	}
	for _, h := range r.headers {
		more, err := f.restoreHeader(h, r.envHeaders)
		if err != nil {
			return nil, false, err
		}
		edits = append(edits, more...)
	}
	return edits, false, nil
}

// restoreHeader returns the edits that turn one variable of the environment back into a header. The
// parameter variable is true if the original value of the header was the name of an environment
// variable.
func (f *file) restoreHeader(h header, variable bool) ([]edit, error) {
	m, v := h.member, h.member.value
	raw := f.rawText(v)
	n := f.openingLength(raw, v.plain)
	prefix := h.name + ":"
	failed := newEditError(f.src, v.start, "write it as \"Name: value\"", "%s cannot be taken apart", m.name)
	if !strings.HasPrefix(raw[n:], prefix) {
		return nil, failed
	}
	end := n + len(prefix)
	if !v.plain {
		end += len(raw[end:]) - len(strings.TrimPrefix(raw[end:], " "))
	}
	edits := []edit{{m.last, m.end, f.requoteWord(string(f.src[m.last:m.end]), h.name)}}
	if variable {
		if !strings.HasPrefix(raw[end:], "${") {
			return nil, failed
		}
		end += 2
		at := v.end - min(n, 3) - 1
		if f.src[at] != '}' {
			return nil, failed
		}
		edits = append(edits, edit{at, at + 1, ""})
	}
	return append(edits, edit{v.start + n, v.start + end, ""}), nil
}

// restoreType returns the edit that restores the entry's former type.
func (f *file) restoreType(sh shape) ([]edit, error) {
	for _, word := range sh.remote.original[1:] {
		text, typed := strings.CutPrefix(word, "type=")
		if !typed {
			continue
		}
		if sh.typ == nil || sh.typ.value.kind != stringKind {
			return nil, newEditError(f.src, sh.command.start, "write it there again", "the entry's %s is gone", f.row.typeKey())
		}
		v := sh.typ.value
		return []edit{{v.start, v.end, f.requoteWord(f.rawText(v), text)}}, nil
	}
	return nil, nil
}
