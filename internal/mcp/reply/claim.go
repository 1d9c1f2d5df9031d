package reply

import (
	"bytes"
	"strings"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// ourPrefix is the prefix of the members of _meta that only clawai may write.
const ourPrefix = "io.github.clawai/"

// HasClaim reports whether a server's message has a member of _meta that only clawai may write. A
// client would believe that clawai wrote it.
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

// listMetas returns all objects that some client reads as _meta. There may be several, because some
// clients ignore the case of names.
func listMetas(payload jsonscan.Value) (metas []jsonscan.Value) {
	for name, v := range payload.Members() {
		if frame.FoldsTo(name.Text(), "_meta") && v.Kind() == jsonscan.Object {
			metas = append(metas, v)
		}
	}
	return metas
}

// cutClaims returns edits that remove the members of _meta that only clawai may write.
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
