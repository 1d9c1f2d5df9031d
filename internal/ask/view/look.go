package view

import "github.com/clawai/clawai/internal/event"

// Look is how a decision is shown in all places: its colour, its word and its mark. The terminal
// uses its own green, yellow and red; the page and the pictures have them in one table each, which
// tests compare.
type Look uint8

// The looks. What needs a person stands out more than what passed.
const (
	Plain Look = iota
	Allowed
	Asked
	Refused
)

// Mark returns the sign that stands beside the colour, for people who cannot tell colours apart.
func (l Look) Mark() string { return [...]string{"·", "✓", "?", "✕"}[l] }

// Word returns the word of the look.
func (l Look) Word() string { return [...]string{"other", "allowed", "asked", "refused"}[l] }

// LookOf returns how a recorded decision about a call is shown.
func LookOf(e *event.Entry) Look {
	switch {
	case e.Kind == event.Decision && e.Decision != "allow", e.Kind == event.Dropped && e.Direction == "client":
		return Refused
	case e.Kind == event.Dropped:
		return Plain
	case e.IsObserved() || e.Policy == "prompt":
		return Asked
	}
	return Allowed
}
