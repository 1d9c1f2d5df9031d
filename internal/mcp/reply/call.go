package reply

import (
	"errors"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// FindInCall returns the findings in a call. objects are the call's arguments and the other members
// of its params, which internal/wire/frame has admitted. An empty object is skipped. texts are
// texts that a server sends to a model or a user. The place of a finding is relative to its object.
// It returns an error if it could not search all of the call.
func FindInCall(objects [][]byte, texts []string, wanted Wanted) (all []Finding, err error) {
	for _, object := range objects {
		if len(object) == 0 {
			continue
		}
		m := &Message{raw: object, whole: true, payload: span{0, len(object)}}
		if !m.searchValue(object, 0, wanted, maxText) || !m.IsWhole() {
			return nil, errors.New("not all of the arguments could be looked at")
		}
		all = append(all, m.Findings...)
	}
	for _, text := range texts {
		m := &Message{whole: true}
		l := looker{m: m, wanted: wanted, room: maxText}
		if len(text) > maxText || !l.addFindings(place{entry: -1}, token{end: len(text), said: text, number: true}, 0, l.inspectText(text)) || !m.IsWhole() {
			return nil, errors.New("not all of the text could be looked at")
		}
		all = append(all, m.Findings...)
	}
	return all, nil
}

// ReplaceMessages returns an array of messages in which with[i] replaces message i. If with[i] is
// nil, message i is unchanged.
func ReplaceMessages(f *frame.Frame, with [][]byte, limits frame.Limits) ([]byte, error) {
	whole := Message{raw: f.Raw}
	var edits []edit
	for i, e := range f.Elements {
		if with[i] != nil {
			at := whole.offsetOf(jsonscan.ValueOf(e.Raw))
			edits = append(edits, edit{span{at, at + len(e.Raw)}, string(with[i])})
		}
	}
	raw := spliceEdits(f.Raw, edits)
	var out frame.Frame
	if err := out.Parse(raw, limits); err != nil {
		return nil, err
	}
	return raw, nil
}
