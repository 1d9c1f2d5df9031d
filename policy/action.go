package policy

import "fmt"

// Action is the answer of a rule, or of the whole policy, to a call or a reply. Actions are
// ordered by strictness and combine by minimum. A policy answers a call with Deny, Prompt or
// Allow. The zero value is Deny, so that a forgotten field refuses.
type Action uint8

// The actions, strictest first.
const (
	Deny Action = iota
	Prompt
	Redact // the finds are removed from the content
	Fence  // the content is marked as a stranger's words
	Warn   // the content goes on with a warning
	Allow
)

var allActions = []string{"deny", "prompt", "redact", "fence", "warn", "allow"}

// AltersContent reports whether the action lets a reply through, but changed.
func (a Action) AltersContent() bool { return a > Prompt && a < Allow }

// String returns the word that policies and records use.
func (a Action) String() string {
	if int(a) < len(allActions) {
		return allActions[a]
	}
	return fmt.Sprintf("Action(%d)", uint8(a))
}

// ParseAction parses the action of a rule about calls. An unknown word is an error and never a
// silent deny, so that a typo is seen.
func ParseAction(s string) (Action, error) { return OnCall.ParseAction(s) }

// ParseAction parses one of the actions that rules about on may have.
func (on On) ParseAction(s string) (Action, error) {
	for _, a := range on.allowedActions() {
		if a.String() == s {
			return a, nil
		}
	}
	return Deny, fmt.Errorf("unknown action %q (one of %s)", s, listWords(on.actionWords()))
}
