package policy

import "fmt"

// Action is what a rule, or the whole policy, says of a call or of a reply. The order is
// the order of strictness, and verdicts combine by minimum: of a policy they are Deny,
// Prompt and Allow. The zero value is Deny, so that a forgotten field refuses.
type Action uint8

// The actions, strictest first.
const (
	Deny Action = iota
	Prompt
	Redact // what was found is taken out
	Fence  // it is shown as a stranger's words
	Warn   // it goes on with a warning
	Allow
)

var allActions = []string{"deny", "prompt", "redact", "fence", "warn", "allow"}

// AltersContent says that the action lets a reply go on, and not as it was.
func (a Action) AltersContent() bool { return a > Prompt && a < Allow }

// String gives the word that policies and records use.
func (a Action) String() string {
	if int(a) < len(allActions) {
		return allActions[a]
	}
	return fmt.Sprintf("Action(%d)", uint8(a))
}

// ParseAction reads what becomes of a call, one of three words; any other is an error,
// never a silent deny, so that a typo shows.
func ParseAction(s string) (Action, error) { return OnCall.ParseAction(s) }

// ParseAction reads one of the words for what becomes of what the rules judge.
func (on On) ParseAction(s string) (Action, error) {
	for _, a := range on.allowedActions() {
		if a.String() == s {
			return a, nil
		}
	}
	return Deny, fmt.Errorf("unknown action %q (one of %s)", s, listWords(on.actionWords()))
}
