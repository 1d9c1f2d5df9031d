package client

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// object is a JSON object that parsePayload has accepted. Each member occurs only once.
type object struct{ jsonscan.Value }

// findValue returns the value at the first of these places that exists and is not null. A place is
// a member name, or several names with dots between.
func (o object) findValue(places []string) jsonscan.Value {
	for _, place := range places {
		v := o.Value
		for name := range strings.SplitSeq(place, ".") {
			v = v.Member(name)
		}
		if kind := v.Kind(); kind != jsonscan.Absent && kind != jsonscan.Null {
			return v
		}
	}
	return ""
}

// readText returns the string at the first of these places that exists.
func (o object) readText(places []string) (s string, there bool, err error) {
	switch v := o.findValue(places); v.Kind() {
	case jsonscan.Absent:
		return "", false, nil
	case jsonscan.String:
		return v.Text(), true, nil
	}
	return "", true, fmt.Errorf("%s is not text", strings.Join(places, " or "))
}

// textAt returns a text that a person typed: a string, or a list of parts with a member "text". It
// returns "" if the value is missing or has another form.
func (o object) textAt(places []string) string {
	v := o.findValue(places)
	switch v.Kind() {
	case jsonscan.String:
		return v.Text()
	case jsonscan.Array:
		var all []string
		for part := range v.Elements() {
			if text := part.Member("text"); text.Kind() == jsonscan.String {
				all = append(all, text.Text())
			}
		}
		return strings.Join(all, "\n")
	}
	return ""
}

// isSubagent reports whether the payload is from an agent that another agent started. Then the
// prompt is from a model, not from a person.
func (o object) isSubagent() bool {
	if o.Member("parent_agent_id").Kind() == jsonscan.Null {
		return false // Cline writes null if the agent has no parent
	}
	return o.findValue([]string{"parentAgentId", "parent_agent_id", "agent_id", "agentId"}).Kind() != jsonscan.Absent
}

// readFolder returns the path at the first of these places that exists, or the only path in a list.
// If the list has several paths it returns "", because any of them may be meant.
func (o object) readFolder(places []string) (string, error) {
	v := o.findValue(places)
	all := slices.Collect(v.Elements())
	if v.Kind() != jsonscan.Array || slices.ContainsFunc(all, func(e jsonscan.Value) bool { return e.Kind() != jsonscan.String && e.Kind() != jsonscan.Null }) {
		s, _, err := o.readText(places)
		return s, err
	}
	if len(all) == 1 {
		return all[0].Text(), nil
	}
	return "", nil
}

// hasFolderAbove reads a list of folders at the first of these places that exists. It reports
// whether the given folder is in this list, or below a folder of the list.
func (o object) hasFolderAbove(places []string, folder string) bool {
	for root := range o.findValue(places).Elements() {
		below, err := filepath.Rel(root.Text(), folder)
		if root.Text() != "" && err == nil && filepath.IsLocal(below) {
			return true
		}
	}
	return false
}

// readInput returns the arguments: an object, or an object as JSON in a string. It returns nil if
// there are none.
func (o object) readInput(places []string) ([]byte, error) {
	v := o.findValue(places)
	text := v.Bytes()
	if v.Kind() == jsonscan.String {
		text = []byte(strings.TrimSpace(v.Text()))
	}
	if len(text) == 0 {
		return nil, nil
	}
	if text[0] != '{' {
		return nil, fmt.Errorf("%s is not an object", strings.Join(places, " or "))
	}
	args, err := parsePayload(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(places, " or "), err)
	}
	return args.Bytes(), nil
}

// envelopeNames are the members of Cursor's events for a single tool that are not arguments.
var envelopeNames = []string{"hook_event_name", "conversation_id", "generation_id", "session_id", "workspace_roots", "model", "cursor_version", "user_email", "transcript_path",
	"tool_use_id", "attachments", "content", "sandbox"}

// argumentsObject returns the object without the members in envelopeNames.
func (o object) argumentsObject() []byte {
	args := []byte{'{'}
	for name, value := range o.Members() {
		if slices.Contains(envelopeNames, name.Text()) {
			continue
		}
		if len(args) > 1 {
			args = append(args, ',')
		}
		args = append(append(append(args, name...), ':'), value...)
	}
	return append(args, '}')
}
