package frame

import (
	"bytes"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// recallRequest handles the refusal of a line with only one kind of fault: text that readers repair
// in different ways (half of a surrogate pair, bytes that are not UTF-8). If the line is the same
// request after every such repair, it stores the request's id in the refusal. Then the caller gets
// an error answer. This matters because JSON.stringify can write half of a pair.
func (s *scanner) recallRequest(r *Refusal) {
	if r.Code != CodeSurrogate && r.Code != CodeUTF8 {
		return
	}
	mended := scanner{b: validText(s.b), depth: s.depth, result: s.result}
	e := envelope{Frame: &Frame{}}
	if mended.finishScan(mended.scanEnvelope(&e, mended.skipBlank(0), 1)) != nil {
		return
	}
	if bytes.Equal(e.ID, jsonscan.ValueOf(s.b).Member("id").Bytes()) {
		e.claimRequest(r)
	}
}
