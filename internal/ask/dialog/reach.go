package dialog

import "fmt"

// Reach is one possible scope of a session answer. Its texts are harmless.
type Reach struct {
	Word  string // the word that the person types if there is no menu
	Label string // what it allows, in a few words
	Title string // what it allows, and which parts of a call may differ
}

// ReachPage returns the page that asks for the scope of a session answer. all[0] is the most usual
// scope. The page adds a choice that denies, puts it first and selects it.
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
