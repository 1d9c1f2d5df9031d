package view

import "github.com/clawai/clawai/internal/event"

// Look is how a decision looks in all places: colour, word and sign. The terminal uses its own
// green, yellow and red. The page and the pictures have their colours in one table each, and tests
// compare the two.
type Look uint8

// Values of Look. A call that waits for a person must stand out more than an allowed call.
const (
	Plain Look = iota
	Allowed
	Asked
	Refused
)

// Mark returns the sign that stands beside the colour. It is for people who cannot tell colours
// apart.
func (l Look) Mark() string { return [...]string{"·", "✓", "?", "✕"}[l] }

// Word returns the word for the decision.
func (l Look) Word() string { return [...]string{"other", "allowed", "asked", "refused"}[l] }

// LookOf returns the look of a recorded decision about a call.
func LookOf(e *event.Entry) Look {
	switch {
	case e.Kind == event.Decision && e.Decision != "allow", e.Kind == event.Dropped && e.Direction == "client":
		return Refused
	case e.Kind == event.Dropped:
		return Plain
	case e.IsObserved() || e.WasAsked():
		return Asked
	}
	return Allowed
}
