package client

const hiddenText = "•••"

// Mask gives a file as it may be shown: of a remote entry that is bare or behind
// clawai, the values of its headers and an address that may hold a secret are
// covered. Line ends stay where they are. What cannot be read is given back.
func Mask(r Row, src []byte, e Entry) []byte {
	f, err := open(r, src)
	if err != nil {
		return src
	}
	var edits []edit
	key := pathKey(e.KeyPath)
	for _, s := range f.slots {
		if pathKey(s.path) != key {
			continue
		}
		if sh := readShape(r, s); sh.remote != nil {
			edits = append(edits, f.secrets(sh.remote)...)
		}
	}
	return splice(src, edits)
}

func (f *file) secrets(r *remote) []edit {
	var edits []edit
	if m := r.url; m != nil && m.value.kind == stringKind && f.row.hidden(m.value.text) {
		e := f.cover(m.value, "")
		if r.redirected != nil { // whose path is a secret of clawai's, and whose query may hold one
			e.text = r.redirected.host() + "/" + hiddenText
		}
		edits = append(edits, e)
	}
	for _, h := range r.headers {
		prefix := ""
		if r.original != nil {
			prefix = h.name + ":"
		}
		edits = append(edits, f.cover(h.member.value, prefix))
	}
	return edits
}

// cover hides the text of a string behind what stands in front of it.
func (f *file) cover(v *node, prefix string) edit {
	n := f.opening(f.raw(v), v.plain)
	start, end := v.start+n+len(prefix), v.end-min(n, 3)
	if prefix != "" && start < end && f.src[start] == ' ' {
		start++
	}
	if start > end {
		start, end = v.end, v.end
	}
	return edit{start, end, hiddenText}
}
