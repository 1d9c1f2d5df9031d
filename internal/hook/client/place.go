package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// object is a JSON object in which no name stands twice.
type object map[string]json.RawMessage

// at is the first of some places that is there and not null.
func (o object) at(places []string) json.RawMessage {
	for _, place := range places {
		in, name := o, place
		for in != nil {
			outer, rest, below := strings.Cut(name, ".")
			if !below {
				break
			}
			var inner object
			if json.Unmarshal(in[outer], &inner) != nil {
				inner = nil
			}
			in, name = inner, rest
		}
		if raw := in[name]; raw != nil && string(raw) != "null" {
			return raw
		}
	}
	return nil
}

// text is the string that stands there.
func (o object) text(places []string) (s string, there bool, err error) {
	raw := o.at(places)
	if raw == nil {
		return "", false, nil
	}
	if json.Unmarshal(raw, &s) != nil {
		return "", true, fmt.Errorf("%s is no text", strings.Join(places, " or "))
	}
	return s, true, nil
}

// folder is the path that stands there, or the only one of a list: of several it is not
// known which is meant.
func (o object) folder(places []string) (string, error) {
	raw := o.at(places)
	var all []string
	if raw != nil && raw[0] == '[' && json.Unmarshal(raw, &all) == nil {
		if len(all) == 1 {
			return all[0], nil
		}
		return "", nil
	}
	s, _, err := o.text(places)
	return s, err
}

// input is the object of arguments, which may be written as a text; nil for none.
func (o object) input(places []string) ([]byte, error) {
	raw := o.at(places)
	if raw == nil {
		return nil, nil
	}
	if raw[0] == '"' {
		text, _, err := o.text(places)
		if err != nil {
			return nil, err
		}
		raw = nil
		if text = strings.TrimSpace(text); text != "" {
			raw = []byte(text)
		}
	}
	if raw == nil {
		return nil, nil
	}
	if raw[0] != '{' {
		return nil, fmt.Errorf("%s is no object", strings.Join(places, " or "))
	}
	if _, err := strict(raw); err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(places, " or "), err)
	}
	return compact(raw), nil
}

// envelopeNames are members that Cursor's events of one tool have beside its arguments.
var envelopeNames = []string{"hook_event_name", "conversation_id", "generation_id", "session_id", "workspace_roots", "model", "cursor_version", "user_email", "transcript_path",
	"tool_use_id", "attachments", "content", "sandbox"}

// all is the object without what is beside the arguments.
func (o object) all() []byte {
	args := object{}
	maps.Copy(args, o)
	for _, name := range envelopeNames {
		delete(args, name)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil
	}
	return raw
}

func compact(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
