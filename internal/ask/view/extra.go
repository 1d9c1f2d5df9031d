package view

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// inParams begins the path of a value in params outside the arguments. An argument's path never
// has a slash outside quotes.
const inParams = "params/"

// members are the members of params that versions of the protocol define for a call, besides its
// name and arguments.
var members = []string{"_meta", "task", "inputResponses", "requestState"}

// walkExtra walks a call's members outside its arguments. unusual are the members that no version
// defines for a call.
func walkExtra(c *policy.Call, m *builder) (w walker, unusual []string, err error) {
	if w, err = walkJSON(c.Extra, m); err != nil {
		return w, nil, err
	}
	for i := range w.args {
		w.args[i].Path = inParams + w.args[i].Path
	}
	switch c.Subject {
	case policy.ToolSubject, policy.ResourceSubject, policy.PromptSubject:
	default:
		return w, nil, nil // other methods have members of many kinds
	}
	for _, name := range w.top {
		if !slices.Contains(members, name) && !(name == "notifications" && c.Method == "subscriptions/listen") {
			unusual = append(unusual, name)
		}
	}
	return w, unusual, nil
}

// UnusualMembers returns the names, as on the wire, of members in a tool's, resource's or
// prompt's call that no version of the protocol defines.
func UnusualMembers(c *policy.Call) []string {
	_, unusual, err := walkExtra(c, &builder{})
	if err != nil {
		return []string{strings.TrimSuffix(inParams, "/")}
	}
	return unusual
}
