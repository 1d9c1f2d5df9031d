package view

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// inParams is the start of the path of a value that is in params, but not in the arguments. The
// path of an argument has a slash only inside quotes.
const inParams = "params/"

// members are the members of a call's params that some version of the protocol defines, without the
// name and the arguments.
var members = []string{"_meta", "task", "inputResponses", "requestState"}

// walkExtra visits the members of a call's params besides its arguments. unusual lists the members
// that no version of the protocol defines.
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
		return w, nil, nil // the params of other methods can have any member
	}
	for _, name := range w.top {
		if !slices.Contains(members, name) && !(name == "notifications" && c.Method == "subscriptions/listen") {
			unusual = append(unusual, name)
		}
	}
	return w, unusual, nil
}

// UnusualMembers returns the names of a call's members that no version of the protocol defines, as
// on the wire. It returns none for methods other than the calls of tools, resources and prompts.
func UnusualMembers(c *policy.Call) []string {
	_, unusual, err := walkExtra(c, &builder{})
	if err != nil {
		return []string{strings.TrimSuffix(inParams, "/")}
	}
	return unusual
}
