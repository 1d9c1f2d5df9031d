package dialog

import "fmt"

// Reach is one possible scope of a session answer; its texts are harmless.
type Reach struct {
	Word  string // typed in full where there is no menu
	Label string // what it allows, in a few words
	Title string // what it allows, and everything that it leaves open
}

// ReachPage asks for the scope of a session answer. The first of all is the most common one; the
// choice that denies stands before it and is preset.
func ReachPage(all []Reach) Page {
	facts := []string{
		"What you allow now ends with the session; no rule is written. What a rule denies stays denied, " +
			"and what needs more care than this call is asked about all the same.", "",
	}
	p := Page{
		Decision: "clawai asks: allow how much, until the session ends?",
		Choices:  []Choice{{Word: Deny, Label: "Deny", Brief: "deny"}},
	}
	for _, r := range all {
		facts = append(facts, fmt.Sprintf("%-10s %s", r.Word, r.Title))
		p.Choices = append(p.Choices, Choice{Word: r.Word, Label: r.Label, Lets: true})
	}
	p.Facts = TextFacts(facts...)
	return p
}
