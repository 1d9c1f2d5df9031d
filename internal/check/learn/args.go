package learn

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"
)

// member is one argument of a call.
type member struct {
	name  string
	texts []string        // of a string, or of a list of strings
	word  string          // of a boolean or a whole number
	value json.RawMessage // what is long is left out
	lost  bool            // the record does not keep it
}

// parseMembers reads the arguments of a call. An argument whose name no rule can
// name makes them unreadable: it might be one of those that a rule is about.
func parseMembers(args []byte) (all []member, ok bool) {
	if len(args) == 0 {
		return nil, true
	}
	d := json.NewDecoder(bytes.NewReader(args))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		var m member
		t, err := d.Token()
		if err != nil {
			return nil, false
		}
		m.name, _ = t.(string)
		if err := d.Decode(&m.value); err != nil {
			return nil, false
		}
		if redact.IsRedacted(m.name) || len(m.name) > 64 || policy.EveryArgument([]string{m.name}) {
			return nil, false
		}
		m.readValue()
		all = append(all, m)
	}
	return all, true
}

func (m *member) readValue() {
	m.lost = redact.IsRedacted(string(m.value))
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

// encodeMembers writes arguments again.
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
		name, _ := json.Marshal(m.name) // a string always can be
		b.Write(name)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// isPlace says that an argument of a tool says where.
func (m *member) isPlace() bool {
	if m.word != "" {
		return false
	}
	return NamesPlace(m.name) || slices.ContainsFunc(m.texts, looksLikeLocation)
}
