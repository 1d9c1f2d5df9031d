package flow

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/clawai/clawai/policy"
)

// The kinds of labels, as rules name them.
const (
	untrusted = "untrusted" // anybody may have written the data
	private   = "private"   // the data is not for everybody
	secret    = "secret"    // the data must not leave
)

// maxSources is the largest number of sources of one kind that are remembered by name.
const maxSources = 32

// others stands for all further sources of one kind of label, after maxSources sources of this kind
// have been remembered by name.
const others = "others"

// unknown is the source of the labels that are added if somebody else has changed a journal.
const unknown = "a journal of the session that is not as it was written"

// Seen is one label of a session: the kind and source of data, and when the session first saw the
// data.
type Seen struct {
	Kind   string    `json:"kind"`
	Source string    `json:"source"`
	At     time.Time `json:"at"`
}

// labels is a set of labels that only grows.
type labels map[string]map[string]time.Time // times by kind and source

// hasLabel reports whether the set already covers a label.
func (l labels) hasLabel(kind, source string) bool {
	of := l[kind]
	if _, known := of[source]; known {
		return true
	}
	_, folded := of[others]
	return folded && len(of) >= maxSources
}

// addLabel adds a label, and returns the source under which the label is stored. grown is false if
// the set already covered the label.
func (l labels) addLabel(s Seen) (source string, grown bool) {
	if l.hasLabel(s.Kind, s.Source) {
		return s.Source, false
	}
	of := l[s.Kind]
	if of == nil {
		of = map[string]time.Time{}
		l[s.Kind] = of
	}
	if len(of) >= maxSources {
		s.Source = others
	}
	if _, known := of[s.Source]; known {
		return s.Source, false
	}
	of[s.Source] = s.At
	return s.Source, true
}

// distrustEverything adds every label, because a journal's content cannot be trusted any more.
func (l labels) distrustEverything(at time.Time) {
	for _, kind := range policy.SeenWords() {
		l.addLabel(Seen{kind, unknown, at})
	}
}

// isDistrusted reports whether the content of a journal cannot be trusted any more.
func (l labels) isDistrusted() bool {
	for _, of := range l {
		if _, harmed := of[unknown]; harmed {
			return true
		}
	}
	return false
}

// listNewest lists the sources of kinds, the newest first.
func (l labels) listNewest(kinds ...string) []Seen {
	var all []Seen
	for _, kind := range kinds {
		for _, source := range slices.Sorted(maps.Keys(l[kind])) {
			all = append(all, Seen{kind, source, l[kind][source]})
		}
	}
	slices.SortStableFunc(all, func(a, b Seen) int { return cmp.Compare(b.At.UnixNano(), a.At.UnixNano()) })
	return all
}

// policyLabels returns the set in the form that rules use.
func (l labels) policyLabels() policy.Seen {
	s := policy.Known
	if len(l[untrusted]) > 0 {
		s |= policy.Untrusted
	}
	if len(l[private]) > 0 {
		s |= policy.PrivateData
	}
	if len(l[secret]) > 0 {
		s |= policy.Secret | policy.PrivateData
	}
	return s
}
