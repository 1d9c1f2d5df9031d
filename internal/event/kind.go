package event

import "slices"

var kinds = []Kind{
	Start, Decision, Outcome, Passed, Dropped, Listed, Policy, Asked, Answered, Muted, Chatter, End, Segment, Recovery, Upkeep,
}

// KindWords returns the words of all kinds.
func KindWords() []string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = string(k)
	}
	return words
}

// IsKind reports whether word names a kind.
func IsKind(word string) bool { return slices.Contains(kinds, Kind(word)) }
