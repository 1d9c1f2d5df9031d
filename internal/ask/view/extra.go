package view

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// inParams begins the path of a value that stands in params beside the arguments.
// No argument's path has a slash outside quotes.
const inParams = "params/"

// members are the members of params that versions of the protocol give to a call
// beside its name and arguments.
var members = []string{"_meta", "task", "inputResponses", "requestState"}

// walkExtra walks what a call carries beside its arguments. unusual are the members
// that no version knows in a call.
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
		return w, nil, nil // theirs are of many kinds
	}
	for _, name := range w.top {
		if !slices.Contains(members, name) && !(name == "notifications" && c.Method == "subscriptions/listen") {
			unusual = append(unusual, name)
		}
	}
	return w, unusual, nil
}

// UnusualMembers names the members that a tool's, resource's or prompt's call carries
// beside what any version of the protocol gives it; as on the wire.
func UnusualMembers(c *policy.Call) []string {
	_, unusual, err := walkExtra(c, &builder{})
	if err != nil {
		return []string{strings.TrimSuffix(inParams, "/")}
	}
	return unusual
}
