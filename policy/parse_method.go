package policy

import (
	"fmt"
	"strings"
)

// coveredMethods maps a method to the rule key that judges it. That key sees more of the call than
// the key method.
var coveredMethods = map[string]string{
	"tools/call":               "tool",
	"resources/read":           "resource",
	"resources/subscribe":      "resource",
	"resources/unsubscribe":    "resource",
	"resources/directory/read": "resource",
	"skills/get":               "resource",
	"subscriptions/listen":     "resource",
	"prompts/get":              "prompt",
	"sampling/createmessage":   "sampling",
	"elicitation/create":       "elicitation",
}

// refuseMethod returns the reason why a method glob could never match; "" if it could match. It
// refuses a glob that is exactly the name of a covered method. `*` is valid, but does not match
// covered methods.
func refuseMethod(pattern string) (msg, hint string) {
	name := strings.ToLower(pattern)
	if key, ok := coveredMethods[name]; ok {
		return fmt.Sprintf("method %q is covered by the key %q", pattern, key), fmt.Sprintf("write %s = ... instead", key)
	}
	switch {
	case name == "initialize", name == "server/discover", name == "ping":
		return fmt.Sprintf("no rule applies to %q", pattern), "a session cannot do without it"
	case strings.HasPrefix(name, "notifications/"):
		return "no rule applies to notifications", "only requests are judged"
	}
	return "", ""
}
