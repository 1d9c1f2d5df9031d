package policy

import "fmt"

// Action is what a rule, or the whole policy, says of a call. The order is the
// order of strictness: Deny < Prompt < Allow, and verdicts combine by minimum.
// The zero value is Deny, so that a forgotten field refuses.
type Action uint8

// The three actions, strictest first.
const (
	Deny Action = iota
	Prompt
	Allow
)

// String gives the word that policies and records use.
func (a Action) String() string {
	switch a {
	case Allow:
		return "allow"
	case Prompt:
		return "prompt"
	case Deny:
		return "deny"
	}
	return fmt.Sprintf("Action(%d)", uint8(a))
}

// ParseAction reads one of the three words; any other is an error, never a
// silent deny, so that a typo shows.
func ParseAction(s string) (Action, error) {
	switch s {
	case "allow":
		return Allow, nil
	case "prompt":
		return Prompt, nil
	case "deny":
		return Deny, nil
	}
	return Deny, fmt.Errorf("unknown action %q (one of allow, deny, prompt)", s)
}
