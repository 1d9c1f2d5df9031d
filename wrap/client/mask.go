package client

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/redact"
)

const hiddenText = redact.Hidden

// MaskFile returns a file in a form that may be shown. In each entry it hides the values of the
// environment and the headers, arguments that are secrets, and addresses that may contain a secret.
// Line ends stay where they are. A file that cannot be read stays unchanged.
func MaskFile(r Row, src []byte) []byte {
	f, err := openFile(r, src)
	if err != nil {
		return src
	}
	var edits []edit
	for _, s := range f.slots {
		sh := readShape(r, s)
		if sh.remote != nil {
			edits = append(edits, f.secretEdits(sh.remote)...)
		}
		edits = append(edits, f.secretWords(sh.words)...)
		for _, m := range sh.environment {
			if v := m.value; v.kind == stringKind && v.text != "" && !strings.HasPrefix(v.text, ReferencePrefix) && !slices.ContainsFunc(edits, func(e edit) bool { return e.start >= v.start && e.end <= v.end }) {
				edits = append(edits, f.coverText(v, ""))
			}
		}
	}
	return spliceEdits(src, edits)
}

// secretWords hides the secrets in a command line: the value after --api-key or in --token=, a
// header, the environment for a container, and text that looks like a key, also inside an address.
func (f *file) secretWords(words []*node) (edits []edit) {
	all := nodeTexts(words)
	src, err := json.Marshal(all)
	var clean []string
	if err != nil || json.Unmarshal(redact.ScrubJSON(src), &clean) != nil || len(clean) != len(all) {
		return nil // a word is no text; such an entry is not edited, so no shown difference contains its words
	}
	for i, w := range words {
		prefix := all[i][:commonPrefix(all[i], clean[i])]
		if name, _, ok := strings.Cut(all[i], "="); ok && (i > 0 && (all[i-1] == "-e" || all[i-1] == "--env") || strings.HasPrefix(name, "-e") && len(name) > 2) {
			prefix = name + "="
		}
		before := ""
		if i > 0 {
			before = all[i-1]
		}
		prefix = prefix[:min(len(prefix), visibleLength(all[i], before))]
		if w.kind == stringKind && len(prefix) < len(all[i]) {
			edits = append(edits, f.coverText(w, prefix))
		}
	}
	return edits
}

// commonPrefix returns the length of the common start of two texts.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func (f *file) secretEdits(r *remote) []edit {
	var edits []edit
	if m := r.url; m != nil && m.value.kind == stringKind && f.row.HidesAddress(m.value.text) {
		e := f.coverText(m.value, "")
		if r.redirected != nil { // the path contains clawai's secret, and the query contains the original address
			e.text = r.redirected.visibleHost() + "/" + hiddenText
		}
		edits = append(edits, e)
	}
	for _, h := range r.headers {
		prefix := ""
		if r.original != nil {
			prefix = h.name + ":"
		}
		edits = append(edits, f.coverText(h.member.value, prefix))
	}
	return edits
}

// coverText returns the edit that hides the text of a string after prefix. Line ends stay.
func (f *file) coverText(v *node, prefix string) edit {
	n := f.openingLength(f.rawText(v), v.plain)
	start, end := v.start+n+len(prefix), v.end-min(n, 3)
	if prefix != "" && start < end && f.src[start] == ' ' {
		start++
	}
	if start > end || prefix != "" && !strings.HasPrefix(string(f.src[v.start+n:end]), prefix) { // the text has escapes: hide all of it
		start = v.start + n
	}
	if start > end {
		start, end = v.end, v.end
	}
	return edit{start, end, hiddenText + strings.Repeat("\n", strings.Count(string(f.src[start:end]), "\n"))}
}
