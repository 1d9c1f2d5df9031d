package reply

import "slices"

// Alteration is what one rule alters of a message: How is the rule's action, and Kind of
// which findings, "" for the whole.
type Alteration struct{ How, Kind string }

// PlanChange puts what rules alter into a change, and says it in words for the owner. id makes
// the name of a fence, if there is one.
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
		forged := (f.Kind == Fence || f.Of == Fence) && c.Fence != "" && !f.Fixed // or it could end our own
		if redacted[f.Kind] || forged || f.Of != "" && redacted[f.Of] {
			if c.Redact = append(c.Redact, i); f.Of != "" {
				words = appendOnce(words, "withhold a text that was not looked at to its end")
			}
		}
	}
	return words
}

// PlanEntry says which of the findings of one entry of a list are taken out; out is
// whether the entry is left out instead: nobody could name it any more, or it cannot be altered.
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
