package reply

import "slices"

// Alteration is a rule's alteration of a message. The field How is the action of the rule. Kind is
// the kind of findings to alter, or "" for the whole message.
type Alteration struct{ How, Kind string }

// PlanChange adds the alterations of rules to a change. It returns descriptions of the alterations
// for the owner. The function id returns a new id for a fence.
func (m *Message) PlanChange(c *Change, alters []Alteration, id func() string) (words []string) {
	redacted := map[string]bool{}
	for _, a := range alters {
		switch a.How {
		case "redact":
			redacted[a.Kind], c.Takes = true, true
			words = appendOnce(words, "redact "+a.Kind)
		case "fence":
			if c.Fence == "" {
				c.Fence = id()
			}
			words = appendOnce(words, "fence")
		case "warn":
			if a.Kind != "" {
				c.Warn = appendOnce(c.Warn, a.Kind)
			} else {
				c.Warn = appendOnce(c.Warn, "a rule's warning")
			}
			words = appendOnce(words, "warn")
		}
	}
	for i := range m.Findings {
		f := &m.Findings[i]
		forged := (f.Kind == Fence || f.Of == Fence) && c.Fence != "" && !f.Fixed // forged: this text could end our own fence
		if redacted[f.Kind] || forged || f.Of != "" && redacted[f.Of] {
			if c.Redact = append(c.Redact, i); f.Of != "" {
				words = appendOnce(words, "withhold a text that was not looked at to its end")
			}
		}
	}
	return words
}

// PlanEntry looks at the findings of one list entry. It returns those that the alterations redact.
// The result out is true if the whole entry must be removed, because a finding is in its name or
// cannot be altered.
func (m *Message) PlanEntry(findings []int, alters []Alteration) (redact []int, out bool) {
	for _, at := range findings {
		f := &m.Findings[at]
		if slices.ContainsFunc(alters, func(a Alteration) bool { return a.Kind == f.Kind || f.Of != "" && a.Kind == f.Of }) {
			redact = append(redact, at)
			out = out || m.IsInName(f) || f.Fixed
		}
	}
	return redact, out
}

func appendOnce(words []string, word string) []string {
	if slices.Contains(words, word) {
		return words
	}
	return append(words, word)
}
