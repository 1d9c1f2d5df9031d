package reply

import (
	"bytes"
	"strings"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// ourPrefix begins the names of the members of _meta that only clawai writes.
const ourPrefix = "io.github.clawai/"

// HasClaim reports whether a message has a member of _meta that only clawai writes. A client would
// believe that clawai wrote such a member.
func HasClaim(f *frame.Frame) bool {
	for _, part := range [][]byte{f.Result, f.Error, f.Params} {
		if part == nil || !bytes.Contains(part, []byte("clawai")) && !bytes.Contains(part, []byte(`\u00`)) {
			continue
		}
		for _, meta := range listMetas(jsonscan.ValueOf(part)) {
			for name := range meta.Members() {
				if isClaim(name) {
					return true
				}
			}
		}
	}
	return false
}

func isClaim(name jsonscan.Value) bool { return strings.HasPrefix(name.Text(), ourPrefix) }

// listMetas returns the objects that some client reads as _meta: some ignore the case of names.
func listMetas(payload jsonscan.Value) (metas []jsonscan.Value) {
	for name, v := range payload.Members() {
		if frame.FoldsTo(name.Text(), "_meta") && v.Kind() == jsonscan.Object {
			metas = append(metas, v)
		}
	}
	return metas
}

// cutClaims returns edits that remove the members of _meta that only clawai writes.
func (m *Message) cutClaims() (edits []edit) {
	for _, meta := range listMetas(m.payloadValue()) {
		var all []span
		var out []int
		for name, v := range meta.Members() {
			if isClaim(name) {
				out = append(out, len(all))
			}
			all = append(all, span{m.offsetOf(name), m.offsetOf(v) + len(v)})
		}
		edits = append(edits, cutSpans(all, out)...)
	}
	return edits
}
