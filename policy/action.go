package policy

import "fmt"

// Action is the answer of a rule, or of the whole policy, to a call or a reply. Actions are
// ordered, the strictest first: if several actions apply, the smallest wins. A policy answers a
// call with Deny, Prompt or Allow. The zero value is Deny, so that a forgotten field refuses.
type Action uint8

// The actions, strictest first.
const (
	Deny Action = iota
	Prompt
	Redact // the text that the detectors found is removed from the content
	Fence  // the content is marked as untrusted text
	Warn   // the content is passed on with a warning
	Allow
)

var allActions = []string{"deny", "prompt", "redact", "fence", "warn", "allow"}

// AltersContent reports whether the action lets a reply through in a changed form: Redact,
// Fence or Warn.
func (a Action) AltersContent() bool { return a > Prompt && a < Allow }

// String returns the word that policies and records use.
func (a Action) String() string {
	if int(a) < len(allActions) {
		return allActions[a]
	}
	return fmt.Sprintf("Action(%d)", uint8(a))
}

// ParseAction parses the action of a rule about calls. An unknown word is an error and not a
// deny, so that the author sees the typo.
func ParseAction(s string) (Action, error) { return OnCall.ParseAction(s) }

// ParseAction parses an action that rules of this kind (about calls, replies or lists) may
// have.
func (on On) ParseAction(s string) (Action, error) {
	for _, a := range on.allowedActions() {
		if a.String() == s {
			return a, nil
		}
	}
	return Deny, fmt.Errorf("unknown action %q (one of %s)", s, listWords(on.actionWords()))
}
