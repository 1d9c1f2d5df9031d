package learn

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// member is one argument of a call.
type member struct {
	name     string
	texts    []string        // value of the argument if it is a string or a list of strings
	word     string          // value of the argument if it is a boolean or a natural number
	value    json.RawMessage // value of the argument; an empty JSON string in place of a long value
	redacted bool            // the record does not have the value, because it was redacted
}

// parseMembers returns the arguments of a call. ok is false if a rule cannot name one of them,
// because then no rule can be learned from the call.
func parseMembers(args []byte) (all []member, ok bool) {
	if len(args) == 0 {
		return nil, true
	}
	object := jsonscan.ValueOf(args)
	if object.Kind() != jsonscan.Object || !json.Valid(args) {
		return nil, false
	}
	for name, value := range object.Members() {
		m := member{name: name.Text(), value: bytes.Clone(value.Bytes())}
		if redact.IsRedacted(m.name) || len(m.name) > 64 || policy.EveryArgument([]string{m.name}) {
			return nil, false
		}
		m.readValue()
		all = append(all, m)
	}
	return all, true
}

func (m *member) readValue() {
	m.redacted = redact.IsRedacted(string(m.value))
	if len(m.value) > maxMember {
		m.value = json.RawMessage(`""`)
		return
	}
	var text string
	var list []string
	switch {
	case m.value[0] == '"' && json.Unmarshal(m.value, &text) == nil:
		m.texts = []string{text}
	case m.value[0] == '[' && json.Unmarshal(m.value, &list) == nil && len(list) > 0:
		m.texts = list
	case m.value[0] == 't', m.value[0] == 'f':
		m.word = string(m.value)
	case len(m.value) <= 15 && strings.Trim(string(m.value), "0123456789") == "" && (m.value[0] != '0' || len(m.value) == 1):
		m.word = string(m.value)
	}
}

// encodeMembers returns arguments as a JSON object.
func encodeMembers(all []member) []byte {
	if all == nil {
		return nil
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(m.name) // the error is ignored, because a string can always be encoded
		b.Write(name)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// isPlace reports whether an argument probably holds a path or an address.
func (m *member) isPlace() bool {
	if m.word != "" {
		return false
	}
	return NamesPlace(m.name) || slices.ContainsFunc(m.texts, looksLikeLocation)
}
